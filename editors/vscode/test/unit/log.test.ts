// A loop's log as a page gets it, of a server that answers as the test says.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Log } from '../../src/panel/log';
import type { Update, UpdateParams } from '../../src/wire';

const say = (text: string): Update => ({ sessionUpdate: 'agent_message_chunk', messageId: 'm', content: { type: 'text', text } });
const begin = (iteration: number) => ({ sessionUpdate: '_ralph/iteration' as const, phase: 'begin' as const, iteration });

interface Read { after?: string; before?: string }

/** A log, what its listener was told, and what the server was asked. */
function logOf(read: (p: Read) => object, outline = { parts: [{ cursor: 'a', iteration: 1, bytes: 9 }, { cursor: 'b', iteration: 2, bytes: 9 }], iterations: [begin(1), begin(2)], cursor: 'c' }, isUp = () => true) {
  const told: string[] = [];
  const asked: string[] = [];
  const execute = async (id: string, p: Read): Promise<never> => {
    if (!isUp()) throw new Error('down');
    asked.push(id === 'ralph.loop.outline' ? 'outline' : `${p.after}-${p.before ?? ''}`);
    return (id === 'ralph.loop.outline' ? outline : { more: false, complete: false, cursor: 'd', updates: [], ...read(p) }) as never;
  };
  const log = new Log({ execute } as never, 'x', {
    opened: (parts) => told.push(`opened ${parts.length}`),
    tail: (updates, live) => told.push(`${live ? 'live' : 'tail'} ${updates.map((u) => ('content' in u ? (u.content as { text: string }).text : '')).join()}`),
    failed: (reason) => told.push(`failed ${reason}`),
  });
  return { log, told, asked };
}
const update = (after: string | undefined, cursor: string, ...updates: Update[]): UpdateParams => ({ loopId: 'x', after, cursor, updates });

test('what is known first can be read ahead, once for each beginning', async () => {
  const { log, told, asked } = logOf(() => ({ updates: [say('t')] }));
  log.prepare();
  log.prepare();
  assert.deepEqual([asked, told], [['outline'], []]);
  await log.open();
  assert.deepEqual([asked, told], [['outline', 'c-'], ['opened 2', 'tail t']]);
  await log.open();
  assert.deepEqual(asked, ['outline', 'c-', 'outline', 'c-']);
});

test('what could not be read ahead is asked for again', async () => {
  let isUp = false;
  const { log, told } = logOf(() => ({}), undefined, () => isUp);
  log.prepare();
  isUp = true;
  await log.open();
  assert.deepEqual(told, ['opened 2', 'tail ']);
});

test('the parts are known first, and only what is behind them is read', async () => {
  const { log, told, asked } = logOf(() => ({ updates: [say('t')] }));
  await log.open();
  assert.deepEqual([told, asked], [['opened 2', 'tail t'], ['outline', 'c-']]);
  assert.deepEqual([...log.iterations.keys()], [1, 2]);
});

test('a part is read up to the next one, in as many pages as it has', async () => {
  const { log, asked } = logOf(({ after }) => (after === 'a' ? { more: true, cursor: 'a2', updates: [say('1')] } : { cursor: 'z', updates: [say('2')] }));
  await log.open();
  assert.equal((await log.part(0))?.length, 2);
  await log.part(1);
  assert.deepEqual(asked.slice(2), ['a-b', 'a2-b', 'b-c']);
  assert.equal(await log.part(2), undefined);
});

test('what happens is passed on where it fits, and read where something is missing', async () => {
  const { log, told, asked } = logOf(({ after }) => ({ cursor: after === 'e' ? 'g' : 'd' }));
  log.take(update('d', 'e', say('before'))); // nobody listens yet
  await log.open();
  log.take(update('d', 'e', say('fits')));
  log.take({ ...update('e', 'f', say('other')), loopId: 'y' });
  log.take(update('f', 'g', say('gap')));
  await new Promise(setImmediate);
  assert.deepEqual(told, ['opened 2', 'tail ', 'live fits', 'tail ']);
  assert.deepEqual(asked, ['outline', 'c-', 'e-']);
  log.close();
  log.take(update('g', 'h', say('closed')));
  assert.equal(told.length, 4);
});

test('a log that is another one is told anew, and so is one whose tail has grown', async () => {
  let reset = true;
  const { log, told } = logOf(() => ({ reset: reset && !(reset = false) }));
  await log.open();
  await new Promise(setImmediate);
  assert.deepEqual(told, ['opened 2', 'opened 2', 'tail ']);
  log.take(update('d', 'd', say('x'.repeat(5 << 20))));
  await new Promise(setImmediate);
  assert.deepEqual(told.slice(4), ['opened 2', 'tail ']);
});

test('why nothing can be read is told', async () => {
  const { log, told } = logOf(() => {
    throw new Error('no session');
  });
  await log.open();
  assert.deepEqual(told, ['opened 2', 'failed no session']);
});
