import * as vscode from 'vscode';

import type { Ctx } from './ctx';
import { uriOf } from './places';
import type { Recent } from './recent';
import { bytes, stateText } from './text';

/** A line of a view, with what is below it. */
interface Item { label: string; description?: string; tooltip?: string; icon?: string; command?: vscode.Command; children?: Item[]; uri?: vscode.Uri | undefined; id: string; open?: boolean }

/** Registers the views of the side bar: the index and the recent questions. */
export function registerSideView(ctx: Ctx, recent: Recent): vscode.Disposable {
  const index = new Tree(() => indexItems(ctx));
  const questions = new Tree(() => recent.all.map(({ question, at }) => ({
    id: question, label: question, icon: 'comment', description: new Date(at).toLocaleString(),
    command: { command: 'coderag.ask', title: 'Ask', arguments: [question] },
  })));
  const view = vscode.window.createTreeView('coderag.index', { treeDataProvider: index });
  return vscode.Disposable.from(view, index, questions,
    vscode.window.registerTreeDataProvider('coderag.recent', questions),
    view.onDidChangeVisibility(({ visible }) => {
      if (visible) void ctx.refresh(); // statusChanged comes without the skipped files
    }),
    ctx.onChanged(() => index.refresh()),
    recent.onChanged(() => questions.refresh()));
}

class Tree implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly roots: () => Item[]) {}

  refresh(): void {
    this.changed.fire();
  }

  getChildren(item?: Item): Item[] {
    return item ? (item.children ?? []) : this.roots();
  }

  getTreeItem(item: Item): vscode.TreeItem {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const tree = new vscode.TreeItem(item.label, item.children?.length ? (item.open ? Expanded : Collapsed) : None);
    tree.id = item.id;
    if (item.description !== undefined) tree.description = item.description;
    if (item.tooltip !== undefined) tree.tooltip = item.tooltip;
    if (item.icon !== undefined) tree.iconPath = new vscode.ThemeIcon(item.icon);
    if (item.command) tree.command = item.command;
    return tree;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

function indexItems(ctx: Ctx): Item[] {
  if (ctx.state === 'failed' || ctx.state === 'stopped') return [];
  const s = ctx.status;
  const { text, busy, problem } = stateText(ctx.state, s);
  const items: Item[] = [{
    id: 'state', label: text === '' ? 'Ready' : text[0]!.toUpperCase() + text.slice(1), icon: problem ? 'error' : busy ? 'loading~spin' : s?.paused ? 'debug-pause' : 'pass',
    command: { command: 'coderag.showStatus', title: 'Show Status' },
  }];
  if (!s) return items;
  const skipped = Object.entries(s.coverage.skipped).sort(([a], [b]) => a.localeCompare(b));
  const total = skipped.reduce((sum, [, n]) => sum + n, 0);
  const percent = s.coverage.total === 0 ? 100 : Math.floor((s.coverage.indexed / s.coverage.total) * 100);
  items.push({
    id: 'coverage', label: 'Coverage', icon: 'checklist', open: true, description: `${percent} % · ${s.coverage.indexed} of ${s.coverage.total} files`,
    children: [
      { id: 'chunks', label: 'Chunks', description: String(s.chunks) },
      { id: 'symbols', label: 'Symbols', description: String(s.symbols) },
      { id: 'vectors', label: 'Vectors', description: `${Math.floor(s.coverage.vectorsReady * 100)} %` },
      ...(s.roots.length > 1 ? s.roots.map((root): Item => ({ id: `root ${root.dir}`, label: root.name, icon: 'root-folder', description: root.error ?? `${root.indexed} of ${root.total}`, tooltip: root.dir })) : []),
    ],
  });
  if (total > 0) {
    items.push({
      id: 'skipped', label: 'Skipped', icon: 'circle-slash', description: String(total),
      children: skipped.map(([reason, n]): Item => ({
        id: `skipped ${reason}`, label: reason, description: String(n),
        children: s.skippedFiles.filter((file) => file.reason === reason).map((file): Item => {
          const uri = uriOf(file.path);
          return {
            id: `skipped ${reason} ${file.path}`, label: file.path, icon: 'file', tooltip: file.detail ?? reason,
            ...(file.detail !== undefined && { description: file.detail }),
            ...(uri && !file.path.endsWith('/') && { command: { command: 'vscode.open', title: 'Open', arguments: [uri] } }),
          };
        }),
      })),
    });
  }
  items.push({
    id: 'models', label: 'Models', icon: 'chip',
    children: [
      { id: 'embedder', label: 'Embedding', description: s.model.embedder },
      { id: 'llm', label: 'Language model', description: s.model.llm ?? 'none: answers quote the code', command: { command: 'coderag.settings', title: 'Open Settings' } },
    ],
  }, {
    id: 'resources', label: 'Memory', icon: 'pulse', description: `${bytes(s.rssBytes)} · index ${bytes(s.storeBytes)}`,
  });
  for (const [i, notice] of s.notices.entries()) items.push({ id: `notice ${i}`, label: notice, icon: 'info', tooltip: notice });
  return items;
}
