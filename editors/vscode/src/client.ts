import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, ProgressType, RevealOutputChannelOn, State, WorkDoneProgress,
  type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult, type LanguageClientOptions, type Middleware, type ServerOptions,
} from 'vscode-languageclient/node';

import type { Completer } from './ai/complete';
import type { Server } from './bootstrap';
import type { Config } from './config';
import * as ext from './lsp_ext';
import { level } from './loglevel';
import { Restarts } from './restarts';
import { section } from './settings';

export interface ConnectionOptions {
  server: Server;
  config: Config;
  log: vscode.LogOutputChannel;
  /** Nothing may be sent, and no other program run, in a folder that is not trusted. */
  trusted: boolean;
  /** Answers coderag/complete; the server is told whether there is one. */
  complete: Completer | undefined;
  /** Reads a key from the editor's secret store, "" where there is none. */
  secret: (params: ext.SecretParams) => Promise<string>;
  stateChanged: (state: 'starting' | 'running' | 'stopped') => void;
  statusChanged: (status: ext.Status) => void;
  /** The server went down for good. */
  gaveUp: (message: string) => void;
}

/** Whoever is told how an answer comes along. */
export interface AskListener { part?: (part: ext.Partial) => void; step?: (message: string) => void }

/**
 * One start of the server, and what is said with it. This file is a bundle of its
 * own, loaded after the extension was activated: the language client is large.
 */
export class Connection {
  private readonly client: LanguageClient;
  private tokens = 0;
  private closing = false;

  constructor(o: ConnectionOptions) {
    const client = (this.client = createClient(o, () => this.closing));
    client.onDidChangeState(({ newState }) => o.stateChanged(newState === State.Running ? 'running' : newState === State.Stopped || newState === State.StartFailed ? 'stopped' : 'starting'));
    client.onNotification(ext.method.statusChanged, o.statusChanged);
    client.onRequest(ext.method.secret, async (params: ext.SecretParams) => ({ value: await o.secret(params) }));
    const complete = o.complete;
    if (complete) {
      client.onRequest(ext.method.complete, (params: ext.CompleteParams, token: vscode.CancellationToken) =>
        complete(params, token, (text) => client.sendProgress(new ProgressType<{ kind: 'text'; text: string }>(), params.partialResultToken, { kind: 'text', text })));
    }
  }

  start(): Promise<void> {
    return this.client.start();
  }

  async stop(): Promise<void> {
    this.closing = true;
    if (this.client.state === State.Running || this.client.state === State.Starting) await this.client.stop();
    await this.client.dispose().catch(() => undefined); // it is stopped: nothing is left to fail
  }

  /** The client takes all that follows the method, an absent token too, for positional parameters. */
  request<R>(method: string, params: object, token?: vscode.CancellationToken): Promise<R> {
    return token ? this.client.sendRequest<R>(method, params, token) : this.client.sendRequest<R>(method, params);
  }

  async ask(params: ext.AskParams, on: AskListener, token?: vscode.CancellationToken): Promise<ext.AskResult> {
    const number = ++this.tokens;
    const partialResultToken = `coderag/ask/${number}`;
    const workDoneToken = `coderag/work/${number}`;
    const listeners = [
      this.client.onProgress(new ProgressType<ext.Partial>(), partialResultToken, (part) => on.part?.(part)),
      this.client.onProgress(WorkDoneProgress.type, workDoneToken, (value) => {
        if (value.kind !== 'end' && value.message) on.step?.(value.message);
      }),
    ];
    try {
      return await this.request<ext.AskResult>(ext.method.ask, { ...params, partialResultToken, workDoneToken }, token);
    } finally {
      for (const listener of listeners) listener.dispose();
    }
  }
}

function createClient(o: ConnectionOptions, closing: () => boolean): LanguageClient {
  const env = { ...process.env, ...o.config.serverEnvironment, ...(o.trusted ? {} : untrustedEnvironment) };
  const run = { command: o.server.path, args: ['serve', '--stdio'], options: { env } };
  const serverOptions: ServerOptions = { run, debug: run };
  const logged = (input: NodeJS.ReadableStream): void => {
    createInterface({ input, crlfDelay: Infinity }).on('line', (line) => o.log[level(line)](line));
  };
  const clientOptions: LanguageClientOptions & { stdioOptions: object } = {
    documentSelector: [{ scheme: 'file' }],
    initializationOptions: o.config.initialization(),
    outputChannel: o.log,
    traceOutputChannel: o.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    markdown: { isTrusted: { enabledCommands: ['coderag.explain'] } },
    middleware: middleware(o.config, closing),
    errorHandler: new BoundedRestarts(o),
    stdioOptions: { stdout: logged, stderr: logged },
  };
  const client = new LanguageClient(section, 'coderag', serverOptions, clientOptions);
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      const experimental = (capabilities.experimental ??= {}) as Record<string, unknown>;
      experimental['coderag'] = { complete: o.complete !== undefined, secret: o.trusted };
    },
    initialize: () => undefined,
    getState: () => ({ kind: 'static' }),
    clear: () => undefined,
  });
  return client;
}

/** The environment wins over all settings: a folder's own settings cannot undo it. */
const untrustedEnvironment = {
  CODERAG_INDEX_GIT_RECENCY: 'false', // git runs what a repository's configuration names
  CODERAG_LLM_PROVIDER: 'none',
};

function middleware(config: Config, closing: () => boolean): Middleware {
  return {
    workspace: {
      didChangeConfiguration: (sections, next) => (closing() ? Promise.resolve() : next(sections)),
      configuration: (params, token, next) =>
        params.items.every((item) => item.section === section) ? params.items.map(() => config.live()) : next(params, token),
    },
    provideHover: async (document, position, token, next) => {
      const hover = await next(document, position, token);
      if (hover) hover.contents.push(explainLink(document.uri, position));
      return hover;
    },
    provideCodeLenses: async (document, token, next) => {
      const lenses = await next(document, token);
      for (const { command } of lenses ?? []) {
        if (command?.command !== ext.serverCommand.explain) continue;
        const at = (command.arguments?.[0] as ext.RangeParams).document.range?.start;
        command.command = 'coderag.explain';
        command.arguments = [{ uri: document.uri.toString(), line: at?.line ?? 0, character: at?.character ?? 0 }];
      }
      return lenses;
    },
  };
}

function explainLink(uri: vscode.Uri, position: vscode.Position): vscode.MarkdownString {
  const argument = encodeURIComponent(JSON.stringify([{ uri: uri.toString(), line: position.line, character: position.character }]));
  const link = new vscode.MarkdownString(`[Explain with citations](command:coderag.explain?${argument} "coderag: Explain Symbol")`);
  link.isTrusted = { enabledCommands: ['coderag.explain'] };
  return link;
}

/** Starts a server that ended again, unless it keeps ending. */
class BoundedRestarts implements ErrorHandler {
  private readonly restarts = new Restarts();

  constructor(private readonly o: ConnectionOptions) {}

  error(): ErrorHandlerResult {
    return { action: ErrorAction.Continue, handled: true }; // the connection's end is what counts
  }

  closed(): CloseHandlerResult {
    if (this.restarts.another(Date.now())) {
      this.o.log.warn('The server ended; it is started again.');
      return { action: CloseAction.Restart, handled: true };
    }
    const message = `The server ended ${this.restarts.limit + 1} times within ${this.restarts.window / 60_000} minutes and is not started again.`;
    this.o.log.error(message);
    this.o.gaveUp(message);
    return { action: CloseAction.DoNotRestart, handled: true };
  }
}
