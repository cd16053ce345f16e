import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { AskResult, Citation, Graph } from '../../src/lsp_ext';
import { Conversation, turnMarkdown } from '../../src/panel/conversation';
import { layout } from '../../src/webview/graph';
import { render } from '../../src/webview/markdown';

function citation(path: string, startLine: number, endLine: number, more: Partial<Citation> = {}): Citation {
  const range = { start: { line: startLine - 1, character: 0 }, end: { line: endLine, character: 0 } };
  return { id: `${path}:${startLine}-${endLine}`, uri: `file:///w/${path}`, path, root: 'w', range, startLine, endLine, text: 'x', sha256: 'ab'.repeat(32), score: 0.5, why: [], verified: 'exact', ...more };
}

const result: AskResult = {
  answer: 'It is there. [a.go:1-2]', citations: [citation('a.go', 1, 2, { symbol: 'f', verified: 'moved' })], dropped: 2, related: [], graph: { nodes: [], edges: [] },
  plan: { route: 'rules', intent: 'general', cleanedQuery: 'q', requests: [] },
  coverage: { indexed: 1, total: 1, pending: 0, skipped: {}, vectorsReady: 1, stale: false, seq: 1 },
  metrics: { timings: { total: 1 }, candidates: { lexical: 1, vector: 1, fused: 1 }, cacheHit: false, tokensUsed: 1, topScore: 1, meanScore: 1 },
  model: { embedder: 'code-256', llm: null }, truncated: false, followUps: [], noAnswer: false,
};

test('an answer grows by its parts, and the whole takes their place', () => {
  const conversation = new Conversation();
  const turn = conversation.begin('where?');
  conversation.take(turn, { kind: 'text', text: 'It is [a.go:1-2] and [b.go:1-1].' });
  conversation.take(turn, { kind: 'citation', citation: citation('a.go', 1, 2) });
  conversation.take(turn, { kind: 'citation', citation: citation('b.go', 1, 1) });
  conversation.take(turn, { kind: 'retract', id: 'b.go:1-1' });
  assert.equal(turn.text, 'It is [a.go:1-2] and.');
  assert.deepEqual(turn.citations.map(({ id }) => id), ['a.go:1-2']);
  assert.deepEqual(conversation.history(), [], 'what is not done is no history');
  conversation.finish(turn, result);
  assert.equal(turn.text, result.answer);
  assert.deepEqual(conversation.history(), [{ query: 'where?', answer: result.answer }]);
});

test('a copied answer names its sources with their hashes and what was left out', () => {
  const conversation = new Conversation();
  const turn = conversation.begin('where?');
  conversation.finish(turn, result);
  const text = turnMarkdown(turn);
  assert.match(text, /^## where\?\n/);
  assert.match(text, /- \[a\.go:1-2\] `f` sha256:abababab \(moved\)/);
  assert.match(text, /2 citations left out/);
});

test('citations become chips, unknown ones do not', () => {
  const answer = { citations: [citation('dir/__init__.py', 3, 4)], done: true };
  const html = render('See [dir/__init__.py:3-4] and [other.go:1-2].', answer);
  assert.match(html, /<button[^>]* data-cite="dir\/__init__\.py:3-4"[^>]*>.*__init__\.py.*:3-4/);
  assert.doesNotMatch(html, /<strong>/);
  assert.match(html, /<code class="unchecked"[^>]*>other\.go:1-2<\/code>/);
});

test('what a repository holds cannot become markup, links or pictures', () => {
  const evil = [
    '<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '[click](javascript:alert(1))', '[click](https://example.com/?q=secret)',
    '![p](https://example.com/p.png)', '<https://example.com>', '[x][1]\n\n[1]: https://example.com', '["onclick="alert(1):1-2]', '```"><img src=x>\n</code><b>x</b>\n```',
    '[click](command:workbench.action.quit)',
  ];
  for (const text of evil) {
    const html = render(text, { citations: [citation('"onclick="alert(1)', 1, 2)], done: true });
    // Everything but the tags that the panel makes itself is escaped.
    assert.doesNotMatch(html, /<(img|script|a|b|iframe|svg)\b/i, text);
    for (const tag of html.match(/<[a-z][^>]*>/gi) ?? []) assert.doesNotMatch(tag, /\son\w+\s*=|href|src\s*=/i, `${text}: ${tag}`);
  }
});

test('code is coloured and stays what it was', () => {
  const html = render('```go\nfunc f() { return "a<b" }\n```', { citations: [], done: true });
  assert.match(html, /hljs-keyword/);
  const plain = /<code>([\s\S]*?)<\/code>/.exec(html)![1]!.replace(/<[^>]*>/g, '').replace(/&lt;/g, '<').replace(/&quot;/g, '"').replace(/&amp;/g, '&');
  assert.equal(plain, 'func f() { return "a<b" }\n');
});

test('code that was quoted can be inserted by its citation', () => {
  const quoted = citation('a.go', 3, 5, { text: 'func f() {\n\treturn\n}' });
  const html = render('It is [a.go:3-5].\n\n```go\nfunc f() {\n\treturn\n```\n\n```\nelse\n```\n', { citations: [citation('b.go', 1, 1), quoted], done: true });
  assert.deepEqual([...html.matchAll(/data-act="insert" data-cite="([^"]*)"/g)].map((match) => match[1]), ['a.go:3-5']);
});

test('the graph is laid out from the cited files, without losing edges between shown ones', () => {
  const graph: Graph = { nodes: ['a/x.go', 'b/x.go', 'c.go', 'd.go'], edges: [{ from: 'a/x.go', to: 'c.go', kind: 'calls' }, { from: 'd.go', to: 'c.go', kind: 'imports' }, { from: 'c.go', to: 'c.go', kind: 'calls' }] };
  const l = layout(graph, new Set(['a/x.go']));
  assert.deepEqual(l.nodes.map(({ path, column }) => [path, column]), [['a/x.go', 0], ['b/x.go', 2], ['c.go', 1], ['d.go', 2]]);
  assert.deepEqual(l.nodes.map(({ label }) => label), ['a/x.go', 'b/x.go', 'c.go', 'd.go'], 'equal names are told apart');
  assert.equal(l.edges.length, 2);
  const places = new Set(l.nodes.map(({ column, row }) => `${column} ${row}`));
  assert.equal(places.size, l.nodes.length, 'no two files in one place');
});
