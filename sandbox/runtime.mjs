// Runs one program behind the walls of @anthropic-ai/sandbox-runtime:
//   node runtime.mjs PACKAGE SETTINGS REFUSALS PROGRAM ARGUMENT...
// SETTINGS are the package's own; with "open", all hosts may be reached. What is refused is
// appended to the file REFUSALS, a JSON text per line. It ends as the program ends, and as 128
// and the signal's number where a signal ended it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import { pathToFileURL } from 'node:url';

const [packageFile, settings, refusals, program, ...args] = process.argv.slice(1);
const { open, ...config } = JSON.parse(settings);
const { SandboxManager } = await import(pathToFileURL(packageFile));
const asWord = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

const lost = SandboxManager.checkDependencies?.(config.ripgrep)?.errors ?? [];
if (lost.length) fail(lost.join(', '));
for (let tries = 1, up = false; !up; tries++) {
  try {
    await SandboxManager.initialize(config, open ? async () => true : undefined, true);
    up = true;
  } catch (err) { // on a busy machine it gives up too soon on what it has started
    if (tries === 5 || !err.message.includes('bridge')) fail(err.message);
  }
}
if (refusals) {
  let told = 0;
  const store = SandboxManager.getSandboxViolationStore();
  store.subscribe(() => {
    const fresh = store.getTotalCount() - told;
    told += fresh;
    if (fresh > 0) fs.appendFileSync(refusals, store.getViolations(fresh).map((v) => `${JSON.stringify(v.line)}\n`).join(''));
  });
}
let wrapped;
try {
  wrapped = await SandboxManager.wrapWithSandbox(`TMPDIR=${asWord(process.env.TMPDIR ?? '/tmp')} exec ${[program, ...args].map(asWord).join(' ')}`);
} catch (err) {
  fail(err.message);
}
const child = spawn(wrapped, { shell: '/bin/sh', stdio: 'inherit', detached: true });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => forward(signal));
child.on('error', (err) => fail(err.message));
child.on('exit', async (code, signal) => {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate); // what was seen before its end is still to be read
  SandboxManager.cleanupAfterCommand?.();
  await SandboxManager.reset?.();
  process.exit(code ?? 128 + (os.constants.signals[signal] ?? 0));
});

// A signal is for the program inside. The walls would take it along without a word.
function forward(signal) {
  const inside = below(child.pid).filter((p) => p.args.includes(program) && !p.args.includes('-c') && !/(^|\/)(bwrap|apply-seccomp|socat)$/.test(p.args[0]));
  if (!inside.length) child.kill(signal);
  for (const p of inside) {
    try {
      process.kill(p.pid, signal);
    } catch {} // it has ended
  }
}

function below(pid) {
  let names;
  try {
    names = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return []; // macOS
  }
  const all = names.flatMap((name) => {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      return [{ pid: Number(name), parent, args: fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0') }];
    } catch {
      return [];
    }
  });
  const of = (parent) => all.filter((p) => p.parent === parent).flatMap((p) => [p, ...of(p.pid)]);
  return of(pid);
}

function fail(why) {
  process.stderr.write(`sandbox-runtime: ${why}\n`);
  process.exit(126);
}
