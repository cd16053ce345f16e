import * as vscode from 'vscode';

import type { Ctx } from '../ctx';
import * as ext from '../lsp_ext';
import { languageModels } from './host';

interface SearchInput { query: string; tokenBudget?: number; folders?: string[]; languages?: string[] }
interface ExplainInput { symbol: string }

/** Tokens of a search's result where the model does not say. */
const defaultBudget = 4000;

/** Registers the tools that the editor's agents may call, where the host has any. */
export function registerTools(ctx: Ctx): vscode.Disposable {
  const models = languageModels();
  if (typeof models?.registerTool !== 'function') return new vscode.Disposable(() => undefined);
  return vscode.Disposable.from(
    models.registerTool<SearchInput>('coderag_search', {
      prepareInvocation: ({ input }) => ({ invocationMessage: `Searching for “${input.query}”` }),
      invoke: async ({ input }, token) => {
        trusted();
        const filters: ext.Filters = { folders: input.folders, languages: input.languages };
        const params: ext.AskParams = { query: input.query, filters, tokenBudget: input.tokenBudget ?? defaultBudget };
        const result = await ctx.request<ext.ContextResult>(ext.method.context, params, token);
        return text(result.primary.length === 0 ? `Nothing in the workspace fits “${input.query}”.` : result.content);
      },
    }),
    models.registerTool<ExplainInput>('coderag_explain', {
      prepareInvocation: ({ input }) => ({ invocationMessage: `Explaining \`${input.symbol}\`` }),
      invoke: async ({ input }, token) => {
        trusted();
        const result = await ctx.request<ext.ExplainResult>('workspace/executeCommand', { command: ext.serverCommand.explain, arguments: [input.symbol] }, token);
        return text(result.found ? result.markdown : `No symbol of the workspace is named “${input.symbol}”.`);
      },
    }),
  );
}

/** What tools return goes to a language model. */
function trusted(): void {
  if (!vscode.workspace.isTrusted) throw new Error('This workspace is not trusted: its code is not given to language models.');
}

function text(content: string): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(content)]);
}
