import type { AskResult, Partial, Turn as Earlier } from '../lsp_ext';
import type { Turn } from './protocol';

/** Earlier turns that go with a question. */
const maxHistory = 6;

/** The turns that the panel shows, as the parts of answers arrive. */
export class Conversation {
  turns: Turn[] = [];
  private last = 0;

  begin(question: string, about?: string): Turn {
    const turn: Turn = { id: ++this.last, question, state: 'running', text: '', citations: [], ...(about !== undefined && { about }) };
    this.turns.push(turn);
    return turn;
  }

  /** What was answered before, the newest last. */
  history(): Earlier[] {
    return this.turns.filter((turn) => turn.state === 'done' && turn.text !== '').slice(-maxHistory)
      .map((turn) => ({ query: turn.question, answer: turn.text }));
  }

  take(turn: Turn, part: Partial): void {
    switch (part.kind) {
      case 'text':
        turn.text += part.text;
        break;
      case 'citation':
        if (!turn.citations.some((other) => other.id === part.citation.id)) turn.citations.push(part.citation);
        break;
      case 'retract':
        turn.citations = turn.citations.filter((citation) => citation.id !== part.id);
        turn.text = turn.text.replaceAll(` [${part.id}]`, '').replaceAll(`[${part.id}]`, '');
        break;
    }
  }

  /** The whole answer takes the place of its parts. */
  finish(turn: Turn, { answer, citations, ...result }: AskResult): void {
    Object.assign(turn, { state: 'done', text: answer, citations, result });
    delete turn.step;
  }

  fail(turn: Turn, error: string | undefined): void {
    turn.state = error === undefined ? 'stopped' : 'failed';
    delete turn.step;
    if (error !== undefined) turn.error = error;
  }

  clear(): void {
    this.turns = [];
  }
}

/** A turn as Markdown that stands on its own, with the cited lines. */
export function turnMarkdown(turn: Turn): string {
  const out = [`## ${turn.question}`, '', turn.text.trim()];
  if (turn.citations.length > 0) {
    out.push('', '### Sources', '');
    for (const c of turn.citations) {
      out.push(`- [${c.id}]${c.symbol ? ` \`${c.symbol}\`` : ''} sha256:${c.sha256.slice(0, 8)}${c.verified === 'moved' ? ' (moved)' : ''}`);
    }
  }
  if (turn.result && turn.result.dropped > 0) out.push('', `*${turn.result.dropped} citations left out: their lines have changed.*`);
  return out.join('\n') + '\n';
}
