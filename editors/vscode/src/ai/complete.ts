import * as vscode from 'vscode';

import type { Ctx } from '../ctx';
import type * as ext from '../lsp_ext';
import { languageModels } from './host';

const consentKey = 'coderag.editorModelConsent';

type Consent = 'yes' | 'no';

/** Answers coderag/complete with the editor's language model; the text goes to write as it is made. */
export type Completer = (params: ext.CompleteParams, token: vscode.CancellationToken, write: (text: string) => Promise<void>) => Promise<ext.CompleteResult>;

/**
 * Returns what answers coderag/complete, undefined where the host has no language
 * models or the user did not agree: then the server is told that there is none.
 */
export function completer(ctx: Ctx): Completer | undefined {
  const models = languageModels();
  if (typeof models?.selectChatModels !== 'function' || !allowed(ctx)) return undefined;
  return async (params, token, write) => {
    const model = await choose(ctx);
    if (!model) throw new Error('The editor offers no language model. Sign in to one, or set coderag.chat.editorModel to "never".');
    const response = await model.sendRequest(params.messages.map(message), {
      justification: 'coderag has an answer written from the lines that it found in this workspace.',
      modelOptions: {},
    }, token);
    let text = '';
    for await (const part of response.text) {
      text += part;
      await write(part);
    }
    return { text, model: model.name };
  };
}

/** Models of the editor know no system messages: they are the user's. */
function message(m: ext.Message): vscode.LanguageModelChatMessage {
  return m.role === 'assistant' ? vscode.LanguageModelChatMessage.Assistant(m.content) : vscode.LanguageModelChatMessage.User(m.content);
}

async function choose(ctx: Ctx): Promise<vscode.LanguageModelChat | undefined> {
  const family = ctx.config.editorModelFamily;
  return (await languageModels()?.selectChatModels(family === '' ? undefined : { family }))?.[0];
}

function allowed(ctx: Ctx): boolean {
  const setting = ctx.config.editorModel;
  return setting === 'always' || (setting === 'ask' && ctx.extension.workspaceState.get<Consent>(consentKey) === 'yes');
}

/** Asks once per workspace whether the editor's model may write answers, where it could. */
export async function offerEditorModel(ctx: Ctx, result: ext.AskResult): Promise<void> {
  const state = ctx.extension.workspaceState;
  if (result.model.llm !== null || ctx.config.editorModel !== 'ask' || !vscode.workspace.isTrusted || state.get<Consent>(consentKey)) return;
  if (typeof languageModels()?.selectChatModels !== 'function') return;
  const model = await choose(ctx);
  if (!model) return;
  const yes = 'Use It Here';
  const choice = await vscode.window.showInformationMessage(
    `coderag: have answers in this workspace written by ${model.name}? The lines that were found are given to it.`, yes, 'No');
  if (choice === undefined) return;
  await state.update(consentKey, choice === yes ? 'yes' : 'no');
  if (choice === yes) await ctx.restart();
}
