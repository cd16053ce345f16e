import * as vscode from 'vscode';

import type { Ctx } from './ctx';
import * as ext from './lsp_ext';
import { location } from './places';

interface HitItem extends vscode.QuickPickItem { hit: ext.Hit }

/** Milliseconds that typing must rest before a search is sent. */
const restTime = 120;

/** Searches while the user types; the lines of the hit in question are shown. */
export async function searchPick(ctx: Ctx, initial: string): Promise<void> {
  const pick = vscode.window.createQuickPick<HitItem>();
  pick.title = 'Search';
  pick.placeholder = 'a question, a description or a name';
  pick.value = initial;
  let running: vscode.CancellationTokenSource | undefined;
  let timer: NodeJS.Timeout | undefined;
  const search = async (query: string): Promise<void> => {
    running?.cancel();
    if (query.trim() === '') {
      pick.items = [];
      return;
    }
    const source = (running = new vscode.CancellationTokenSource());
    pick.busy = true;
    try {
      const result = await ctx.request<ext.SearchResult>(ext.method.search, { query, filters: {} } satisfies ext.SearchParams, source.token);
      if (source.token.isCancellationRequested) return;
      pick.items = items(result.hits);
      pick.title = result.hits.length === 0 ? 'Search: nothing relevant was found' : 'Search';
    } catch (error) {
      if (!source.token.isCancellationRequested) pick.title = `Search: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      if (running === source) pick.busy = false;
    }
  };
  pick.onDidChangeValue((value) => {
    clearTimeout(timer);
    timer = setTimeout(() => void search(value), restTime);
  });
  await choose(pick);
  clearTimeout(timer);
  running?.cancel();

  function choose(quickPick: vscode.QuickPick<HitItem>): Promise<void> {
    if (initial !== '') void search(initial);
    return showHits(quickPick);
  }
}

/** Lets the user choose one of some hits. */
export async function pickHit(hits: ext.Hit[], title: string): Promise<void> {
  const pick = vscode.window.createQuickPick<HitItem>();
  pick.title = title;
  pick.placeholder = hits.length === 0 ? 'Nothing relevant was found' : 'Go to…';
  pick.matchOnDescription = pick.matchOnDetail = true;
  pick.items = items(hits);
  await showHits(pick);
}

/** Shows the hits, previews the one in question and opens the chosen one. */
function showHits(pick: vscode.QuickPick<HitItem>): Promise<void> {
  return new Promise((resolve) => {
    const open = async ({ hit }: HitItem, preview: boolean): Promise<void> => {
      const { uri, range } = location(hit);
      await vscode.window.showTextDocument(uri, { selection: new vscode.Range(range.start, preview ? range.end : range.start), preserveFocus: preview, preview: true });
    };
    let moved = false;
    pick.onDidChangeActive(([item]) => {
      // The first one is in question without the user's doing.
      if (item && moved) void open(item, true);
      moved = true;
    });
    pick.onDidChangeValue(() => (moved = false));
    pick.onDidAccept(() => {
      const item = pick.activeItems[0];
      if (item) void open(item, false);
      pick.hide();
    });
    pick.onDidHide(() => {
      pick.dispose();
      resolve();
    });
    pick.show();
  });
}

function items(hits: ext.Hit[]): HitItem[] {
  return hits.map((hit) => ({
    hit,
    label: `$(${icon(hit.kind)}) ${hit.symbol || hit.path.slice(hit.path.lastIndexOf('/') + 1)}`,
    description: `${hit.path}:${hit.startLine}-${hit.endLine}`,
    detail: hit.text.split('\n').find((line) => line.trim() !== '')?.trim() ?? '',
    alwaysShow: true, // the server ranked them; the editor must not filter again
  }));
}

function icon(kind: string): string {
  switch (kind) {
    case 'function': case 'method': return 'symbol-method';
    case 'class': case 'type': case 'struct': return 'symbol-class';
    case 'interface': return 'symbol-interface';
    case 'section': return 'book';
    default: return 'symbol-file';
  }
}
