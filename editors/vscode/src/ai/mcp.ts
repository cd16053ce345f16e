import * as vscode from 'vscode';

import type { Ctx } from '../ctx';
import { mcpHost } from './host';

/** Offers the server's MCP door to the editor's agents, where the host has a register and the user wants it. */
export function registerMcp(ctx: Ctx): vscode.Disposable {
  const mcp = mcpHost();
  if (!mcp) return new vscode.Disposable(() => undefined);
  const changed = new vscode.EventEmitter<void>();
  const provider = mcp.host.registerMcpServerDefinitionProvider('coderag.mcp', {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => {
      const folder = vscode.workspace.workspaceFolders?.[0];
      if (!ctx.config.mcpServer || !ctx.server || !folder || !vscode.workspace.isTrusted) return [];
      return [new mcp.Definition('coderag', ctx.server.path, ['mcp', '--root', folder.uri.fsPath], ctx.config.serverEnvironment, ctx.server.version)];
    },
  });
  let offered: string | undefined;
  return vscode.Disposable.from(changed, provider,
    ctx.onChanged(() => {
      if (ctx.server?.path !== offered) {
        offered = ctx.server?.path;
        changed.fire();
      }
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('coderag.chat.mcpServer')) changed.fire();
    }));
}
