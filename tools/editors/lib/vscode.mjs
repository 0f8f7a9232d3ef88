// The real VS Code server (see get-vscode.sh) and its workbench in a browser,
// for tests. Everything a run writes is in a temporary folder of its own.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const cache = process.env.RALPH_EDITORS_CACHE ?? path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'ralph-editors');
const startTimeout = 300_000;

// What a fresh VS Code asks, offers or looks up by itself only disturbs.
const quietSettings = {
  'workbench.startupEditor': 'none', 'workbench.tips.enabled': false, 'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true, 'telemetry.telemetryLevel': 'off', 'update.mode': 'none', 'git.enabled': false,
  'extensions.autoUpdate': false, 'extensions.autoCheckUpdates': false, 'extensions.ignoreRecommendations': true,
  'workbench.enableExperiments': false, 'workbench.reduceMotion': 'on', 'editor.cursorBlinking': 'solid', 'security.workspace.trust.startupPrompt': 'always',
};

// The extensions of VS Code itself that tests use. It has 97, and looks through them at each start and for each window.
const builtIn = ['theme-defaults', 'theme-seti', 'configuration-editing', 'markdown-basics', 'markdown-language-features', 'media-preview',
  'git', 'git-base', 'go', 'javascript', 'json', 'shellscript', 'typescript-basics', 'typescript-language-features'];

/** Where get-vscode.sh put a version: "1.139" or "1.100". */
export function installation(version) {
  const folder = path.resolve(cache, 'vscode', version);
  if (!fs.existsSync(path.join(folder, '.complete'))) throw new Error(`no VS Code at ${folder}; run get-vscode.sh ${version}`);
  return { folder, version, node: path.join(folder, 'node'), entry: path.join(folder, 'node_modules/code-server/out/node/entry.js') };
}

/** A temporary folder for one run; remove() takes it away. */
export function scratch() {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-vscode-'));
  const dir = (...parts) => {
    const d = path.join(root, ...parts);
    fs.mkdirSync(d, { recursive: true });
    return d;
  };
  return { root, dir, remove: () => fs.rmSync(root, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 }) };
}

/** Copies an extension's built folder, as an installation would. */
export function installExtension(from, extensionsDir) {
  const { publisher, name, version } = JSON.parse(fs.readFileSync(path.join(from, 'package.json'), 'utf8'));
  const skipped = new Set(['node_modules', 'src', 'test', 'out', 'scripts', '.git'].map((d) => path.join(from, d)));
  fs.cpSync(from, path.join(extensionsDir, `${publisher}.${name}-${version}`), { recursive: true, filter: (f) => !skipped.has(f) });
}

/**
 * Starts the server. settings are the user's; machine are those whose scope is
 * "machine": in the user's file a remote window would lose them by a race.
 * programs is what comes first on PATH; home has files of the home folder by name.
 * agentHost ({address, token}) serves its chat: only VS Code's own program can be told of one.
 */
export async function startServer({ vscode, work, log, settings = {}, machine = {}, env = {}, programs, home: homeFiles = {}, trust = false, options = [], agentHost }) {
  const home = work.dir('home');
  for (const [name, text] of Object.entries(homeFiles)) {
    fs.mkdirSync(path.dirname(path.join(home, name)), { recursive: true });
    fs.writeFileSync(path.join(home, name), text);
  }
  // The extension host takes its PATH from a login shell.
  if (programs) fs.writeFileSync(path.join(home, '.profile'), `PATH='${programs}':$PATH\n`);
  fs.writeFileSync(path.join(work.dir('config', 'ralph-lsp'), 'offered'), 'sandbox\n'); // else the first start may offer one
  const userData = work.dir('user-data');
  const config = path.join(work.root, 'config.yaml');
  fs.writeFileSync(config, 'bind-addr: 127.0.0.1:0\nauth: none\ncert: false\n');
  fs.writeFileSync(path.join(work.dir('user-data', 'User'), 'settings.json'), JSON.stringify({ ...quietSettings, ...settings }));
  fs.writeFileSync(path.join(work.dir('user-data', 'Machine'), 'settings.json'), JSON.stringify(machine));
  const fullEnv = {
    ...process.env, RALPH_EDITOR_GRACE: '1h', HOME: home, // a reload may take long on a busy machine
    SHELL: '/bin/bash', XDG_CONFIG_HOME: work.dir('config'), XDG_DATA_HOME: work.dir('data'),
    XDG_RUNTIME_DIR: work.root, // VS Code leaves a socket there
    EXTENSIONS_GALLERY: '{"serviceUrl":"","itemUrl":"","resourceUrlTemplate":""}', // no look-ups of the gallery's host
    ...env,
  };
  for (const key of Object.keys(fullEnv)) if (key.startsWith('VSCODE_')) delete fullEnv[key];
  const extensions = work.dir('built-in');
  for (const name of builtIn) fs.symlinkSync(path.join(vscode.folder, 'node_modules/code-server/lib/vscode/extensions', name), path.join(extensions, name));
  options = [...options, '--builtin-extensions-dir', extensions];
  const args = [vscode.entry, '--config', config, '--user-data-dir', userData, '--extensions-dir', work.dir('extensions'),
    '--disable-telemetry', '--disable-update-check', '--disable-proxy', '--disable-getting-started-override',
    ...(trust ? [] : ['--disable-workspace-trust']), ...options];
  const out = fs.createWriteStream(log);
  if (agentHost) {
    const [host, port] = agentHost.address.split(':');
    args.splice(0, args.length, path.join(vscode.folder, 'node_modules/code-server/lib/vscode/out/server-main.js'), '--host', '127.0.0.1', '--port', '0',
      '--without-connection-token', '--accept-server-license-terms', '--server-data-dir', userData, '--user-data-dir', userData, '--extensions-dir', work.dir('extensions'),
      '--agent-host-bridge-host', host, '--agent-host-bridge-port', port, '--agent-host-bridge-connection-token', agentHost.token, ...options);
  }
  // A group of its own, so that all it started can be ended together.
  const child = spawn(vscode.node, args, { env: fullEnv, cwd: work.root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const url = await listening(child, out);
  return { url, userData, stop: () => stop(child).finally(() => keepersGone(work.root)) };
}

function listening(child, out) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the VS Code server did not listen in time')), startTimeout);
    const read = (data) => {
      out.write(data);
      const m = /(?:HTTP server listening on|Web UI available at) (http:\/\/[\w.]+:\d+)/.exec(String(data));
      if (!m) return;
      clearTimeout(timer);
      resolve(m[1].replace('localhost', '127.0.0.1'));
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', (code) => reject(new Error(`the VS Code server ended with ${code}`)));
  });
}

async function stop(child) {
  const gone = new Promise((resolve) => (child.exitCode !== null || child.signalCode !== null ? resolve() : child.once('exit', resolve)));
  const signal = (name) => {
    try {
      process.kill(-child.pid, name);
    } catch {
      // the group is gone
    }
  };
  signal('SIGTERM');
  await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 3000).unref())]);
  signal('SIGKILL');
}

/** Ends the loops of the windows whose files are below a folder, as a shutdown of the machine does: each has a process of its own. */
export function endKeepers(root) {
  for (const pid of keepers(root)) {
    try {
      process.kill(pid, 'SIGTERM');
    } catch {
      // it has ended
    }
  }
}

/** The ids of the processes of loops that were started below a folder. */
function keepers(root) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      const of = (file) => fs.readFileSync(`/proc/${pid}/${file}`, 'utf8');
      return of('cmdline').startsWith('ralph-lsp-keeper\0') && of('environ').includes(root);
    } catch {
      return false; // it has ended
    }
  });
}

/** Ends them, and waits until they are gone: a loop's end is written into its folder. */
async function keepersGone(root) {
  endKeepers(root);
  for (let looks = 0; looks < 600 && keepers(root).length > 0; looks++) await new Promise((resolve) => { setTimeout(resolve, 50); });
}

/** Starts a browser whose pages reach nothing but this machine: by context.route() playwright would turn its cache off. */
export async function startBrowser(vscode, { colorScheme = 'light', viewport = { width: 1280, height: 800 } } = {}) {
  const { chromium } = createRequire(path.join(vscode.folder, 'package.json'))('playwright-core');
  const executablePath = process.env.CHROMIUM ?? ['/usr/lib/chromium/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((p) => fs.existsSync(p));
  if (!executablePath) throw new Error('no chromium found; get-vscode.sh --with-chromium installs it, or set CHROMIUM');
  const browser = await chromium.launch({ executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage',
    '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'] });
  const context = await browser.newContext({ viewport, locale: 'en-US', colorScheme, reducedMotion: 'reduce' });
  return { browser, context };
}
