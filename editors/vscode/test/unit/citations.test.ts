import assert from 'node:assert/strict';
import { test } from 'node:test';

import { splitCitations } from '../../src/citations';
import { relocate } from '../../src/relocate';

test('citations are told from the text around them', () => {
  const text = 'It is `f` in `a.go`. [a/__b__.go:1-2]\nSee [c d.py:3-3](file:///w/c%20d.py#L3).\n';
  assert.deepEqual(splitCitations(text), [
    { text: 'It is `f` in `a.go`. ' },
    { text: '[a/__b__.go:1-2]', id: 'a/__b__.go:1-2' },
    { text: '\nSee ' },
    { text: '[c d.py:3-3](file:///w/c%20d.py#L3)', id: 'c d.py:3-3' },
    { text: '.\n' },
  ]);
});

test('what looks like a citation within code is code', () => {
  const text = 'a `[x.go:1-2]` b\n```go\n[x.go:1-2]\n```\n[z.go:3-4]\n~~~~\n[x.go:1-2]\n~~~\n[x.go:1-2]\n~~~~\n[y.go:5-6]';
  assert.deepEqual(splitCitations(text).flatMap((part) => part.id ?? []), ['z.go:3-4', 'y.go:5-6']);
  assert.equal(splitCitations(text).map((part) => part.text).join(''), text, 'nothing is lost');
});

test('no text is lost, whatever it holds', () => {
  let seed = 7;
  const next = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const pieces = ['`', '```', '\n', '[a.go:1-2]', '[', ']', '(file:///a)', ' ', 'x', '~~~', '```go\n'];
  for (let i = 0; i < 2000; i++) {
    const text = Array.from({ length: next(12) }, () => pieces[next(pieces.length)]!).join('');
    assert.equal(splitCitations(text).map((part) => part.text).join(''), text);
  }
});

test('moved lines are found, the nearest first', () => {
  const lines = ['a', 'x', 'y', 'b', 'x', 'y', 'c'];
  assert.equal(relocate(lines, 2, 'x\ny'), 2);
  assert.equal(relocate(lines, 4, 'x\ny'), 5);
  assert.equal(relocate(lines, 7, 'x\ny'), 5);
  assert.equal(relocate(lines, 100, 'a'), 1);
  assert.equal(relocate(lines, 1, 'z'), undefined);
  assert.equal(relocate(lines, 6, 'c\nd'), undefined);
});
