import MarkdownIt from 'markdown-it';

import { citationPattern } from '../citations';
import type { Citation } from '../lsp_ext';
import { escapeHtml, highlight } from './highlight';

const atStart = new RegExp(`^${citationPattern.source}`);

/** What the chip of a citation needs to know of the answer. */
export interface Answer { citations: Citation[]; done: boolean }

/**
 * Answers as HTML. What they quote comes from the repository: HTML in it stays
 * text, and there are no links and pictures that lead elsewhere.
 */
const md = new MarkdownIt({ html: false, linkify: false, typographer: false, highlight: (code, language) => highlight(code, language) });
md.disable('image');
md.validateLink = () => false;

md.inline.ruler.before('emphasis', 'citation', (state, silent) => {
  if (state.src[state.pos] !== '[') return false;
  const match = atStart.exec(state.src.slice(state.pos));
  if (!match) return false;
  if (!silent) state.push('citation', '', 0).content = match[1]!;
  state.pos += match[0].length;
  return true;
});

md.renderer.rules['citation'] = (tokens, index, _, env) => {
  const answer = env as unknown as Answer;
  const id = tokens[index]!.content;
  const citation = answer.citations.find((other) => other.id === id);
  if (!citation) {
    // While it is made, an answer may cite what is still being checked.
    return `<code class="unchecked" title="${answer.done ? 'not a citation of this answer' : 'being checked'}">${escapeHtml(id)}</code>`;
  }
  return chip(citation);
};

md.renderer.rules.fence = (tokens, index, _, env) => {
  const token = tokens[index]!;
  const language = token.info.trim().split(/\s+/)[0] ?? '';
  const name = language === '' ? 'Code' : `Code in ${escapeHtml(language)}`;
  const source = quoted(token.content, env as unknown as Answer);
  const insert = source === undefined ? ''
    : `<button type="button" class="quiet" data-act="insert" data-cite="${escapeHtml(source.id)}" aria-label="${escapeHtml(`Insert ${source.id} into the editor`)}">Insert</button>`;
  const prose = /^(markdown|text|plaintext|restructuredtext|asciidoc)?$/i.test(language);
  return `<figure class="code${prose ? ' prose' : ''}"><figcaption><span>${escapeHtml(language)}</span>${insert}<button type="button" class="quiet" data-act="copy-code" aria-label="Copy code">Copy</button></figcaption>` +
    `<pre tabindex="0" role="region" aria-label="${name}"><code>${highlight(token.content, language)}</code></pre></figure>\n`;
};

/** The citation whose lines some code was taken from. */
function quoted(code: string, { citations }: Answer): Citation | undefined {
  const lines = code.trimEnd();
  return lines === '' ? undefined : citations.find(({ text }) => text.includes(lines));
}

/** A citation as a button that opens its lines. */
export function chip(c: Citation): string {
  const file = c.path.slice(c.path.lastIndexOf('/') + 1);
  const lines = c.startLine === c.endLine ? `${c.startLine}` : `${c.startLine}-${c.endLine}`;
  const state = c.verified === 'moved' ? 'moved' : 'exact';
  return `<button type="button" class="cite ${state}" data-act="open" data-cite="${escapeHtml(c.id)}" aria-label="${escapeHtml(`${file}:${lines}, ${verifiedText(c)}; opens ${c.path}`)}">` +
    `<span class="file">${escapeHtml(file)}</span><span class="lines">:${lines}</span></button>`;
}

/** What was found when the lines were checked. */
export function verifiedText(c: Citation): string {
  return c.verified === 'moved' ? 'checked: the lines moved and were found again' : 'checked: the lines stand there';
}

export function render(text: string, answer: Answer): string {
  return md.render(text, { ...answer });
}
