import assert from 'node:assert/strict';
import test from 'node:test';

import { latest } from '../../src/latest';

test('what an earlier call makes late does not take the place of what a later one made', async () => {
  const ends: ((made: string) => void)[] = [];
  const used: string[] = [];
  const run = latest(() => new Promise<string>((resolve) => ends.push(resolve)), (made) => used.push(made));
  const first = run();
  const second = run();
  ends[1]!('new');
  await second;
  ends[0]!('old');
  await first;
  assert.deepEqual(used, ['new']);
  const third = run();
  ends[2]!('newest');
  await third;
  assert.deepEqual(used, ['new', 'newest']);
});

test('an earlier call that ends first waits for nothing and is not used', async () => {
  const ends: ((made: number) => void)[] = [];
  const used: number[] = [];
  const run = latest(() => new Promise<number>((resolve) => ends.push(resolve)), (made) => used.push(made));
  const both = [run(), run()];
  ends[0]!(1);
  await both[0];
  assert.deepEqual(used, []);
  ends[1]!(2);
  await both[1];
  assert.deepEqual(used, [2]);
});
