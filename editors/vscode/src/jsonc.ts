/** Parses JSON with comments and trailing commas, as colour themes are written. */
export function parseJsonc(text: string): unknown {
  // Strings first, so that what looks like a comment within one stays.
  const plain = text.replace(/^\uFEFF/, '')
    .replace(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (_, string?: string) => string ?? '')
    .replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string?: string) => string ?? '');
  return JSON.parse(plain);
}
