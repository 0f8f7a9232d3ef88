// A loop of a fleet: the bus and a worker are processes of this machine, as on any other.
import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { extension, notes, until, Workbench } from './world.mjs';

const program = path.join(path.dirname(process.env.RALPH_LSP), 'ralph-fleet');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-fleet-'));
const env = { ...process.env, HOME: dir, XDG_STATE_HOME: path.join(dir, 'state'), XDG_CONFIG_HOME: path.join(dir, 'config'), PATH: `${path.join(extension, 'test/agent')}:${process.env.PATH}` };
const started = [];
let bus;

/** Starts a part of the fleet, and returns what it logs when it is ready. */
async function part(ready, ...args) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  started.push(child);
  for await (const line of createInterface(child.stderr)) {
    if (!line.includes(ready)) continue;
    child.stderr.resume();
    return line;
  }
  throw new Error(`ralph-fleet ${args[0]} ended`);
}
const fleet = (...args) => promisify(execFile)(program, [...args, '--bus', bus], { env });

before(async () => {
  bus = /url=(\S+)/.exec(await part('the bus is ready', 'serve', '--dir', path.join(dir, 'bus'), '--listen', '127.0.0.1:0'))[1];
  await part('msg=ready', 'worker', '--bus', bus, '--name', 'box-1', '--sandbox', 'off', '--dir', path.join(dir, 'worker'));
});
after(async () => {
  for (const child of started.reverse()) {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
  }
  fs.rmSync(dir, { recursive: true, maxRetries: 5 });
});

test('a loop of a fleet is followed, steered and fetched as one of this machine', { timeout: 1_800_000 }, async () => {
  const w = await Workbench.open({
    viewport: { width: 1100, height: 640 }, machine: { 'ralph.fleet.bus': bus }, env: { XDG_STATE_HOME: env.XDG_STATE_HOME }, // where the bus's token is
    files: { 'notes.txt': notes, 'hold-2-bash': '', '.gitignore': '' },
  });
  const git = (...args) => execFileSync('git', args, { cwd: w.folder, encoding: 'utf8' }).trim();
  try {
    git('init', '-q', '-b', 'main');
    git('config', 'user.name', 'Ann');
    git('config', 'user.email', 'ann@example.com');
    git('add', '-A');
    git('commit', '-qm', 'first');
    await w.step('it is there', async () => {
      await fleet('submit', '--repo', w.folder, '--name', 'steps', '--backend', 'pi', '--max-iterations', '5', '--completion-promise', 'DONE', 'count 2');
      await w.run('Ralph: Focus on Loops View');
      await w.treeRow('box-1').waitFor();
      await w.statusIs(/Ralph [12]\/5/);
      await w.run('Ralph: Show Output');
      await w.transcriptRow('The tests first, for the 2. time.').waitFor();
      await w.treeRow('box-1').locator('.monaco-tl-twistie').click();
      await w.treeRow('Iteration 2').waitFor();
      await w.screenshot('fleet-running');
    });
    await w.step('it is told something, and pauses', async () => {
      await w.run('Ralph: Steer...');
      await w.answer('What should the agent know?', 'Mind the parser');
      await w.run('Ralph: Pause');
      await w.statusIs(/pausing|pauses|paused/);
    });
    await w.step('it goes on to its end', async () => {
      await w.run('Ralph: Resume');
      fs.rmSync(execFileSync('find', [path.join(dir, 'worker'), '-name', 'hold-2-bash'], { encoding: 'utf8' }).trim());
      await w.transcriptRow('All steps are done').waitFor();
      await w.statusIs(/done/);
      await w.screenshot('fleet-done');
    });
    await w.step('a file that it changed opens as it is here, which is said', async () => {
      const article = w.transcript().getByRole('article', { name: /^edit, .*completed/ }).last();
      await article.locator('.fold').click();
      await article.getByText('notes.txt:1').click();
      await w.page.locator('.statusbar').getByText('notes.txt as it is here; box-1 has its own').waitFor();
    });
    await w.step('what it changed is seen, and comes as a branch', async () => {
      await w.openRow('notes.txt+1 -1', w.page.locator('.monaco-diff-editor .line-delete'));
      await w.screenshot('fleet-diff');
      await w.run('Ralph: Fetch What a Fleet Loop Did');
      await w.told('ralph/steps');
      assert.match(git('show', 'ralph/steps:notes.txt'), /step 2: done/);
      assert.equal(fs.readFileSync(w.file('notes.txt'), 'utf8'), notes);
    });
  } finally {
    await w.close();
  }
});
