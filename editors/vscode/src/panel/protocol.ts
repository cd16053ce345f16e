/** The messages between the panel's two halves: the extension and its web page. */
import type { AskResult, Citation } from '../lsp_ext';

/** A question with what is known of its answer. */
export interface Turn {
  id: number;
  question: string;
  /** The lines that were asked about, for the reader. */
  about?: string;
  state: 'running' | 'done' | 'stopped' | 'failed';
  /** What is being done, while it runs. */
  step?: string;
  /** The answer's Markdown so far. */
  text: string;
  citations: Citation[];
  /** All that is known, of an answer that is done. */
  result?: Omit<AskResult, 'answer' | 'citations'>;
  error?: string;
}

/** Colours of the theme for kinds of tokens, as CSS colours. */
export type TokenColors = Partial<Record<TokenKind, string>>;
export type TokenKind = 'comment' | 'string' | 'keyword' | 'number' | 'function' | 'type' | 'variable' | 'constant' | 'tag' | 'attribute';

export type ToPage =
  | { type: 'conversation'; turns: Turn[]; recent: string[] }
  | { type: 'turn'; turn: Turn }
  | { type: 'recent'; recent: string[] }
  | { type: 'colors'; colors: TokenColors }
  | { type: 'focus' };

export type FromPage =
  | { type: 'ready' }
  | { type: 'ask'; question: string }
  | { type: 'stop' }
  | { type: 'new' }
  | { type: 'openCitation'; turn: number; id: string }
  | { type: 'insertCitation'; turn: number; id: string }
  | { type: 'copyCitation'; turn: number; id: string }
  | { type: 'openPath'; path: string; line: number }
  | { type: 'copyTurn'; turn: number }
  | { type: 'copyText'; text: string };
