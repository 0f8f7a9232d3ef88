// Large amounts: of a long session's transcript only what is looked at is read, and while 100,000 pieces of text
// come at once, what the user types comes through. How long that takes are figures of make bench.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { notes, until, Workbench } from './world.mjs';

const bench = Boolean(process.env.RALPH_BENCH);
const iterations = bench ? 1000 : 200;

let w;
before(async () => {
  w = await Workbench.open({
    files: { 'notes.txt': notes, 'a.txt': '' }, settings: { 'editor.quickSuggestions': { other: 'off' } },
    keybindings: [
      { key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'count 2', completionPromise: 'DONE' } },
      { key: 'ctrl+alt+s', command: 'ralph.showOutput' },
      { key: 'ctrl+alt+o', command: 'ralph.showOutput', args: { loopId: 'ralph-long' } },
      { key: 'ctrl+alt+w', command: 'workbench.action.closeActiveEditor' },
      { key: 'ctrl+alt+j', command: 'ralph.transcript.reveal', args: { loopId: 'ralph-long', iteration: 77 } },
      { key: 'ctrl+alt+f', command: 'ralph.start', args: { prompt: 'flood 100000', completionPromise: 'DONE' } },
    ],
  });
});
after(() => w?.close());

test('a long session is shown at its end, and anywhere', { timeout: 1_800_000 }, async () => {
  await w.step('long', async () => {
    await w.openFile('a.txt');
    await w.key('Control+Alt+r');
    await w.statusIs(/Ralph done/);
    const bytes = writeLong(w.work.root);
    assert.ok(bytes > iterations * 100_000, `a long loop has ${bytes} bytes`);
    const [short, long] = [await opening(w, 's', 'done: DONE'), await opening(w, 'o', 'The last line')];
    if (bench) console.log(`key to the end of a transcript in VS Code: ${long} ms with ${Math.round(bytes / 1e6)} MB, ${short} ms with 10 kB (medians of 5)`);
    await w.page.keyboard.press('Control+Alt+o');
    await w.transcriptRow('The last line').waitFor();
    await w.screenshot('long-end');
    const rows = () => w.transcript().locator('.row').count();
    assert.ok(await rows() < 200, `${await rows()} rows are in the page`);
    await w.page.keyboard.press('Control+Alt+j');
    await w.transcriptRow('Iteration 77').waitFor();
    await w.transcriptRow('77 are done').waitFor();
    await w.transcript().locator('#view').press('Home');
    await w.transcriptRow('Iteration 1').waitFor();
    assert.ok(await rows() < 200, `${await rows()} rows are in the page`);
    await w.transcript().locator('#view').press('f');
    await w.transcriptRow('The last line').waitFor();
    await until('the end', () => w.transcriptRow('The last line').isVisible());
  });
});

test('what is typed while an agent floods is seen', { timeout: 1_800_000 }, async () => {
  await w.enter('flood', { 'draft.txt': '' });
  await w.step('flood', async () => {
    await w.openFile('draft.txt');
    const before = await typing(w.page, '');
    await w.page.keyboard.press('Control+Alt+f');
    await w.page.locator('.tab').filter({ hasText: 'flood 100000' }).first().waitFor();
    const inBox = await typingIn(w.page, w.transcript().locator('#composer textarea'));
    await w.page.keyboard.press('Control+1');
    await until('the keys in the editor', () => w.page.evaluate(() => Boolean(document.activeElement?.closest('.editor-instance'))));
    const during = await typing(w.page, letters);
    await w.screenshot('flood');
    await until('the end', async () => /Ralph done/.test(await w.status().textContent()));
    if (process.env.RALPH_BENCH) console.log(`100,000 events in VS Code, key to paint: ${before.p95} ms without, ${during.p95} ms during the flood (p95; median ${before.median} and ${during.median} ms), ${inBox.p95} ms in its box (p95; median ${inBox.median} ms)`);
  });
});

/** Opens a transcript by a key, again and again, and returns the median milliseconds until its last row is there. */
async function opening(w, key, last) {
  const times = [];
  for (let i = 0; i < (bench ? 5 : 1); i++) {
    await until('the keys outside of pages', () => w.page.evaluate(() => document.activeElement?.tagName !== 'IFRAME'));
    const start = Date.now();
    await w.page.keyboard.press(`Control+Alt+${key}`);
    await w.transcriptRow(last).waitFor();
    times.push(Date.now() - start);
    await w.page.keyboard.press('Control+Alt+w');
    await w.page.locator('.tab.active').filter({ hasText: 'Ralph' }).waitFor({ state: 'detached' });
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/** Makes a long loop beside the one that is there: its file and session, for the list, and its journal. Returns the journal's size. */
function writeLong(root) {
  const all = fs.readdirSync(root, { recursive: true }).map((name) => path.join(root, name));
  const [record] = all.filter((name) => /loops\/[0-9a-f]+-[0-9a-f]+\/loop\.json$/.test(name));
  const [journal] = all.filter((name) => /loops\/[0-9a-f]+-[0-9a-f]+\/journal\.jsonl$/.test(name));
  const { loopId: id, sessionFile: session } = JSON.parse(fs.readFileSync(record, 'utf8'));
  const named = createHash('sha256').update('ralph-long').digest('hex');
  const beside = session.replace('.jsonl', '-long.jsonl');
  fs.writeFileSync(beside, fs.readFileSync(session, 'utf8').replaceAll(id, 'ralph-long'));
  const folder = path.dirname(record).replace(/-[0-9a-f]+$/, `-${named.slice(0, 16)}`);
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.writeFileSync(path.join(folder, 'loop.json'),
    fs.readFileSync(record, 'utf8').replaceAll(id, 'ralph-long').replace(session, beside), { mode: 0o600 });

  const lines = fs.readFileSync(journal, 'utf8').replaceAll(id, 'ralph-long').trimEnd().split('\n');
  const at = lines.findIndex((l) => l.includes('"phase":"begin"'));
  const end = lines.findIndex((l) => l.includes('"phase":"end"'));
  const long = path.join(folder, 'journal.jsonl');
  const file = fs.openSync(long, 'w', 0o600);
  const output = (i) => Array.from({ length: 2000 }, (_, n) => `line ${n} of ${i}: ok ralph-lsp/stream 0.123s coverage`).join('\\n');
  fs.writeSync(file, `${lines.slice(0, at).join('\n')}\n`);
  for (let i = 1; i <= iterations; i++) {
    const body = lines.slice(at, end + 1).join('\n').replaceAll('"iteration":1', `"iteration":${i}`).replaceAll('"i":1,', `"i":${i},`);
    fs.writeSync(file, `${body.replaceAll('--- FAIL: TestStep1', output(i)).replaceAll('iteration 1 of', `iteration ${i} of`)
      .replace('2 to go', `${i}`).replace('1 to go', i === iterations ? 'The last line' : `${i} are done`)}\n`);
  }
  fs.closeSync(file);
  return fs.statSync(long).size;
}

const letters = 'abcdefghij'.repeat(8);

/** Types letters behind a line's text, and returns how long each took to be seen, in milliseconds. */
async function typing(page, line) {
  const times = [];
  for (const letter of letters) {
    line += letter;
    times.push(await keyToPaint(page, line));
  }
  return figures(times);
}

/** As typing, in the box of a transcript. */
async function typingIn(page, box) {
  await box.click();
  const times = [];
  for (const letter of letters) {
    await box.evaluate((e) => {
      window.ralphPainted = new Promise((resolve) => {
        let pressed;
        e.addEventListener('keydown', () => (pressed = performance.now()), { capture: true, once: true });
        e.addEventListener('input', () => requestAnimationFrame(() => resolve(performance.now() - pressed)), { once: true });
      });
    });
    await page.keyboard.press(letter);
    times.push(await box.evaluate(() => window.ralphPainted));
  }
  await box.fill('');
  return figures(times);
}

function figures(times) {
  times.sort((a, b) => a - b);
  const at = (part) => Math.round(times[Math.floor(part * times.length)]);
  return { median: at(0.5), p95: at(0.95) };
}

/** Types the text's last letter and returns the milliseconds until the line shows the text. */
async function keyToPaint(page, text) {
  await page.evaluate((wanted) => {
    const shown = () => [...document.querySelectorAll('.editor-instance .view-line')].some((l) => l.textContent === wanted);
    window.ralphPainted = new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error(`${wanted} was not painted`)), 300_000);
      let pressed;
      addEventListener('keydown', () => (pressed = performance.now()), { capture: true, once: true });
      const look = () => (shown() ? resolve(performance.now() - pressed) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    });
  }, text);
  await page.keyboard.press(text.at(-1));
  return page.evaluate(() => window.ralphPainted);
}
