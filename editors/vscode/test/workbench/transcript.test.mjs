// The transcript as its reader has it: keys, clicks, and what is in the page.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, it as test } from 'node:test';
import { until, Workbench } from './world.mjs';

const hostile = [
  'Look at **this**:', '<script>window.evil = 1</script>', '<img src=x onerror="window.evil = 2">', '![p](http://127.0.0.1:9/p.png)', '[click](javascript:window.evil=3)',
  '[run](command:workbench.action.closeActiveEditor)', '[secret](file:///etc/passwd)', '[out](../../etc/passwd)', '![chart](chart.svg)', 'see https://example.invalid/a', '\u202edesrever\u202c \u001b[31mred\u001b[0m',
].join('\n\n');

describe('the transcript', { timeout: 1_800_000 }, () => {
  let w;
  let t;
  before(async () => {
    w = await Workbench.open({
      files: {
        'do-1.sh': 'echo "src.txt:2: wrong"; seq -f "number %.0f" 1 50000; echo "a NEEDLE in it"\n', 'say-1.md': hostile, 'src.txt': 'one\ntwo\nthree\n',
        'chart.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30"><rect width="60" height="30" fill="teal"/></svg>',
        'do-2.sh': 'while [ -f hold ]; do sleep 0.1; done; echo changed >> src.txt\n', hold: '', '.gitignore': 'hold\n',
      },
      settings: { 'ralph.transcript.openOnStart': true },
      keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'do 2', completionPromise: 'DONE' } }, { key: 'ctrl+alt+w', command: 'ralph.start', args: { prompt: 'wait' } }],
    });
    t = w.transcript();
  });
  after(() => w?.close());
  const it = (name, body) => test(name, () => w.step(name, body));
  const view = () => t.locator('#view');
  const active = () => t.locator('.row:focus');
  const tab = (name) => w.page.locator('.tabs-container .tab').filter({ hasText: name });

  it('has a header for each iteration, and the tool that runs with its time', async () => {
    await w.run('Ralph: Focus on Loops View');
    await w.key('Control+Alt+r');
    await t.getByRole('feed', { name: /^Transcript: / }).waitFor();
    const running = t.getByRole('article', { name: /^bash, sh do-2.sh, running/ });
    await running.waitFor();
    await until('the time', async () => /^[1-9]\d*s$/.test(await running.locator('.time').textContent()));
    await t.getByRole('article', { name: /^Iteration 1, ok · \$/ }).waitFor();
    await t.locator('#status').filter({ hasText: 'sh do-2.sh' }).waitFor();
  });

  it("shows an agent's text, and nothing in it does anything", async () => {
    await w.transcriptRow('Look at this').waitFor();
    await w.transcriptRow('<script>window.evil = 1</script>').waitFor();
    const found = await view().evaluate((e) => ({
      evil: window.evil, elements: e.querySelectorAll('script, img:not([src$="/chart.svg"]), iframe, [href], :not(img)[src], [onerror], [style*=url]').length,
      links: [...e.querySelectorAll('.markdown a')].map((a) => a.dataset.path ?? a.dataset.web), text: e.textContent,
    }));
    assert.equal(found.evil, undefined);
    assert.equal(found.elements, 0);
    assert.deepEqual(found.links, ['http://127.0.0.1:9/p.png', '../../etc/passwd', 'chart.svg', 'https://example.invalid/a']);
    assert.doesNotMatch(found.text, /[\u202e\u001b]/);
    const tabs = await tab('').count();
    for (const words of ['run', 'out']) await t.locator('.markdown').getByText(words, { exact: true }).click();
    await w.page.locator('.statusbar').filter({ hasText: '../../etc/passwd is no file of the folder' }).waitFor();
    assert.equal(await tab('').count(), tabs);
  });

  it('shows a picture of the folder, and asks before it goes into the web', async () => {
    const picture = t.getByRole('img', { name: 'chart' });
    await until('the picture', () => picture.evaluate((e) => e.naturalWidth === 60));
    await w.screenshot('picture');
    await picture.click();
    await tab('chart.svg').waitFor();
    await tab('do 2').click();
    await t.getByRole('link', { name: 'https://example.invalid/a' }).click();
    const dialog = w.page.getByRole('dialog').filter({ hasText: 'external website' });
    await dialog.filter({ hasText: 'https://example.invalid/a' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
  });

  it('leaves the end to whoever turns the wheel, and comes back to it', async () => {
    const pill = t.getByRole('button', { name: 'Follow' });
    assert.equal(await pill.isVisible(), false);
    await t.getByRole('article', { name: /^bash, sh do-1.sh/ }).locator('.fold').click();
    await t.getByRole('button', { name: /^Show \d+ more lines/ }).click();
    await view().hover();
    await w.page.mouse.wheel(0, -300);
    await pill.waitFor();
    fs.rmSync(w.file('hold'));
    await w.statusIs(/Ralph done/);
    await pill.waitFor();
    await pill.click();
    await w.transcriptRow('done: DONE').waitFor();
    await until('the end', () => view().evaluate((e) => e.scrollTop + e.clientHeight >= e.scrollHeight - 2));
  });

  it('is read by keys alone', async () => {
    await view().focus();
    await w.page.keyboard.press('Home');
    await until('the first row', async () => /^You: do 2/.test(await active().getAttribute('aria-label').catch(() => '')));
    for (;;) {
      const row = await active().getAttribute('data-key');
      if (/do-1/.test(await active().getAttribute('aria-label'))) break;
      await w.page.keyboard.press('j');
      await until('the next row', async () => (await active().getAttribute('data-key')) !== row);
    }
    assert.equal(await active().locator('.fold').getAttribute('aria-expanded'), 'true');
    await w.page.keyboard.press('Enter');
    await until('it is closed', async () => (await active().locator('.fold').getAttribute('aria-expanded')) === 'false');
    await w.page.keyboard.press('n');
    await until('the next iteration', async () => /Iteration 2/.test(await active().getAttribute('aria-label')));
    await w.page.keyboard.press('p');
    await until('the one before', async () => /Iteration 1/.test(await active().getAttribute('aria-label')));
  });

  it('finds what is in no row that is open', async () => {
    await w.page.keyboard.press('Control+f');
    await t.getByRole('search').locator('input').fill('needle');
    await t.locator('.count').filter({ hasText: '1 of 1' }).waitFor();
    await t.locator('.tool .output').filter({ hasText: 'a NEEDLE in it' }).waitFor();
    await w.screenshot('find');
    await t.getByRole('search').locator('input').fill('nowhere');
    await t.locator('.count').filter({ hasText: 'No results' }).waitFor();
    await w.page.keyboard.press('Escape');
    await t.getByRole('search').waitFor({ state: 'hidden' });
  });

  it('opens all of an output that is too long to be shown', async () => {
    await w.transcriptRow('lines left out').getByRole('button', { name: 'Open Whole Output' }).click();
    await w.editorShows('src.txt:2: wrong');
    await w.focusEditor();
    await w.page.keyboard.press('Control+End');
    await w.editorShows('number 50000');
    await tab('do 2').first().click(); // it comes back to that call
  });

  it('opens the file at the line that an output names', async () => {
    await t.locator('.output a', { hasText: 'src.txt:2' }).click();
    await tab('src.txt').waitFor();
    await w.page.locator('.statusbar').filter({ hasText: 'Ln 2, Col 1' }).waitFor();
  });

  it('goes to the iteration that is picked, and shows what it changed', async () => {
    await tab('do 2').first().click();
    await view().press('g');
    await w.choose('Iteration 2');
    await until('the header', async () => /Iteration 2/.test(await active().getAttribute('aria-label').catch(() => '')));
    await t.getByRole('article', { name: /^Iteration 2/ }).getByRole('button', { name: '1 file +1 -0' }).click();
    await tab('Iteration 2').waitFor();
  });

  it('is there as text', async () => {
    await tab('do 2').first().click();
    await t.getByRole('button', { name: 'Open as Text' }).click();
    await w.editorShows('## Iteration 1 of 50');
  });

  it('is back after a reload of the window', async () => {
    await tab('do 2').first().click();
    await t.locator('.row:not(.unread)').first().waitFor(); // its page is made again
    await view().press('Home');
    const isAtTheTop = () => t.locator('.row.user').first().evaluate((e) => Math.abs(e.getBoundingClientRect().top - e.closest('#view').getBoundingClientRect().top) < 2);
    await until('the beginning', isAtTheTop);
    await w.page.evaluate(() => (window.isOld = true));
    await w.run('Developer: Reload Window'); // that way the window keeps what it knows
    await w.page.waitForFunction(() => !window.isOld);
    await t.getByRole('feed', { name: /^Transcript: / }).waitFor();
    await t.locator('.iteration').filter({ hasText: 'Iteration 1' }).waitFor();
    await until('the same place', isAtTheTop);
  });

  it("has buttons for its own loop only, and none of another's", async () => {
    await t.getByRole('feed', { name: /^Transcript: / }).focus();
    await w.page.keyboard.press('Control+Alt+w');
    await w.statusIs(/Ralph 1\/50/);
    await w.run('View: Move Editor into Right Group'); // a second transcript opens in the group of the first
    const pages = w.page.locator('iframe.webview.ready:visible');
    await until('both transcripts', async () => (await pages.count()) === 2);
    const [done, works] = [0, 1].map((n) => pages.nth(n).contentFrame().frameLocator('#active-frame'));
    await works.getByRole('button', { name: 'Next iteration', exact: true }).waitFor();
    await done.locator('#status').filter({ hasText: 'done' }).waitFor();
    assert.deepEqual(await done.locator('#actions button').allTextContents(), ['Review changes', 'Undo changes...']);
    assert.equal(await w.page.locator('.editor-actions').getByRole('button', { name: /Next Iteration/ }).count(), 0);
    await w.screenshot('two-transcripts');
    const agents = w.agents();
    await works.getByRole('button', { name: 'Next iteration', exact: true }).click();
    await until('another agent', () => w.agents().length > 0 && !w.agents().some((agent) => agents.includes(agent)));
    await w.run('Ralph: Cancel Loop');
    await until('only those of a loop that is over are left', async () => (await works.locator('#actions button').allTextContents()).join() === 'Review changes,Undo changes...,Start again');
    await w.statusIs(/Ralph cancelled/); // its last process may still be ending
  });

  it('says that it is old when the extension is gone, and runs no clock on', async () => {
    await w.run('View: Close All Editors');
    await w.key('Control+Alt+w');
    const running = t.locator('.in_progress');
    await running.waitFor();
    assert.equal(w.extensionHosts().length, 1);
    process.kill(w.extensionHosts()[0], 'SIGSTOP'); // as one that hangs; of one that ends VS Code makes another
    try {
      await t.locator('#status').filter({ hasText: 'No longer followed' }).waitFor();
      await w.screenshot('stale');
      assert.deepEqual([await running.locator('.time').isVisible(), await t.locator('#actions').isVisible()], [false, false]);
    } finally {
      process.kill(w.extensionHosts()[0], 'SIGCONT');
    }
    await t.locator('#status').filter({ hasText: '1/50' }).waitFor();
    await running.locator('.time').filter({ hasText: /\d/ }).waitFor();
  });

  it('is followed again, with what was being written, after the extension has ended', async () => {
    await t.locator('#composer textarea').fill('half a thought');
    await t.getByRole('button', { name: 'Go to Iteration...' }).click();
    await w.row('Iteration 1').waitFor(); // the extension has heard of the draft, too
    await w.page.keyboard.press('Escape');
    await t.locator('body').evaluate((body) => body.classList.add('of-before'));
    process.kill(w.extensionHosts()[0], 'SIGKILL'); // VS Code makes another
    await t.locator('body:not(.of-before) #status').filter({ hasText: '1/50' }).waitFor();
    await t.locator('.in_progress .time').filter({ hasText: /\d/ }).waitFor();
    await until('the draft', async () => (await t.locator('#composer textarea').inputValue()) === 'half a thought');
    assert.equal(await w.page.locator('.tabs-container .tab').count(), 1);
  });
});
