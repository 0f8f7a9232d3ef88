// The real pi, against a scripted model on this machine.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';
import { offline, programsOf, scriptedModel, Workbench } from './world.mjs';

const script = {
  chunk: [4, 20],
  turns: [
    { steps: [{ text: 'I write the file.' }, { tool: { name: 'write', args: { path: 'hello.txt', content: 'hello\n' } } }] },
    { text: 'It is there. Next time I check it.' },
    { steps: [{ text: 'Now the check.' }, { tool: { name: 'bash', args: { command: 'cat hello.txt; echo hello > shell.txt' } } }] },
    { text: 'It says hello. <promise>DONE</promise>' },
  ],
};

let model;
before(async () => (model = await scriptedModel(script)));
after(() => model?.stop());

test('the real pi works in the editor until it keeps its promise', { timeout: 1_800_000 }, async () => {
  const models = { providers: { fake: {
    baseUrl: model.url, api: 'anthropic-messages', apiKey: 'fake',
    models: [{ id: 'fake-model', contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }],
  } } };
  const w = await Workbench.open({
    programs: programsOf('pi-0.87'),
    home: { '.pi/agent/models.json': JSON.stringify(models) },
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1', ...offline },
    machine: { 'ralph.backend': 'pi', 'ralph.backendArgs': ['--provider', 'fake', '--model', 'fake-model'] },
    settings: { 'ralph.transcript.openOnStart': true },
    keybindings: [{ key: 'ctrl+alt+r', command: 'ralph.start', args: { prompt: 'Write hello.txt', completionPromise: 'DONE', maxIterations: 5 } }],
  });
  try {
    await w.step('real pi', async () => {
      await w.run('Ralph: Focus on Loops View');
      await w.page.keyboard.press('Control+Alt+r');
      await w.statusIs(/Ralph done · \$0\.\d+/);
      await w.transcriptRow('done: DONE').waitFor();
      for (const row of ['cat hello.txt', /shell\.txt\s*\+1 -0/, /All changes\s*2 files/]) await w.treeRow(row).waitFor();
      assert.equal(fs.readFileSync(w.file('hello.txt'), 'utf8'), 'hello\n');
      await w.screenshot('real-pi');
    });
  } finally {
    await w.close();
  }
});
