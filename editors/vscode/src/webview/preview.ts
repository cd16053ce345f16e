import type { Citation } from '../lsp_ext';
import { h } from './dom';
import { highlight } from './highlight';
import { verifiedText } from './markdown';

/** The most lines that a preview shows. */
const maxLines = 16;

/** The cited lines in a box beside the citation that the pointer rests on. */
export class Preview {
  readonly element = h('div', { id: 'preview', role: 'tooltip', hidden: true });
  private timer = 0;
  private of: HTMLElement | undefined;

  get visible(): boolean {
    return !this.element.hidden;
  }

  /** Shows a citation's lines after a rest of some milliseconds. */
  show(at: HTMLElement, citation: Citation, rest: number): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.place(at, citation), rest);
  }

  private place(at: HTMLElement, c: Citation): void {
    if (!at.isConnected) return;
    const lines = c.text.split('\n');
    const numbers = lines.slice(0, maxLines).map((_, i) => c.startLine + i).join('\n');
    const code = h('code', {});
    code.innerHTML = highlight(lines.slice(0, maxLines).join('\n'), c.language); // escaped by highlight
    const more = lines.length - maxLines;
    this.element.replaceChildren(
      h('div', { class: 'where' }, c.path, h('span', { class: 'dim' }, ` ${c.startLine}-${c.endLine} · ${verifiedText(c)}`)),
      h('div', { class: 'lines' }, h('pre', { class: 'numbers', 'aria-hidden': 'true' }, numbers), h('pre', {}, code)),
      more > 0 ? h('div', { class: 'dim' }, `${more} more lines`) : '');
    this.element.hidden = false;
    this.of?.removeAttribute('aria-describedby');
    this.of = at;
    at.setAttribute('aria-describedby', 'preview');
    const anchor = at.getBoundingClientRect();
    const size = this.element.getBoundingClientRect();
    const below = anchor.bottom + 6 + size.height <= window.innerHeight;
    this.element.style.left = `${Math.max(8, Math.min(anchor.left, window.innerWidth - size.width - 8))}px`;
    this.element.style.top = `${below ? anchor.bottom + 6 : Math.max(8, anchor.top - size.height - 6)}px`;
  }

  /** The pointer left: the box may go. */
  leave(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.hide(), 120);
  }

  hide(): void {
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.of?.removeAttribute('aria-describedby');
    this.of = undefined;
  }
}
