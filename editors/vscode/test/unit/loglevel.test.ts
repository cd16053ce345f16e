import assert from 'node:assert/strict';
import test from 'node:test';

import { level } from '../../src/loglevel';

test('lines of the log keep their level', () => {
  assert.equal(level('time=2026-01-01T00:00:00Z level=INFO msg=index owner=true'), 'info');
  assert.equal(level('time=2026-01-01T00:00:00Z level=WARN msg="level=ERROR in a message"'), 'warn');
  assert.equal(level('level=DEBUG msg=x'), 'debug');
  assert.equal(level('time=x level=ERROR msg=x'), 'error');
  assert.equal(level('warning: environment CODERAG_X: there is no such setting'), 'warn');
  assert.equal(level('panic: runtime error'), 'error');
  assert.equal(level('what no level says'), 'info');
});
