import * as vscode from 'vscode';

import type { Ctx } from '../ctx';
import * as ext from '../lsp_ext';
import { splitCitations } from '../citations';
import { location } from '../places';
import { chat } from './host';

/** Earlier turns that go with a question. */
const turns = 6;

interface Result extends vscode.ChatResult { metadata: { followUps: string[] } }

/** Registers @coderag, where the host has a chat. */
export function registerParticipant(ctx: Ctx): vscode.Disposable {
  const host = chat();
  if (typeof host?.createChatParticipant !== 'function') return new vscode.Disposable(() => undefined);
  const participant = host.createChatParticipant('coderag.participant', (request, context, response, token) =>
    answer(ctx, request, context, response, token));
  participant.iconPath = vscode.Uri.joinPath(ctx.extension.extensionUri, 'media', 'icon.png');
  participant.followupProvider = {
    provideFollowups: (result) => ((result as Partial<Result>).metadata?.followUps ?? []).map((prompt) => ({ prompt })),
  };
  return participant;
}

async function answer(ctx: Ctx, request: vscode.ChatRequest, context: vscode.ChatContext, response: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<Result> {
  const nothing: Result = { metadata: { followUps: [] } };
  const place = placeOf(request);
  switch (request.command) {
    case 'explain':
      return { metadata: { followUps: await explain(ctx, request.prompt.trim(), place, response, token) } };
    case 'find': {
      const result = await ctx.request<ext.SearchResult>(ext.method.search, { query: request.prompt, filters: {} } satisfies ext.SearchParams, token);
      hits(result.hits, response);
      return nothing;
    }
    case 'similar': {
      if (!place) {
        response.markdown('Select some code, or put the cursor on it, and ask again.');
        return nothing;
      }
      const result = await ctx.request<ext.SearchResult>(ext.method.similar, { document: ctx.document(place.uri, place.range) } satisfies ext.RangeParams, token);
      hits(result.hits, response);
      return nothing;
    }
    default:
  }
  response.progress('Searching the workspace');
  const result = await ctx.ask({ query: request.prompt, filters: {}, history: history(context), ...(place && { document: ctx.document(place.uri, place.range) }) },
    { step: (message) => response.progress(message) }, token);
  markdown(result.answer, result.citations, response);
  for (const citation of result.citations) response.reference(location(citation));
  if (result.dropped > 0) response.markdown(`\n\n*${result.dropped} ${result.dropped === 1 ? 'citation' : 'citations'} left out: the lines have changed.*`);
  if (result.coverage.pending > 0) response.markdown(`\n\n*${result.coverage.indexed} of ${result.coverage.total} files were indexed so far.*`);
  return { metadata: { followUps: result.followUps } };
}

async function explain(ctx: Ctx, name: string, place: vscode.Location | undefined, response: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<string[]> {
  if (name === '' && !place) {
    response.markdown('Name a symbol, or put the cursor on one, and ask again.');
    return [];
  }
  const result = name !== ''
    ? await ctx.execute<ext.ExplainResult>(ext.serverCommand.explain, name, token)
    : await ctx.request<ext.ExplainResult>(ext.method.explain, { document: ctx.document(place!.uri, place!.range) } satisfies ext.RangeParams, token);
  if (!result.found) {
    response.markdown(name === '' ? 'No symbol stands there.' : `No symbol of the workspace is named “${name}”.`);
    return [];
  }
  const citations = [...result.definitions, ...result.usages, ...result.tests];
  markdown(result.markdown, citations, response);
  for (const citation of citations) response.reference(location(citation));
  return [`Where is ${result.symbol} used?`, `Which tests cover ${result.symbol}?`];
}

/** Writes Markdown with its citations as links into the editor. */
function markdown(text: string, citations: ext.Citation[], response: vscode.ChatResponseStream): void {
  const known = new Map(citations.map((citation) => [citation.id, citation]));
  for (const part of splitCitations(text)) {
    const citation = part.id === undefined ? undefined : known.get(part.id);
    if (citation) response.anchor(location(citation), label(citation));
    else response.markdown(part.text);
  }
}

function hits(all: ext.Hit[], response: vscode.ChatResponseStream): void {
  if (all.length === 0) response.markdown('Nothing relevant was found.');
  all.forEach((hit, i) => {
    response.markdown(`${i + 1}. ${hit.symbol ? `\`${hit.symbol.replaceAll('`', '')}\` ` : ''}`);
    response.anchor(location(hit), label(hit));
    response.markdown('\n');
    response.reference(location(hit));
  });
}

function label(at: { path: string; startLine: number; endLine: number }): string {
  return `${at.path}:${at.startLine}-${at.endLine}`;
}

/** Where a question is about: what was attached, else the editor's selection. */
function placeOf(request: vscode.ChatRequest): vscode.Location | undefined {
  for (const { value } of request.references) {
    if (value instanceof vscode.Location) return value;
    if (value instanceof vscode.Uri) return new vscode.Location(value, new vscode.Position(0, 0));
  }
  const editor = vscode.window.activeTextEditor;
  return editor?.document.uri.scheme === 'file' ? new vscode.Location(editor.document.uri, editor.selection) : undefined;
}

/** The earlier questions to this participant, with what it answered. */
function history(context: vscode.ChatContext): ext.Turn[] {
  const all: ext.Turn[] = [];
  for (const turn of context.history) {
    if (turn instanceof vscode.ChatRequestTurn) {
      all.push({ query: turn.prompt, answer: '' });
    } else {
      const last = all[all.length - 1];
      if (last) last.answer += turn.response.map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : '')).join('');
    }
  }
  return all.filter((turn) => turn.answer !== '').slice(-turns);
}
