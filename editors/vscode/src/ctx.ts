import * as vscode from 'vscode';
import { LanguageClient, ProgressType, State as ClientState, WorkDoneProgress } from 'vscode-languageclient/node';

import { completer } from './ai/complete';
import { BootstrapError, findServer, type Server } from './bootstrap';
import { createClient } from './client';
import { Config } from './config';
import * as ext from './lsp_ext';
import { Restarts } from './restarts';

/** How the server stands: its process, not its index. */
export type ServerState = 'stopped' | 'starting' | 'running' | 'failed';

/** What the parts of the extension share: the server, its state and the log. */
export class Ctx implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel('coderag', { log: true });
  readonly config: Config;
  /** The newest state of the index; undefined until the server told it. */
  status: ext.Status | undefined;
  state: ServerState = 'stopped';
  server: Server | undefined;
  /** Why there is no server, for the user. */
  failure = '';

  private client: LanguageClient | undefined;
  private starting: Promise<void> | undefined;
  private changed = new vscode.EventEmitter<void>();
  /** The server's state or the index's changed. */
  readonly onChanged = this.changed.event;
  private tokens = 0;

  constructor(readonly extension: vscode.ExtensionContext) {
    this.config = new Config(extension.extension.packageJSON);
  }

  /** Starts the server. A failure is told to the user, and kept for whoever asks. */
  start(): Promise<void> {
    return (this.starting ??= this.launch().catch((error: unknown) => {
      this.failure = error instanceof Error ? error.message : String(error);
      this.set('failed');
      this.log.error(this.failure, error instanceof BootstrapError ? error.detail : '');
      this.tellFailure(error);
    }));
  }

  private async launch(): Promise<void> {
    this.failure = '';
    this.set('starting');
    const server = await findServer({
      setting: this.config.serverPath,
      extension: this.extension.extensionPath,
      path: process.env['PATH'] ?? '',
      platform: process.platform,
      arch: process.arch,
    });
    this.server = server;
    this.log.info(`Server ${server.version} (${server.origin}): ${server.path}`);
    const trusted = vscode.workspace.isTrusted;
    const complete = trusted ? completer(this, () => this.client) : undefined;
    const client = createClient({
      server, trusted, config: this.config, log: this.log, completes: complete !== undefined, restarts: new Restarts(),
      gaveUp: (message) => {
        this.failure = message;
        this.set('failed');
        this.tellFailure(new Error(message));
      },
    });
    this.client = client;
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === ClientState.Running) this.set('running');
      else if (newState === ClientState.Starting) this.set('starting');
      else if (this.state !== 'failed') this.set('stopped');
    });
    client.onNotification(ext.method.statusChanged, (status: ext.Status) => {
      this.status = { ...status, skippedFiles: this.status?.skippedFiles ?? [] };
      this.changed.fire();
    });
    if (complete) client.onRequest(ext.method.complete, complete);
    client.onRequest(ext.method.secret, async ({ name, baseUrl }: ext.SecretParams) => ({
      value: (await this.extension.secrets.get(secretKey(name, baseUrl))) ?? '',
    }));
    await client.start();
    void this.refresh();
  }

  /** Stops the server; asking starts it again. */
  async stop(): Promise<void> {
    await this.starting;
    const client = this.client;
    this.client = this.starting = this.status = undefined;
    if (client && (client.state === ClientState.Running || client.state === ClientState.Starting)) {
      await client.stop().catch((error: unknown) => this.log.warn('Stopping the server', error));
    }
    await client?.dispose().catch(() => undefined); // it is stopped: nothing is left to fail
    this.set('stopped');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Sends a request, as soon as the server runs. */
  async request<R>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<R> {
    await this.start();
    const client = this.client;
    if (!client || this.state === 'failed') throw new Error(this.failure || 'The server is not running.');
    return client.sendRequest<R>(method, params, token);
  }

  /** Asks, with the answer's parts and steps as they are made. */
  async ask(params: ext.AskParams, on: { part?: (part: ext.Partial) => void; step?: (message: string) => void }, token?: vscode.CancellationToken): Promise<ext.AskResult> {
    await this.start();
    const number = ++this.tokens;
    const partialResultToken = `coderag/ask/${number}`;
    const workDoneToken = `coderag/work/${number}`;
    const listeners = [
      this.client?.onProgress(new ProgressType<ext.Partial>(), partialResultToken, (part) => on.part?.(part)),
      this.client?.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
        if (value.kind !== 'end' && value.message) on.step?.(value.message);
      }),
    ];
    try {
      return await this.request<ext.AskResult>(ext.method.ask, { ...params, partialResultToken, workDoneToken }, token);
    } finally {
      for (const listener of listeners) listener?.dispose();
    }
  }

  /** Runs a command of the server's. */
  execute<R>(command: string, argument: unknown, token?: vscode.CancellationToken): Promise<R> {
    return this.request<R>('workspace/executeCommand', { command, arguments: [argument] }, token);
  }

  /** Reads the whole state, with the skipped files. */
  async refresh(): Promise<void> {
    try {
      this.status = await this.request<ext.Status>(ext.method.status, null);
      this.changed.fire();
    } catch (error) {
      this.log.debug('status', error);
    }
  }

  /** A document as the server is told it. */
  document(uri: vscode.Uri, range?: vscode.Range): ext.DocumentRange {
    return { uri: uri.toString(), ...(range && { range: { start: { line: range.start.line, character: range.start.character }, end: { line: range.end.line, character: range.end.character } } }) };
  }

  private set(state: ServerState): void {
    this.state = state;
    void vscode.commands.executeCommand('setContext', 'coderag.running', state === 'running');
    void vscode.commands.executeCommand('setContext', 'coderag.stopped', state === 'failed' || state === 'stopped');
    this.changed.fire();
  }

  private tellFailure(error: unknown): void {
    const problem = error instanceof BootstrapError ? error.problem : undefined;
    const fromSetting = problem !== undefined && this.config.serverPath !== '';
    const first = problem === undefined ? 'Restart Server' : problem === 'notFound' || fromSetting ? 'Open Setting' : 'Try Again';
    void vscode.window.showErrorMessage(`coderag: ${this.failure}`, first, 'Open Log').then((choice) => {
      if (choice === 'Open Log') this.log.show();
      else if (choice === 'Open Setting') void vscode.commands.executeCommand('workbench.action.openSettings', 'coderag.server.path');
      else if (choice !== undefined) void this.restart();
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.log.dispose();
  }
}

/** Where a key lies in the editor's secret store: it belongs to one address. */
export function secretKey(name: string, baseUrl: string): string {
  return `${name} ${baseUrl}`;
}
