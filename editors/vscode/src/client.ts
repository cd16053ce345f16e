import * as vscode from 'vscode';
import {
  CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn,
  type CloseHandlerResult, type ErrorHandler, type ErrorHandlerResult, type LanguageClientOptions, type Middleware, type ServerOptions,
} from 'vscode-languageclient/node';

import type { Server } from './bootstrap';
import { section } from './settings';
import type { Config } from './config';
import * as ext from './lsp_ext';
import { Restarts } from './restarts';

export interface ClientOptions {
  server: Server;
  config: Config;
  log: vscode.LogOutputChannel;
  /** Nothing may be sent, and no other program run, in a folder that is not trusted. */
  trusted: boolean;
  /** The extension answers coderag/complete. */
  completes: boolean;
  restarts: Restarts;
  /** The server went down for good. */
  gaveUp: (message: string) => void;
}

/** The client of one server process; it is made anew for each start. */
export function createClient(o: ClientOptions): LanguageClient {
  const env = { ...process.env, ...o.config.serverEnvironment, ...(o.trusted ? {} : untrustedEnvironment) };
  const run = { command: o.server.path, args: ['serve', '--stdio'], options: { env } };
  const serverOptions: ServerOptions = { run, debug: run };
  const clientOptions: LanguageClientOptions = {
    documentSelector: [{ scheme: 'file' }],
    initializationOptions: o.config.initialization(),
    outputChannel: o.log,
    traceOutputChannel: o.log,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    progressOnInitialization: false,
    markdown: { isTrusted: { enabledCommands: ['coderag.explain'] } },
    middleware: middleware(o.config),
    errorHandler: new BoundedRestarts(o),
  };
  const client = new LanguageClient(section, 'coderag', serverOptions, clientOptions);
  client.registerFeature({
    fillClientCapabilities: (capabilities) => {
      const experimental = (capabilities.experimental ??= {}) as Record<string, unknown>;
      experimental['coderag'] = { complete: o.completes, secret: o.trusted };
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

function middleware(config: Config): Middleware {
  return {
    workspace: {
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
  constructor(private readonly o: ClientOptions) {}

  error(): ErrorHandlerResult {
    return { action: ErrorAction.Continue, handled: true }; // the connection's end is what counts
  }

  closed(): CloseHandlerResult {
    if (this.o.restarts.another(Date.now())) {
      this.o.log.warn('The server ended; it is started again.');
      return { action: CloseAction.Restart, handled: true };
    }
    const message = `The server ended ${this.o.restarts.limit + 1} times within ${this.o.restarts.window / 60_000} minutes and is not started again.`;
    this.o.log.error(message);
    this.o.gaveUp(message);
    return { action: CloseAction.DoNotRestart, handled: true };
  }
}
