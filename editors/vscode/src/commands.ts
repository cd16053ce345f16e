import * as vscode from 'vscode';

import { secretKey, type Ctx } from './ctx';
import * as ext from './lsp_ext';
import { insertCitation, type AnswerPanel } from './panel/panel';
import { pickHit, searchPick } from './picks';
import type { Recent } from './recent';
import { statusMarkdown } from './text';

/** Where explain is to look: what a link in a hover or a code lens carries. */
interface At { uri: string; line: number; character: number }

const statusUri = vscode.Uri.parse('coderag-status:/Status.md');

/** Registers the commands of the palette, the menus and the keys. */
export function registerCommands(ctx: Ctx, panel: AnswerPanel, recent: Recent): vscode.Disposable {
  const statusChanged = new vscode.EventEmitter<vscode.Uri>();
  const commands: Record<string, (...args: never[]) => unknown> = {
    ask: async (question?: string) => {
      const asked = typeof question === 'string' ? question : await askFor('Ask about this workspace', 'e.g. where are file events debounced?');
      return asked === undefined ? undefined : panel.ask(asked);
    },
    askSelection: async (question?: string) => {
      const editor = fileEditor();
      const asked = typeof question === 'string' ? question : await askFor('Ask about the selection', 'e.g. what calls this?');
      return asked === undefined ? undefined : panel.ask(asked, { uri: editor.document.uri, range: editor.selection });
    },
    explain: (at?: At) => {
      if (at && typeof at.uri === 'string') {
        const position = new vscode.Position(at.line, at.character);
        return panel.explain({ uri: vscode.Uri.parse(at.uri, true), range: new vscode.Range(position, position) });
      }
      const editor = fileEditor();
      return panel.explain({ uri: editor.document.uri, range: new vscode.Range(editor.selection.active, editor.selection.active) });
    },
    search: (query?: string) => searchPick(ctx, typeof query === 'string' ? query : selectedWord()),
    similar: async () => {
      const editor = fileEditor();
      const params: ext.RangeParams = { document: ctx.document(editor.document.uri, editor.selection) };
      const result = await working('Finding similar code', (token) => ctx.request<ext.SearchResult>(ext.method.similar, params, token));
      if (result) await pickHit(result.hits, 'Code like the selection');
      return result;
    },
    insertSnippet: async (citation?: string) => {
      fileEditor();
      if (typeof citation === 'string') return insertCitation(ctx, citation);
      const chosen = await chooseSnippet(ctx, panel);
      return chosen === undefined ? undefined : insertCitation(ctx, chosen);
    },
    showContext: async (question?: string) => {
      const asked = typeof question === 'string' ? question : await askFor('Show the context of a question', 'what a language model would be given');
      if (asked === undefined) return undefined;
      const params: ext.AskParams = { query: asked, filters: {} };
      const result = await working('Packing the context', (token) => ctx.request<ext.ContextResult>(ext.method.context, params, token));
      if (!result) return undefined;
      const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: result.content });
      await vscode.window.showTextDocument(document, { preview: true });
      vscode.window.setStatusBarMessage(`coderag: ${result.tokenCount} tokens${result.truncated ? ', cut at the budget' : ''}`, 10_000);
      return result;
    },
    reindex: async () => {
      await ctx.request(ext.method.reindex, {});
      await working('Indexing', (token, progress) => {
        const listener = ctx.onChanged(() => {
          const c = ctx.status?.coverage;
          if (c) progress.report({ message: `${c.indexed} of ${c.total} files` });
        });
        return ctx.request<unknown>(ext.method.sync, {}, token).finally(() => void listener.dispose());
      });
    },
    pause: async () => { await ctx.request(ext.method.pause, {}); await ctx.refresh(); },
    resume: async () => { await ctx.request(ext.method.resume, {}); await ctx.refresh(); },
    showStatus: async () => {
      await ctx.refresh();
      statusChanged.fire(statusUri);
      await vscode.commands.executeCommand('markdown.showPreview', statusUri).then(undefined, () => vscode.window.showTextDocument(statusUri));
    },
    restart: () => ctx.restart(),
    openLog: () => ctx.log.show(),
    openPanel: () => panel.show(),
    newConversation: () => panel.newConversation(),
    copyAnswer: () => panel.copy(),
    clearHistory: () => recent.clear(),
    settings: () => vscode.commands.executeCommand('workbench.action.openSettings', `@ext:${ctx.extension.extension.id}`),
    setKey: () => setKey(ctx),
  };
  const provider: vscode.TextDocumentContentProvider = {
    onDidChange: statusChanged.event,
    provideTextDocumentContent: () => (ctx.status ? statusMarkdown(ctx.status) : `# coderag\n\n${ctx.failure || 'The server is not running.'}\n`),
  };
  return vscode.Disposable.from(statusChanged,
    vscode.workspace.registerTextDocumentContentProvider(statusUri.scheme, provider),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`coderag.${name}`, async (...args: never[]) => {
      try {
        return await run(...args);
      } catch (error) {
        if (error instanceof vscode.CancellationError) return undefined;
        const message = error instanceof Error ? error.message : String(error);
        ctx.log.error(`${name}: ${message}`);
        void vscode.window.showErrorMessage(`coderag: ${message}`);
        return undefined;
      }
    })));
}

async function askFor(title: string, placeHolder: string): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({ title, placeHolder, ignoreFocusOut: true });
  return answer?.trim() === '' ? undefined : answer?.trim();
}

/** The editor with a file that was used last. */
function fileEditor(): vscode.TextEditor {
  const active = vscode.window.activeTextEditor;
  if (active?.document.uri.scheme === 'file') return active;
  throw new Error('Open a file of the workspace first.');
}

function selectedWord(): string {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? '';
  return text.includes('\n') ? '' : text;
}

/** Runs a task under a notification that cancels it; undefined where it was cancelled. */
async function working<R>(title: string, task: (token: vscode.CancellationToken, progress: vscode.Progress<{ message?: string }>) => Promise<R>): Promise<R | undefined> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `coderag: ${title}`, cancellable: true }, async (progress, token) => {
    try {
      return await task(token, progress);
    } catch (error) {
      if (token.isCancellationRequested) return undefined;
      throw error;
    }
  });
}

/** Lets the user choose lines that answers cited, or search for others. */
async function chooseSnippet(ctx: Ctx, panel: AnswerPanel): Promise<string | undefined> {
  const citations = panel.lastTurn?.citations ?? [];
  if (citations.length > 0) {
    const other = '$(search) Search for other lines…';
    const picked = await vscode.window.showQuickPick(
      [...citations.map((c) => ({ label: c.symbol || c.path, description: c.id, detail: firstLine(c.text) })), { label: other, description: '', detail: '' }],
      { title: 'Insert Cited Snippet', matchOnDescription: true, matchOnDetail: true });
    if (picked?.label !== other) return picked?.description;
  }
  const query = await askFor('Insert Cited Snippet', 'what the lines are about');
  if (query === undefined) return undefined;
  const params: ext.SearchParams = { query, filters: {} };
  const result = await working('Searching', (token) => ctx.request<ext.SearchResult>(ext.method.search, params, token));
  if (!result) return undefined;
  const picked = await vscode.window.showQuickPick(result.hits.map((hit) => ({ label: hit.symbol || hit.path, description: `${hit.path}:${hit.startLine}-${hit.endLine}`, detail: firstLine(hit.text) })),
    { title: 'Insert Cited Snippet', placeHolder: result.hits.length === 0 ? 'Nothing relevant was found' : 'Lines to insert below the cursor', matchOnDescription: true });
  return picked?.description;
}

function firstLine(text: string): string {
  return text.split('\n').find((line) => line.trim() !== '')?.trim() ?? '';
}

/** Keeps a key in the editor's secret store; the server asks for it when it needs it. */
async function setKey(ctx: Ctx): Promise<void> {
  const baseUrl = vscode.workspace.getConfiguration('coderag').inspect<string>('llm.baseUrl')?.globalValue ?? '';
  if (baseUrl === '') throw new Error('Set coderag.llm.baseUrl first: a key is only sent to the address that it was set for.');
  const value = await vscode.window.showInputBox({ title: `Key for ${baseUrl}`, password: true, ignoreFocusOut: true, placeHolder: 'empty to forget it' });
  if (value === undefined) return;
  if (value === '') await ctx.extension.secrets.delete(secretKey('llm.apiKey', baseUrl));
  else await ctx.extension.secrets.store(secretKey('llm.apiKey', baseUrl), value);
  await ctx.restart();
}
