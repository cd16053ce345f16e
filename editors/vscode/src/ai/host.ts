import * as vscode from 'vscode';

/**
 * What hosts may have beyond the API that the extension is built against: newer
 * ones have more, forks of the editor have less. Nothing of it is used unseen.
 */
export interface McpHost {
  registerMcpServerDefinitionProvider(id: string, provider: {
    onDidChangeMcpServerDefinitions?: vscode.Event<void>;
    provideMcpServerDefinitions(): unknown[];
  }): vscode.Disposable;
}

type McpStdioServerDefinition = new (label: string, command: string, args?: string[], env?: Record<string, string>, version?: string) => unknown;

/** The host's register of MCP servers, where it has one (VS Code 1.101). */
export function mcpHost(): { host: McpHost; Definition: McpStdioServerDefinition } | undefined {
  const host = languageModels() as (Partial<McpHost> & object) | undefined;
  const Definition = (vscode as unknown as { McpStdioServerDefinition?: McpStdioServerDefinition }).McpStdioServerDefinition;
  return typeof host?.registerMcpServerDefinitionProvider === 'function' && Definition ? { host: host as McpHost, Definition } : undefined;
}

/** The host's language models, where it has any. */
export function languageModels(): typeof vscode.lm | undefined {
  return (vscode as { lm?: typeof vscode.lm }).lm;
}

/** The host's chat, where it has one. */
export function chat(): typeof vscode.chat | undefined {
  return (vscode as { chat?: typeof vscode.chat }).chat;
}
