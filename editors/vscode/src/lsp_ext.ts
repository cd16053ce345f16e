/**
 * The requests of coderag-ls beyond LSP: the contract of docs/wire.md, as far as
 * the extension uses it. Methods are names only, so that the webview can import
 * the types.
 */

export interface Position { line: number; character: number }
export interface Range { start: Position; end: Position }
export interface DocumentRange { uri: string; range?: Range }

export interface Filters {
  folders?: string[];
  filePatterns?: string[];
  languages?: string[];
}

export interface Turn { query: string; answer: string }

export interface SearchParams {
  query: string;
  document?: DocumentRange;
  filters: Filters;
  topK?: number;
  workDoneToken?: string;
}

export interface AskParams extends SearchParams {
  tokenBudget?: number;
  history?: Turn[];
  partialResultToken?: string;
}

export interface RangeParams { document: DocumentRange; topK?: number; workDoneToken?: string }

/** Lines with their proof; startLine and endLine are 1-based and inclusive. */
export interface Citation {
  id: string;
  uri: string;
  path: string;
  root: string;
  range: Range;
  startLine: number;
  endLine: number;
  text: string;
  sha256: string;
  symbol?: string;
  kind?: string;
  language?: string;
  score: number;
  why: string[] | null;
  verified: string;
}

export interface Related { path: string; startLine: number; endLine: number; relation: string; distance: number }
export interface Edge { from: string; to: string; kind: string }
export interface Graph { nodes: string[]; edges: Edge[] }

export interface Plan {
  route: string;
  intent: string;
  cleanedQuery: string;
  requests: { query: string; reasoning: string; folders?: string[]; filePatterns?: string[]; sourceTypes?: string[] }[];
  fallback?: string;
}

export interface Coverage {
  indexed: number;
  total: number;
  pending: number;
  skipped: Record<string, number>;
  vectorsReady: number;
  stale: boolean;
  seq: number;
}

export interface Metrics {
  timings: Record<string, number>;
  candidates: { lexical: number; vector: number; fused: number };
  cacheHit: boolean;
  tokensUsed: number;
  topScore: number;
  meanScore: number;
}

export interface ModelInfo { embedder: string; llm: string | null }

export interface AskResult {
  answer: string;
  citations: Citation[];
  dropped: number;
  related: Related[];
  graph: Graph;
  plan: Plan;
  coverage: Coverage;
  metrics: Metrics;
  model: ModelInfo;
  truncated: boolean;
  followUps: string[];
  noAnswer: boolean;
}

export interface Hit {
  uri: string;
  path: string;
  root: string;
  startLine: number;
  endLine: number;
  symbol?: string;
  kind: string;
  sourceType: string;
  language?: string;
  score: number;
  why: string[] | null;
  text: string;
}

export interface SearchResult { hits: Hit[]; plan: Plan; coverage: Coverage; metrics: Metrics; model: ModelInfo }

export interface ContextResult {
  content: string;
  primary: Citation[];
  related: Related[];
  tokenCount: number;
  truncated: boolean;
  coverage: Coverage;
}

export interface ExplainResult {
  found: boolean;
  symbol: string;
  kind: string;
  signature: string;
  summary: string;
  markdown: string;
  definitions: Citation[];
  usageCount: number;
  usages: Citation[];
  tests: Citation[];
  coverage: Coverage;
}

export interface SkippedFile { path: string; reason: string; detail?: string }

export interface RootStatus {
  name: string;
  dir: string;
  index: string;
  memory?: boolean;
  error?: string;
  state: string;
  indexed: number;
  total: number;
  pending: number;
}

export type State = 'error' | 'paused' | 'memoryLimit' | 'scanning' | 'indexing' | 'embedding' | 'empty' | 'ready';

export interface Status {
  version: string;
  roots: RootStatus[];
  coverage: Coverage;
  chunks: number;
  symbols: number;
  languages: Record<string, number>;
  watches: number;
  queues: { index: number; embed: number };
  state: State;
  etaSeconds: number | null;
  paused: boolean;
  onBattery: boolean;
  rssBytes: number;
  memoryLimitBytes: number;
  memoryMeasures: string[];
  storeBytes: number;
  owner: boolean;
  ownedBy: { pid: number; version: string; clients: number };
  model: ModelInfo;
  lastError: { message: string; at: string } | null;
  notices: string[];
  skippedFiles: SkippedFile[];
}

/** A part of an answer as it is made, sent as $/progress for the partialResultToken. */
export type Partial =
  | { kind: 'text'; text: string }
  | { kind: 'citation'; citation: Citation }
  | { kind: 'retract'; id: string };

export interface InsertParams { document: DocumentRange; citation?: string; query?: string }
export interface InsertResult { applied: boolean; failureReason?: string; citation?: string }

export interface Message { role: 'system' | 'user' | 'assistant'; content: string }

export interface CompleteParams {
  partialResultToken: string;
  purpose: string;
  messages: Message[];
  temperature: number;
  maxTokens: number;
  schema?: unknown;
}

export interface CompleteResult { text: string; model: string; finishReason?: string; inputTokens?: number; outputTokens?: number }

export interface SecretParams { name: string; baseUrl: string }

export const method = {
  ask: 'coderag/ask',
  search: 'coderag/search',
  context: 'coderag/context',
  similar: 'coderag/similar',
  explain: 'coderag/explain',
  status: 'coderag/status',
  reindex: 'coderag/reindex',
  sync: 'coderag/sync',
  pause: 'coderag/pause',
  resume: 'coderag/resume',
  statusChanged: 'coderag/statusChanged',
  complete: 'coderag/complete',
  secret: 'coderag/secret',
} as const;

/** Commands of workspace/executeCommand that the extension sends itself. */
export const serverCommand = {
  insert: 'coderag.server.insert',
  explain: 'coderag.server.explain',
} as const;
