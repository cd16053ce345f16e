import type { Citation } from '../lsp_ext';
import type { FromPage, ToPage, TokenColors, Turn } from '../panel/protocol';
import { h, type Child } from './dom';
import { draw } from './graph';
import { Preview } from './preview';
import { chip, render, verifiedText } from './markdown';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void };

const host = acquireVsCodeApi();
const post = (message: FromPage): void => host.postMessage(message);

const turns = new Map<number, Turn>();
let recent: string[] = [];
let recalled = -1;

const log = h('main', { id: 'turns', 'aria-label': 'Answers' });
const announce = h('div', { class: 'hidden', role: 'status', 'aria-live': 'polite' });
const field = h('textarea', { id: 'question', rows: 2, placeholder: 'Ask about this workspace…', 'aria-label': 'Question about this workspace' });
const send = h('button', { type: 'submit', class: 'primary', id: 'send' }, 'Ask');
const stop = h('button', { type: 'button', class: 'primary stop', id: 'stop', hidden: true }, 'Stop');
const history = h('select', { id: 'history', 'aria-label': 'Recent questions' });
const form = h('form', { id: 'ask', 'aria-label': 'Ask' }, field, h('div', { class: 'bar' },
  history, h('span', { class: 'hint' }, 'Enter asks · ↑ recalls'), stop, send));
const preview = new Preview();
document.body.append(log, announce, form, preview.element);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  ask(field.value);
});
stop.addEventListener('click', () => post({ type: 'stop' }));
history.addEventListener('change', () => {
  field.value = history.value;
  history.selectedIndex = 0;
  field.focus();
});
field.addEventListener('input', () => (recalled = -1));
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    ask(field.value);
  } else if (event.key === 'ArrowUp' && (field.value === '' || recalled >= 0)) {
    recall(recalled + 1, event);
  } else if (event.key === 'ArrowDown' && recalled >= 0) {
    recall(recalled - 1, event);
  }
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (preview.visible) preview.hide();
    else if (!stop.hidden) post({ type: 'stop' });
  }
});

function recall(to: number, event: Event): void {
  if (to >= recent.length) return;
  event.preventDefault();
  recalled = to;
  field.value = recent[to] ?? '';
}

function ask(question: string): void {
  const trimmed = question.trim();
  if (trimmed === '') return;
  field.value = '';
  recalled = -1;
  post({ type: 'ask', question: trimmed });
}

// One listener for all buttons: the turns are drawn anew as answers come.
log.addEventListener('click', (event) => act(event.target));
log.addEventListener('keydown', (event) => {
  const target = event.target as Element;
  if ((event.key === 'Enter' || event.key === ' ') && target.getAttribute('role') === 'button') {
    event.preventDefault();
    act(target);
  }
});

function act(target: EventTarget | null): void {
  const button = (target as Element | null)?.closest<HTMLElement>('[data-act]');
  if (!button) return;
  const turn = Number(button.closest<HTMLElement>('[data-turn]')?.dataset['turn']);
  const id = button.dataset['cite'] ?? '';
  switch (button.dataset['act']) {
    case 'open': return post({ type: 'openCitation', turn, id });
    case 'insert': return post({ type: 'insertCitation', turn, id });
    case 'copy': return done(button, () => post({ type: 'copyCitation', turn, id }));
    case 'open-path': return post({ type: 'openPath', path: button.dataset['path'] ?? '', line: Number(button.dataset['line'] ?? 1) });
    case 'copy-turn': return done(button, () => post({ type: 'copyTurn', turn }));
    case 'copy-code': return done(button, () => post({ type: 'copyText', text: button.closest('figure')?.querySelector('code')?.textContent ?? '' }));
    case 'follow': return ask(button.textContent ?? '');
    case 'again': return ask(turns.get(turn)?.question ?? '');
    default:
  }
}

/** Does what a copy button says, and shows that it was done. */
function done(button: HTMLElement, run: () => void): void {
  run();
  const before = button.textContent;
  if (before === 'Copied') return;
  const label = button.getAttribute('aria-label');
  button.textContent = 'Copied';
  button.removeAttribute('aria-label'); // a name must hold the text that is seen
  say('Copied');
  setTimeout(() => {
    button.textContent = before;
    if (label !== null) button.setAttribute('aria-label', label);
  }, 1500);
}

function say(text: string): void {
  announce.textContent = text;
}

// Lines of a citation are shown where the pointer or the keyboard rests on it.
for (const kind of ['mouseover', 'focusin'] as const) {
  log.addEventListener(kind, (event) => {
    const target = (event.target as Element).closest<HTMLElement>('.cite');
    const turn = target && turns.get(Number(target.closest<HTMLElement>('[data-turn]')?.dataset['turn']));
    const citation = turn && turn.citations.find(({ id }) => id === target.dataset['cite']);
    if (target && citation) preview.show(target, citation, kind === 'focusin' ? 0 : 250);
  });
}
for (const kind of ['mouseout', 'focusout'] as const) log.addEventListener(kind, () => preview.leave());
window.addEventListener('scroll', () => preview.hide(), { passive: true });

window.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
  switch (data.type) {
    case 'conversation':
      turns.clear();
      for (const turn of data.turns) turns.set(turn.id, turn);
      log.replaceChildren(...(data.turns.length === 0 ? [welcome()] : data.turns.map(article)));
      setRecent(data.recent);
      running();
      break;
    case 'turn':
      show(data.turn);
      break;
    case 'recent':
      setRecent(data.recent);
      break;
    case 'colors':
      setColors(data.colors);
      break;
    case 'focus':
      field.focus();
      break;
  }
});

function setRecent(questions: string[]): void {
  recent = questions;
  history.replaceChildren(h('option', { value: '' }, 'Recent…'), ...questions.map((question) => h('option', { value: question }, question)));
  history.hidden = questions.length === 0;
}

function setColors(colors: TokenColors): void {
  const style = document.documentElement.style;
  for (const name of [...style]) if (name.startsWith('--tok-')) style.removeProperty(name);
  for (const [kind, color] of Object.entries(colors)) style.setProperty(`--tok-${kind}`, color);
}

function running(): void {
  const busy = [...turns.values()].some((turn) => turn.state === 'running');
  stop.hidden = !busy;
  send.hidden = busy;
  log.setAttribute('aria-busy', String(busy));
}

/** Shows a turn as it is now; what the reader unfolded stays unfolded. */
function show(turn: Turn): void {
  const before = turns.get(turn.id);
  turns.set(turn.id, turn);
  const old = log.querySelector<HTMLElement>(`[data-turn="${turn.id}"]`);
  const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 80;
  const fresh = article(turn);
  if (old) {
    for (const details of old.querySelectorAll('details[open]')) {
      fresh.querySelector<HTMLDetailsElement>(`details.${details.className}`)?.setAttribute('open', '');
    }
    old.replaceWith(fresh);
  } else {
    log.querySelector('.welcome')?.remove();
    log.append(fresh);
    fresh.scrollIntoView({ block: 'start' });
  }
  preview.hide();
  // The question stays in sight: an answer is read from its beginning.
  if (turn.state === 'running' && old && atEnd && fresh.getBoundingClientRect().top > 60) window.scrollTo(0, document.body.scrollHeight);
  if (before?.state !== turn.state) say(turn.state === 'running' ? 'Answering' : turn.state === 'done' ? `Answered, ${turn.citations.length} citations` : (turn.error ?? 'Stopped'));
  running();
}

function welcome(): HTMLElement {
  return h('section', { class: 'welcome' }, h('h1', {}, 'Ask about this workspace'),
    h('p', {}, 'Every answer cites the lines it rests on. They are checked against the text as it stands, unsaved edits included. Nothing leaves this machine unless you set up a language model.'));
}

function article(turn: Turn): HTMLElement {
  const body = h('div', { class: 'answer' });
  body.innerHTML = render(turn.text, { citations: turn.citations, done: turn.state !== 'running' }); // escaped by render
  const r = turn.result;
  return h('article', { 'data-turn': String(turn.id), class: turn.state, 'aria-label': turn.question },
    h('header', {}, h('h2', {}, turn.question), turn.about !== undefined && h('span', { class: 'about' }, turn.about)),
    turn.state === 'running' && h('p', { class: 'step' }, h('span', { class: 'spinner', 'aria-hidden': 'true' }), turn.step ?? 'Searching the workspace'),
    body,
    turn.state === 'stopped' && h('p', { class: 'notice' }, 'Stopped. ', h('button', { type: 'button', class: 'link', 'data-act': 'again' }, 'Ask again')),
    turn.state === 'failed' && h('p', { class: 'notice error', role: 'alert' }, turn.error ?? 'The question failed.', ' ', h('button', { type: 'button', class: 'link', 'data-act': 'again' }, 'Try again')),
    r && r.dropped > 0 && h('p', { class: 'notice' }, `${r.dropped} ${r.dropped === 1 ? 'citation was' : 'citations were'} left out: the lines have changed.`),
    r && r.coverage.pending > 0 && h('p', { class: 'notice' }, `${r.coverage.indexed} of ${r.coverage.total} files were indexed so far.`),
    r && r.truncated && h('p', { class: 'notice' }, 'Some of what was found did not fit and was left out.'),
    turn.citations.length > 0 && sources(turn),
    r && r.graph.nodes.length > 1 && connected(turn),
    r && why(turn),
    turn.state === 'done' && h('div', { class: 'row' }, h('button', { type: 'button', class: 'quiet', 'data-act': 'copy-turn' }, 'Copy as Markdown'),
      r && turn.about === undefined && h('button', { type: 'button', class: 'quiet', 'data-act': 'again', title: 'Ask again, of the code as it is now' }, 'Ask again')),
    r && r.followUps.length > 0 && h('nav', { class: 'follow', 'aria-label': 'Follow-up questions' }, ...r.followUps.map((question) => h('button', { type: 'button', 'data-act': 'follow' }, question))),
  );
}

function sources(turn: Turn): HTMLElement {
  return h('details', { class: 'sources' }, h('summary', {}, `${turn.citations.length} ${turn.citations.length === 1 ? 'source' : 'sources'}, checked`),
    h('ul', {}, ...turn.citations.map((c) => {
      const at = h('span', { class: 'at' });
      at.innerHTML = chip(c); // escaped by chip
      return h('li', {},
        h('span', { class: `mark ${c.verified}`, role: 'img', 'aria-label': verifiedText(c), title: verifiedText(c) }, c.verified === 'moved' ? '↷' : '✓'),
        at, h('span', { class: 'of', title: [c.symbol, folder(c)].filter(Boolean).join(' · ') }, h('span', { class: 'symbol' }, c.symbol ?? ''), ' ', h('span', { class: 'path' }, folder(c))),
        h('button', { type: 'button', class: 'quiet', 'data-act': 'insert', 'data-cite': c.id, 'aria-label': `Insert ${c.id} into the editor` }, 'Insert'),
        h('button', { type: 'button', class: 'quiet', 'data-act': 'copy', 'data-cite': c.id, 'aria-label': `Copy ${c.id}` }, 'Copy'));
    })));
}

function folder(c: Citation): string {
  const slash = c.path.lastIndexOf('/');
  return slash < 0 ? '' : c.path.slice(0, slash);
}

function connected(turn: Turn): HTMLElement {
  const r = turn.result!;
  return h('details', { class: 'connected' }, h('summary', {}, `Around it: ${r.graph.nodes.length} files`),
    draw(r.graph, new Set(turn.citations.map(({ path }) => path))),
    r.related.length > 0 && h('ul', {}, ...r.related.map((place) => h('li', {}, h('span', { class: 'relation' }, place.relation.replaceAll('_', ' ')), ' ',
      h('button', { type: 'button', class: 'link', 'data-act': 'open-path', 'data-path': place.path, 'data-line': String(place.startLine) }, `${place.path}:${place.startLine}-${place.endLine}`)))));
}

function why(turn: Turn): HTMLElement {
  const { plan, metrics, coverage, model } = turn.result!;
  const ms = (n: number | undefined): string => `${(n ?? 0).toFixed(1)} ms`;
  const row = (name: string, ...value: Child[]): HTMLElement => h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, ...value));
  return h('details', { class: 'why' }, h('summary', {}, `Why this · ${ms(metrics.timings['total'])}`),
    h('table', {}, h('caption', { class: 'hidden' }, 'How the answer came about'), h('tbody', {},
      row('Understood as', `${plan.intent.replaceAll('_', ' ')} (${plan.route.replaceAll('_', ' ')}): “${plan.cleanedQuery}”`),
      ...plan.requests.map((request) => row('Searched', `“${request.query}”`, h('br', {}), h('span', { class: 'dim' }, request.reasoning))),
      plan.fallback ? row('Relaxed', plan.fallback) : null,
      row('Candidates', `${metrics.candidates.lexical} by words, ${metrics.candidates.vector} by meaning, ${metrics.candidates.fused} together${metrics.cacheHit ? ' (searched before)' : ''}`),
      row('Relevance', `best ${metrics.topScore.toFixed(2)}, mean ${metrics.meanScore.toFixed(2)}`),
      row('Time', Object.entries(metrics.timings).filter(([name]) => name !== 'total' && !name.includes('.')).map(([name, n]) => `${name} ${ms(n)}`).join(' · ')),
      row('Index', `${coverage.indexed} of ${coverage.total} files, vectors ${Math.floor(coverage.vectorsReady * 100)} %`),
      row('Models', model.llm === null ? `${model.embedder}; no language model` : `${model.embedder}; ${model.llm}`),
    )),
    h('table', {}, h('caption', {}, 'Scores'), h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Lines'), h('th', { scope: 'col' }, 'Score'), h('th', { scope: 'col' }, 'Found by'))),
      h('tbody', {}, ...turn.citations.map((c) => h('tr', {}, h('td', {}, c.id), h('td', {}, c.score > 0 ? c.score.toFixed(2) : '–'), h('td', {}, (c.why ?? []).join(' · '))))))
  );
}

post({ type: 'ready' });
