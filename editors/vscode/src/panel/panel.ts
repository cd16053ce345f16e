import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import { offerEditorModel } from '../ai/complete';
import type { Ctx } from '../ctx';
import { latest } from '../latest';
import * as ext from '../lsp_ext';
import { Opener, uriOf } from '../places';
import type { Recent } from '../recent';
import { tokenColors } from '../theme';
import { Conversation, turnMarkdown } from './conversation';
import type { FromPage, ToPage, Turn } from './protocol';

const viewType = 'coderag.answers';
/** Milliseconds between two pictures of an answer that is being made. */
const streamInterval = 60;
/** Recent questions that the panel's question field offers. */
const offered = 20;

/** What a question is about. */
export interface About { uri: vscode.Uri; range: vscode.Range }

/** The panel beside the editor that shows answers as they are made. */
export class AnswerPanel implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private ready = false;
  private readonly conversation = new Conversation();
  private running: vscode.CancellationTokenSource | undefined;
  private readonly opener = new Opener(() => this.panel?.viewColumn);
  private readonly disposables: vscode.Disposable[] = [];
  // The theme and its name change one after the other: two files may be read at once.
  private readonly readColors = latest(() => tokenColors(this.ctx.log), (colors) => this.post({ type: 'colors', colors }));

  constructor(private readonly ctx: Ctx, private readonly recent: Recent) {
    this.disposables.push(
      this.opener,
      recent.onChanged(() => this.post({ type: 'recent', recent: this.questions() })),
      vscode.window.onDidChangeActiveColorTheme(() => void this.sendColors()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('workbench') || event.affectsConfiguration('window')) void this.sendColors(); // the theme's name comes after the theme
      }),
      vscode.window.registerWebviewPanelSerializer(viewType, { deserializeWebviewPanel: (panel) => Promise.resolve(this.adopt(panel)) }),
    );
  }

  /** The last turn, for commands on it. */
  get lastTurn(): Turn | undefined {
    return this.conversation.turns[this.conversation.turns.length - 1];
  }

  show(preserveFocus = false): void {
    if (this.panel) {
      this.panel.reveal(undefined, preserveFocus);
    } else {
      this.adopt(vscode.window.createWebviewPanel(viewType, 'coderag', { viewColumn: vscode.ViewColumn.Beside, preserveFocus }));
    }
    if (!preserveFocus) this.post({ type: 'focus' });
  }

  private adopt(panel: vscode.WebviewPanel): void {
    const media = vscode.Uri.joinPath(this.ctx.extension.extensionUri, 'media');
    const dist = vscode.Uri.joinPath(this.ctx.extension.extensionUri, 'dist');
    panel.webview.options = { enableScripts: true, localResourceRoots: [media, dist], enableCommandUris: false };
    panel.iconPath = vscode.Uri.joinPath(media, 'icon.png');
    this.panel = panel;
    this.ready = false;
    panel.onDidDispose(() => {
      if (this.panel === panel) this.panel = undefined;
      this.ready = false;
      this.stop();
    });
    panel.webview.onDidReceiveMessage((message: FromPage) => void this.receive(message).catch((error: unknown) => {
      void vscode.window.showErrorMessage(`coderag: ${error instanceof Error ? error.message : String(error)}`);
    }));
    panel.webview.html = page(panel.webview, dist, media);
  }

  /** Asks, and shows the answer as it is made. */
  async ask(question: string, about?: About): Promise<ext.AskResult | undefined> {
    const history = this.conversation.history();
    const { turn, token } = this.begin(question, about);
    void this.recent.add(question);
    let timer: NodeJS.Timeout | undefined;
    const later = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        this.post({ type: 'turn', turn });
      }, streamInterval);
    };
    try {
      const params: ext.AskParams = { query: question, filters: {}, history, ...(about && { document: this.ctx.document(about.uri, about.range) }) };
      const result = await this.ctx.ask(params, {
        part: (part) => {
          if (turn.state === 'running') this.conversation.take(turn, part);
          later();
        },
        step: (message) => {
          if (turn.state === 'running') turn.step = message;
          later();
        },
      }, token);
      if (turn.state !== 'running') return undefined; // it was stopped while the answer came
      this.conversation.finish(turn, result);
      void offerEditorModel(this.ctx, result);
      return result;
    } catch (error) {
      this.conversation.fail(turn, token.isCancellationRequested ? undefined : message(error));
      return undefined;
    } finally {
      clearTimeout(timer);
      this.end(turn);
    }
  }

  /** Explains the symbol at a place. */
  async explain(about: About): Promise<ext.ExplainResult | undefined> {
    const label = `${vscode.workspace.asRelativePath(about.uri)}:${about.range.start.line + 1}`;
    const { turn, token } = this.begin('Explain the symbol', { label });
    try {
      const result = await this.ctx.request<ext.ExplainResult>(ext.method.explain, { document: this.ctx.document(about.uri, about.range) } satisfies ext.RangeParams, token);
      turn.question = result.found ? `Explain ${result.symbol}` : turn.question;
      turn.text = result.found ? result.markdown : 'No symbol of the workspace stands there.';
      turn.citations = unique([...result.definitions, ...result.usages, ...result.tests]);
      turn.state = 'done';
      return result;
    } catch (error) {
      this.conversation.fail(turn, token.isCancellationRequested ? undefined : message(error));
      return undefined;
    } finally {
      this.end(turn);
    }
  }

  private begin(question: string, about?: About | { label: string }): { turn: Turn; token: vscode.CancellationToken } {
    this.stop();
    const running = (this.running = new vscode.CancellationTokenSource());
    const label = about && ('label' in about ? about.label : lineLabel(about));
    const turn = this.conversation.begin(question, label);
    this.show(true);
    this.post({ type: 'turn', turn });
    return { turn, token: running.token };
  }

  private end(turn: Turn): void {
    this.post({ type: 'turn', turn });
    if (turn === this.lastTurn) this.running = undefined;
  }

  stop(): void {
    this.running?.cancel();
    this.running = undefined;
  }

  newConversation(): void {
    this.stop();
    this.conversation.clear();
    this.sendAll();
    this.show();
  }

  async copy(turn: Turn | undefined = this.lastTurn): Promise<void> {
    if (!turn) throw new Error('There is no answer to copy yet.');
    await vscode.env.clipboard.writeText(turnMarkdown(turn));
    vscode.window.setStatusBarMessage('$(check) coderag: answer copied as Markdown', 3000);
  }

  private async receive(message: FromPage): Promise<void> {
    switch (message.type) {
      case 'ready':
        this.ready = true;
        this.sendAll();
        await this.sendColors();
        return;
      case 'ask':
        await this.ask(message.question);
        return;
      case 'stop':
        this.stop();
        return;
      case 'new':
        this.newConversation();
        return;
      case 'openCitation':
        await this.opener.open(this.citation(message.turn, message.id));
        return;
      case 'insertCitation':
        await insertCitation(this.ctx, this.citation(message.turn, message.id).id);
        return;
      case 'copyCitation': {
        const c = this.citation(message.turn, message.id);
        await vscode.env.clipboard.writeText(`[${c.id}]\n\n\`\`\`${c.language ?? ''}\n${c.text}\n\`\`\`\n`);
        return;
      }
      case 'openPath': {
        const uri = uriOf(message.path);
        if (!uri) throw new Error(`${message.path} is in no folder of this workspace.`);
        await this.opener.open({ uri: uri.toString(), startLine: message.line, endLine: message.line });
        return;
      }
      case 'copyTurn':
        await this.copy(this.conversation.turns.find((turn) => turn.id === message.turn));
        return;
      case 'copyText':
        await vscode.env.clipboard.writeText(message.text);
        return;
    }
  }

  private citation(turn: number, id: string): ext.Citation {
    const found = this.conversation.turns.find((other) => other.id === turn)?.citations.find((citation) => citation.id === id);
    if (!found) throw new Error(`The answer no longer cites ${id}.`);
    return found;
  }

  private questions(): string[] {
    return this.recent.all.slice(0, offered).map(({ question }) => question);
  }

  private post(message: ToPage): void {
    if (this.ready) void this.panel?.webview.postMessage(message);
  }

  private sendAll(): void {
    this.post({ type: 'conversation', turns: this.conversation.turns, recent: this.questions() });
  }

  private async sendColors(): Promise<void> {
    if (this.ready) await this.readColors();
  }

  dispose(): void {
    this.stop();
    this.panel?.dispose();
    for (const disposable of this.disposables) disposable.dispose();
  }
}

/** Inserts cited lines below the cursor of the editor that was used last. */
export async function insertCitation(ctx: Ctx, citation: string | undefined, query?: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find((other) => other.viewColumn !== undefined);
  if (!editor) throw new Error('Open the file that the lines are to be inserted into.');
  const params: ext.InsertParams = { document: ctx.document(editor.document.uri, editor.selection), ...(citation !== undefined && { citation }), ...(query !== undefined && { query }) };
  const result = await ctx.execute<ext.InsertResult>(ext.serverCommand.insert, params);
  if (!result.applied) throw new Error(`The snippet was not inserted: ${result.failureReason ?? 'the editor refused the edit'}.`);
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
}

function unique(citations: ext.Citation[]): ext.Citation[] {
  return [...new Map(citations.map((citation) => [citation.id, citation])).values()];
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function lineLabel({ uri, range }: About): string {
  const path = vscode.workspace.asRelativePath(uri);
  return range.isEmpty ? path : `${path}:${range.start.line + 1}-${range.end.character === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1}`;
}

function page(webview: vscode.Webview, dist: vscode.Uri, media: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64');
  const script = webview.asWebviewUri(vscode.Uri.joinPath(dist, 'webview.js')).toString();
  const style = webview.asWebviewUri(vscode.Uri.joinPath(media, 'panel.css')).toString();
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>coderag answers</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
}
