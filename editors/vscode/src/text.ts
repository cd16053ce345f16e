import type { Coverage, Status } from './lsp_ext';

/** The state in a few words, "" where all is well. */
export function stateText(server: 'stopped' | 'starting' | 'running' | 'failed', status: Status | undefined): { text: string; busy: boolean; problem: boolean } {
  if (server === 'failed') return { text: 'not running', busy: false, problem: true };
  if (server === 'stopped') return { text: 'stopped', busy: false, problem: false };
  if (server === 'starting' || !status) return { text: 'starting', busy: true, problem: false };
  const files = `${status.coverage.indexed}/${status.coverage.total}`;
  switch (status.state) {
    case 'error': return { text: 'error', busy: false, problem: true };
    case 'paused': return { text: 'paused', busy: false, problem: false };
    case 'memoryLimit': return { text: `waiting for memory ${files}`, busy: false, problem: false };
    case 'scanning': return { text: 'looking for files', busy: true, problem: false };
    case 'indexing': return { text: `indexing ${files}${eta(status.etaSeconds)}`, busy: true, problem: false };
    case 'embedding': return { text: `embedding ${Math.floor(status.coverage.vectorsReady * 100)} %${eta(status.etaSeconds)}`, busy: true, problem: false };
    case 'empty': return { text: 'nothing to index', busy: false, problem: false };
    case 'ready': return { text: '', busy: false, problem: false };
  }
}

function eta(seconds: number | null): string {
  if (seconds === null || seconds < 1) return '';
  return seconds < 90 ? `, ${Math.round(seconds)} s` : `, ${Math.round(seconds / 60)} min`;
}

/** A size in a unit that reads well. */
export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${n.toFixed(n < 10 && i > 0 ? 1 : 0)} ${units[i]}`;
}

/** What a result does not take into account, "" where nothing is missing. */
export function coverageText(c: Coverage): string {
  if (c.pending > 0) return `${c.indexed} of ${c.total} files were indexed so far`;
  return c.stale ? 'newer changes were not searchable yet' : '';
}

/** The whole state as Markdown. */
export function statusMarkdown(s: Status): string {
  const table = (rows: [string, string][]): string => ['| | |', '|---|---|', ...rows.map(([name, value]) => `| ${name} | ${cell(value)} |`)].join('\n');
  const out = ['# coderag', '', table([
    ['state', s.state],
    ['files', `${s.coverage.indexed} of ${s.coverage.total} indexed, ${s.coverage.pending} waiting`],
    ['chunks', String(s.chunks)],
    ['symbols', String(s.symbols)],
    ['vectors', `${Math.floor(s.coverage.vectorsReady * 100)} %`],
    ['embedding model', s.model.embedder],
    ['language model', s.model.llm ?? 'none'],
    ['memory', `${bytes(s.rssBytes)} of ${bytes(s.memoryLimitBytes)}`],
    ['index on disk', bytes(s.storeBytes)],
    ['watched directories', String(s.watches)],
    ['index kept by', s.owner ? `this window's server (process ${s.ownedBy.pid})` : `process ${s.ownedBy.pid}`],
    ['server', s.version],
  ])];
  if (s.notices.length > 0 || s.lastError) {
    out.push('', '## Notices', '', ...s.notices.map((notice) => `- ${cell(notice)}`));
    if (s.lastError) out.push(`- ${cell(s.lastError.message)} (${s.lastError.at})`);
  }
  out.push('', '## Folders', '', '| folder | state | files | index |', '|---|---|---|---|');
  for (const root of s.roots) out.push(`| ${cell(root.dir)} | ${root.error ? cell(root.error) : root.state} | ${root.indexed} of ${root.total} | ${root.memory ? 'in memory' : cell(root.index)} |`);
  const languages = Object.entries(s.languages).sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  if (languages.length > 0) out.push('', '## Languages', '', table(languages.map(([name, n]) => [cell(name), String(n)])));
  if (s.skippedFiles.length > 0) {
    out.push('', '## Skipped files', '', '| path | reason |', '|---|---|');
    for (const file of s.skippedFiles) out.push(`| ${cell(file.path)} | ${cell(file.detail ? `${file.reason}: ${file.detail}` : file.reason)} |`);
  }
  return out.join('\n') + '\n';
}

/** Text of the workspace in a table's cell. */
function cell(text: string): string {
  return text.replace(/[\\|<>`*_[\]]/g, '\\$&').replace(/\s+/g, ' ');
}
