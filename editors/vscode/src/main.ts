import * as vscode from 'vscode';

import { registerMcp } from './ai/mcp';
import { registerParticipant } from './ai/participant';
import { registerTools } from './ai/tools';
import { registerCommands } from './commands';
import { Ctx, type ServerState } from './ctx';
import type { Status } from './lsp_ext';
import { AnswerPanel } from './panel/panel';
import { Recent } from './recent';
import { registerSideView } from './sideview';
import { registerStatusBar } from './statusbar';

/** When the bundle's first line ran, in performance.now()'s milliseconds; the bundler puts it there. */
declare const CODERAG_LOADED: number;

let ctx: Ctx | undefined;

/** What tests look at. */
export interface Api {
  /** What loading and activating took. */
  activationMilliseconds: number;
  status(): Status | undefined;
  refresh(): Promise<void>;
  state(): ServerState;
}

export function activate(context: vscode.ExtensionContext): Api {
  const c = (ctx = new Ctx(context));
  const recent = new Recent(context.workspaceState);
  const panel = new AnswerPanel(c, recent);
  context.subscriptions.push(
    c, recent, panel,
    registerCommands(c, panel, recent),
    registerStatusBar(c),
    registerSideView(c, recent),
    registerParticipant(c),
    registerTools(c),
    registerMcp(c),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void c.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (c.config.needsRestart(event)) void c.restart();
    }),
  );
  // Starting the server must not hold up the editor's start.
  if (vscode.workspace.workspaceFolders?.length) void c.start();
  else context.subscriptions.push(vscode.workspace.onDidChangeWorkspaceFolders(() => void c.start()));
  return { activationMilliseconds: performance.now() - CODERAG_LOADED, status: () => c.status, refresh: () => c.refresh(), state: () => c.state };
}

export function deactivate(): Promise<void> | undefined {
  return ctx?.stop();
}
