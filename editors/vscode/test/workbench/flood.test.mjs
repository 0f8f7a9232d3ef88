// 100,000 pieces of text at once: what the user types comes through. How long it takes is a figure of make bench.
import { test } from 'node:test';
import { until, Workbench } from './world.mjs';

test('what is typed while an agent floods is seen', { timeout: 1_800_000 }, async () => {
  const w = await Workbench.open({
    files: { 'draft.txt': '' }, settings: { 'editor.quickSuggestions': { other: 'off' }, 'ralph.transcript.openOnStart': true },
    keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'flood 100000', completionPromise: 'DONE' } }],
  });
  try {
    await w.step('flood', async () => {
      await w.openFile('draft.txt');
      const before = await typing(w.page, '');
      await w.page.keyboard.press('Control+Alt+r');
      await w.page.locator('.tab').filter({ hasText: 'flood 100000' }).first().waitFor();
      const inBox = await typingIn(w.page, w.transcript().locator('#composer textarea'));
      await w.page.keyboard.press('Control+1');
      await until('the keys in the editor', () => w.page.evaluate(() => Boolean(document.activeElement?.closest('.editor-instance'))));
      const during = await typing(w.page, letters);
      await w.screenshot('flood');
      await until('the end', async () => /Ralph done/.test(await w.status().textContent()));
      if (process.env.RALPH_BENCH) console.log(`100,000 events in VS Code, key to paint: ${before.p95} ms without, ${during.p95} ms during the flood (p95; median ${before.median} and ${during.median} ms), ${inBox.p95} ms in its box (p95; median ${inBox.median} ms)`);
    });
  } finally {
    await w.close();
  }
});

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
      setTimeout(() => reject(new Error(`${wanted} was not painted`)), 60_000);
      let pressed;
      addEventListener('keydown', () => (pressed = performance.now()), { capture: true, once: true });
      const look = () => (shown() ? resolve(performance.now() - pressed) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    });
  }, text);
  await page.keyboard.press(text.at(-1));
  return page.evaluate(() => window.ralphPainted);
}
