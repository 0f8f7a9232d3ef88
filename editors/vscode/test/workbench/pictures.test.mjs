// A loop in the dark. PICTURES=1 makes those of the README, also in the light.
import fs from 'node:fs';
import { test } from 'node:test';
import { notes, until, Workbench } from './world.mjs';

for (const colorScheme of process.env.PICTURES ? ['light', 'dark'] : ['dark']) {
  test(`a loop at work, ${colorScheme}`, { timeout: 1_800_000 }, async () => {
    const w = await Workbench.open({
      colorScheme, viewport: { width: 1100, height: 640 }, files: { 'PROMPT.md': 'count 3\n', 'notes.txt': notes, 'hold-2-bash': '', 'hold-2-edit': '', '.gitignore': 'hold-*\n' },
      settings: { 'ralph.transcript.openOnStart': true, 'editor.minimap.enabled': false, 'editor.lineNumbers': 'off' },
      keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { promptFile: 'PROMPT.md', completionPromise: 'DONE', maxIterations: 5 } }],
    });
    const goOn = (tool) => fs.rmSync(w.file(`hold-2-${tool}`)); // the agent has waited to be looked at
    try {
      await w.step(`picture ${colorScheme}`, async () => {
        await w.newPrompt();
        await w.page.keyboard.insertText('Make the steps of @notes.txt pass, one after another.\nWhen all are done, output <promise>DONE</promise>.\n');
        await w.lens('DONE (from the prompt)').waitFor();
        if (colorScheme === 'dark') {
          await w.run('Ralph: What Will Run...');
          await w.row('Permissions').waitFor();
          await until('a list that has faded in', () => w.page.evaluate(() => document.getAnimations().every((a) => a.playState !== 'running' || a.effect.getTiming().iterations === Infinity)));
        }
        await w.screenshot(`start-${colorScheme}`, { x: 0, y: 0, width: 1100, height: 300 });
        await w.page.keyboard.press('Escape');
        await w.run('View: Close Editor');
        await w.run('Ralph: Focus on Loops View');
        await w.key('Control+Alt+r');
        await w.statusIs(/Ralph 2\/5 · \$/);
        await w.treeRow('Iteration 2').waitFor();
        await w.transcriptRow('The tests first, for the 2. time.').waitFor();
        await w.status().hover();
        await w.page.locator('.monaco-hover').filter({ hasText: 'Iteration 1' }).first().waitFor();
        await w.screenshot(`tooltip-${colorScheme}`);
        await w.page.mouse.move(700, 300);
        goOn('bash');
        await w.transcriptRow('Step 2 is next').waitFor();
        const article = (name) => w.transcript().getByRole('article', { name });
        for (const name of [/^bash, .*failed/, /^edit, .*completed/]) await article(name).first().locator('.fold').click();
        await article(/^edit, .*completed/).first().locator('.diff del').waitFor();
        await w.screenshot(`running-${colorScheme}`);
        goOn('edit');
        await w.statusIs(/Ralph done/);
        await w.treeRow('done · $2.79').waitFor();
        await w.screenshot(`tree-${colorScheme}`, await w.page.locator('.part.sidebar').boundingBox().then((b) => ({ ...b, height: 300 })));
        await w.openRow('notes.txt', w.page.locator('.monaco-diff-editor .line-delete'));
        await w.screenshot(`diff-${colorScheme}`);
      });
    } finally {
      await w.close();
    }
  });
}
