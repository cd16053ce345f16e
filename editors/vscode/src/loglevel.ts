/** The level of a line of the server's log, "level=WARN msg=…". */
export function level(line: string): 'debug' | 'info' | 'warn' | 'error' {
  if (/^(panic|fatal error): /.test(line)) return 'error';
  if (line.startsWith('warning: ')) return 'warn';
  switch (/(?:^|\s)level=(\w+)/.exec(line)?.[1]) {
    case 'DEBUG': return 'debug';
    case 'WARN': return 'warn';
    case 'ERROR': return 'error';
    default: return 'info';
  }
}
