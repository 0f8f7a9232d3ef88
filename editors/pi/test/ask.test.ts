import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExtensionUIContext } from '@earendil-works/pi-coding-agent';
import { Questions } from '../src/ask.ts';

/** Questions with the dialogs that they have opened. */
function asking() {
  const opened: string[] = [];
  const questions = new Questions({ select: async (title: string) => { opened.push(title); } } as unknown as ExtensionUIContext);
  const ask = async (title: string, moot = new AbortController()) => {
    await questions.wait(moot.signal);
    await questions.choose(title, [], moot.signal);
  };
  return { questions, opened, ask };
}

test('what asks by itself opens no dialog until its user comes', async () => {
  const { questions, opened, ask } = asking();
  const first = ask('first'), second = ask('second');
  await new Promise(setImmediate);
  assert.deepEqual(opened, []);
  assert.ok(questions.come());
  await first;
  assert.deepEqual(opened, ['first']);
  assert.ok(questions.come());
  await second;
  assert.deepEqual(opened, ['first', 'second']);
  assert.ok(!questions.come());
});

test('what is moot waits no more', async () => {
  const { questions, opened, ask } = asking();
  const moot = new AbortController();
  const asked = ask('raise it?', moot);
  moot.abort();
  await asked;
  assert.ok(!questions.come());
  assert.deepEqual(opened, []);
});

test('what its user has come for is asked at once', async () => {
  const { questions, opened, ask } = asking();
  questions.isExpected = true;
  await ask('again');
  assert.deepEqual(opened, ['again']);
  void ask('another');
  await new Promise(setImmediate);
  assert.deepEqual(opened, ['again']);
});
