import * as vscode from 'vscode';

import { registerMcp } from './ai/mcp';
import { registerParticipant } from './ai/participant';
import { registerTools } from './ai/tools';
import { registerCommands } from './commands';
import { Ctx, type ServerState } from './ctx';
import type { Status } from './lsp_ext';
import { AnswerPanel } from './panel/panel';
import type { Turn } from './panel/protocol';
import { Recent } from './recent';
import { registerSideView } from './sideview';
import { registerStatusBar } from './statusbar';

/** Milliseconds of work: by the clock, and of the thread's processor where the host can tell (Node.js 23.9). */
interface Took { wall: number; cpu: number }

/** When the bundle's first line ran; the bundler puts it there. */
declare const CODERAG_STARTED: Took;

let ctx: Ctx | undefined;

/** What tests look at. */
export interface Api {
  /** What loading and activating took. */
  activation: Took;
  status(): Status | undefined;
  refresh(): Promise<void>;
  state(): ServerState;
  /** The last question in the panel, and what there is of its answer. */
  lastTurn(): Turn | undefined;
}

export function activate(context: vscode.ExtensionContext): Api {
  const before = now();
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
  return { activation: sum(loading, since(before)), status: () => c.status, refresh: () => c.refresh(), state: () => c.state, lastTurn: () => panel.lastTurn };
}

export function deactivate(): Promise<void> | undefined {
  return ctx?.stop();
}

function now(): Took {
  const used = (process as { threadCpuUsage?(): { user: number; system: number } }).threadCpuUsage?.();
  return { wall: performance.now(), cpu: used ? (used.user + used.system) / 1000 : NaN };
}

function since(start: Took): Took {
  const end = now();
  return { wall: end.wall - start.wall, cpu: end.cpu - start.cpu };
}

function sum(a: Took, b: Took): Took {
  return { wall: a.wall + b.wall, cpu: a.cpu + b.cpu };
}

/** What loading this bundle took; between it and activate the host does other things. */
const loading = since(CODERAG_STARTED);
