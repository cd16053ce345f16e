/** A piece of an answer: plain Markdown, or a citation where id is set. */
export interface Part { text: string; id?: string }

/** A citation as the server writes it, [path:start-end], with the link that hovers give it. */
export const citationPattern = /\[([^[\]\n]+?:\d+-\d+)\](?:\(file:[^()\s]*\))?/;

/** Splits Markdown at its citations; those within code are none. */
export function splitCitations(markdown: string): Part[] {
  const parts: Part[] = [];
  const add = (text: string): void => {
    const last = parts[parts.length - 1];
    if (text === '') return;
    if (last && last.id === undefined) last.text += text;
    else parts.push({ text });
  };
  let fence = '';
  for (const line of markdown.split(/(?<=\n)/)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== '') {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = '';
      add(line);
      continue;
    }
    if (mark) {
      fence = mark;
      add(line);
      continue;
    }
    // Odd pieces are spans of code.
    line.split(/(`+[^`]*`+)/).forEach((piece, i) => {
      let rest = piece;
      for (let match = i % 2 === 0 ? citationPattern.exec(rest) : null; match; match = citationPattern.exec(rest)) {
        add(rest.slice(0, match.index));
        parts.push({ text: match[0], id: match[1] });
        rest = rest.slice(match.index + match[0].length);
      }
      add(rest);
    });
  }
  return parts;
}
