/**
 * Finds the line (1-based) where cited lines stand now: where they were, else
 * the nearest place with the same text; undefined where they are nowhere. The
 * editor's text may be newer than the answer.
 */
export function relocate(lines: string[], startLine: number, text: string): number | undefined {
  const cited = text.split('\n');
  const standsAt = (at: number): boolean => at >= 0 && at + cited.length <= lines.length && cited.every((line, i) => lines[at + i] === line);
  const start = Math.min(startLine, lines.length) - 1;
  for (let distance = 0; distance <= lines.length; distance++) {
    for (const at of distance === 0 ? [start] : [start - distance, start + distance]) {
      if (standsAt(at)) return at + 1;
    }
  }
  return undefined;
}
