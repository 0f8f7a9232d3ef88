const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const vscode = require('vscode');
const { extension, until, folder, setting, quiet } = require('./world.cjs');

const run = (id, argument) => vscode.commands.executeCommand(id, argument);

describe('the sidecar', () => {
  let api, scratch, usual;
  const failed = (pattern) => until(`a failure like ${pattern}`, () => api.sidecar.state.state === 'failed' && pattern.test(api.sidecar.state.reason));
  const program = (name, script) => {
    const file = path.join(scratch, name);
    fs.writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return file;
  };

  before(async () => {
    api = await extension().activate();
    usual = vscode.workspace.getConfiguration('ralph').get('server.path');
    scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-server-'));
  });
  beforeEach(() => quiet(api));
  afterEach(async () => {
    await setting('ralph.server.path', usual);
    await until('the sidecar runs again', () => api.sidecar.state.state === 'running');
  });
  after(() => fs.rmSync(scratch, { recursive: true }));

  it('is started again when it was killed, and has its loop, which has not noticed @oldest', async () => {
    const at = folder(0).toString();
    const loop = () => api.loops.status.find((l) => l.folder === at);
    await run('ralph.start', { folder: at, prompt: 'wait' });
    const { tool } = await until('the tool', () => loop()?.tool && loop());
    const before = api.sidecar.pid;
    process.kill(before, 'SIGKILL');
    await until('another process', () => api.sidecar.state.state === 'running' && api.sidecar.pid !== before);
    const now = await until('the loop', () => loop()?.tool && loop().owned && loop());
    assert.deepEqual([now.iteration, now.tool], [1, tool]);
    await run('ralph.cancel', { folder: at });
  });

  it('is waited for by a command that comes while it starts', async () => {
    const starting = new Promise((resolve) => {
      const changed = api.sidecar.onServer((s) => s.state === 'starting' && resolve(changed.dispose()));
    });
    process.kill(api.sidecar.pid, 'SIGKILL');
    await starting;
    assert.match(await api.sidecar.execute('ralph.help').then((r) => r.markdown), /Ralph/);
  });

  it('restarts on demand, and once for many requests at once', async () => {
    const before = api.sidecar.pid;
    await Promise.all([1, 2, 3, 4, 5].map(() => run('ralph.restartServer')));
    assert.equal(api.sidecar.state.state, 'running');
    assert.notEqual(api.sidecar.pid, before);
    assert.match(await run('ralph.help'), /Ralph/);
  });

  it('is said to be missing where the setting leads nowhere @oldest', async () => {
    await setting('ralph.server.path', '/nowhere/ralph-lsp');
    await failed(/no program at \/nowhere\/ralph-lsp \(setting ralph\.server\.path\)/);
  });

  it('is given up when it hangs, and the right one starts at once', async () => {
    const { answerLimit } = api.sidecar;
    const hangs = program('hangs', 'if [ "$1" = version ]; then echo "ralph-lsp 9.0.0"; else exec tail -f "$0"; fi');
    const running = () => fs.readdirSync('/proc').filter((pid) => {
      try {
        return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(hangs);
      } catch {
        return false; // no process, or one that has ended
      }
    });
    const gone = () => until('its end', () => running().length === 0);
    try {
      api.sidecar.answerLimit = 300;
      await setting('ralph.server.path', hangs);
      await failed(/hangs did not answer within 0\.3 s/);
      await gone();
      api.sidecar.answerLimit = 600_000; // from here on nothing ends by itself
      void run('ralph.restartServer');
      await until('the hanging one', () => running().length > 0);
      await setting('ralph.server.path', usual);
      await until('the right one', () => api.sidecar.state.state === 'running');
      await gone();
    } finally {
      api.sidecar.answerLimit = answerLimit;
    }
  });

  it('is not restarted by a setting while a loop runs', async () => {
    const before = api.sidecar.pid;
    const thinking = vscode.workspace.getConfiguration('ralph').get('transcript.thinking');
    await run('ralph.start', { folder: folder(0).toString(), prompt: 'wait' });
    await until('the tool', () => api.loops.status.some((l) => l.tool));
    await setting('ralph.transcript.thinking', !thinking);
    await setting('ralph.transcript.thinking', undefined);
    await setting('ralph.server.path', '/nowhere/ralph-lsp');
    await setting('ralph.server.path', usual);
    assert.match(await run('ralph.help'), /Ralph/);
    assert.equal(api.sidecar.pid, before);
    assert.ok(api.loops.status.some((l) => l.tool));
  });

  it('is ralph-fleet where there is a bus; without that program it is as ever, and the user is told', async () => {
    const { showWarningMessage } = vscode.window;
    const [told, asked] = [[], path.join(scratch, 'asked')];
    vscode.window.showWarningMessage = async (message) => void told.push(message);
    try {
      await setting('ralph.server.path', program('ralph-lsp', `exec "${usual}" "$@"`));
      await setting('ralph.fleet.bus', 'nats://127.0.0.1:1');
      await until('it is told', () => told.some((m) => m.includes(`ralph-fleet was not found, not in ${scratch} and not on PATH`)));
      assert.match(await run('ralph.help'), /Ralph/);
      program('ralph-fleet', `if [ "$1" = version ]; then echo "ralph-fleet 9.0.0 (go1.26, linux/amd64)"; else echo "$RALPH_BUS $*" > ${asked}; exec "${usual}" "$@"; fi`);
      await run('ralph.restartServer');
      assert.match(await run('ralph.help'), /Ralph/);
      assert.equal(fs.readFileSync(asked, 'utf8'), 'nats://127.0.0.1:1 --stdio\n');
      fs.rmSync(asked);
    } finally {
      vscode.window.showWarningMessage = showWarningMessage;
      await setting('ralph.fleet.bus', undefined);
    }
    await until('it runs without', () => api.sidecar.state.state === 'running');
    assert.ok(!fs.existsSync(asked));
  });

  it('is refused when it is something else', async () => {
    await setting('ralph.server.path', program('other', 'echo hello'));
    await failed(/other is not ralph-lsp/);
  });

  it('is given up after five crashes', async () => {
    const starts = path.join(scratch, 'starts');
    await setting('ralph.server.path', program('crash', `if [ "$1" = version ]; then echo "ralph-lsp 9.0.0"; else echo x >> ${starts}; exit 3; fi`));
    await failed(/5 times/);
    assert.equal(fs.readFileSync(starts, 'utf8').length, 10, 'five lines');
  });

  it('answers a command that can not be done with the reason, not with silence @oldest', async () => {
    await setting('ralph.server.path', '/nowhere/ralph-lsp');
    await failed(/nowhere/);
    await assert.rejects(api.sidecar.execute('ralph.help'), /no program at/);
  });
});
