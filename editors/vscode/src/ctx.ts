import * as vscode from 'vscode';

import { completer } from './ai/complete';
import { BootstrapError, findServer, type Server } from './bootstrap';
import type { AskListener, Connection } from './client';
import { Config } from './config';
import * as ext from './lsp_ext';

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

  private connection: Connection | undefined;
  private starting: Promise<void> | undefined;
  private restarting: Promise<void> = Promise.resolve();
  private changed = new vscode.EventEmitter<void>();
  /** The server's state or the index's changed. */
  readonly onChanged = this.changed.event;

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
    const { Connection } = await import('./client');
    const trusted = vscode.workspace.isTrusted;
    const connection: Connection = new Connection({
      server, trusted, config: this.config, log: this.log,
      complete: trusted ? completer(this) : undefined,
      secret: async ({ name, baseUrl }) => (await this.extension.secrets.get(secretKey(name, baseUrl))) ?? '',
      stateChanged: (state) => {
        if (connection === this.connection && (state !== 'stopped' || this.state !== 'failed')) this.set(state);
      },
      statusChanged: (status) => {
        if (connection !== this.connection) return;
        this.status = { ...status, skippedFiles: this.status?.skippedFiles ?? [] };
        this.changed.fire();
      },
      gaveUp: (message) => {
        this.failure = message;
        this.set('failed');
        this.tellFailure(new Error(message));
      },
    });
    this.connection = connection;
    await connection.start();
    void this.refresh();
  }

  /** Stops the server; asking starts it again. */
  async stop(): Promise<void> {
    await this.starting;
    const connection = this.connection;
    this.connection = this.starting = this.status = undefined;
    await connection?.stop().catch((error: unknown) => this.log.warn('Stopping the server', error));
    this.set('stopped');
  }

  /** One restart comes after the other: the first one's stop would else end what the second one started. */
  restart(): Promise<void> {
    this.restarting = this.restarting.then(() => this.stop()).then(() => this.start());
    return this.restarting;
  }

  /** Sends a request, as soon as the server runs. */
  async request<R>(method: string, params: object, token?: vscode.CancellationToken): Promise<R> {
    return (await this.connected()).request<R>(method, params, token);
  }

  /** Asks, with the answer's parts and steps as they are made. */
  async ask(params: ext.AskParams, on: AskListener, token?: vscode.CancellationToken): Promise<ext.AskResult> {
    return (await this.connected()).ask(params, on, token);
  }

  private async connected(): Promise<Connection> {
    await this.start();
    if (!this.connection || this.state === 'failed') throw new Error(this.failure || 'The server is not running.');
    return this.connection;
  }

  /** Runs a command of the server's. */
  execute<R>(command: string, argument: unknown, token?: vscode.CancellationToken): Promise<R> {
    return this.request<R>('workspace/executeCommand', { command, arguments: [argument] }, token);
  }

  /** Reads the whole state, with the skipped files. */
  async refresh(): Promise<void> {
    try {
      this.status = await this.request<ext.Status>(ext.method.status, {});
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
      else if (choice === 'Open Setting') void openSetting('coderag.server.path');
      else if (choice !== undefined) void this.restart();
    });
  }

  dispose(): void {
    this.changed.dispose();
    this.log.dispose();
  }
}

/** Shows a machine's setting: in a remote window it is not among the user's. */
function openSetting(query: string): Thenable<unknown> {
  return vscode.env.remoteName === undefined
    ? vscode.commands.executeCommand('workbench.action.openSettings', query)
    : vscode.commands.executeCommand('workbench.action.openRemoteSettings', { query });
}

/** Where a key lies in the editor's secret store: it belongs to one address. */
export function secretKey(name: string, baseUrl: string): string {
  return `${name} ${baseUrl}`;
}
