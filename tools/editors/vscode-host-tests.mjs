#!/usr/bin/env node
// Runs an extension's mocha tests inside the real extension host of the VS Code server:
//
//   vscode-host-tests.mjs --extension DIR --tests FILE.cjs --out DIR [--vscode 1.139|1.100] [--workspace DIR|FILE]
//                         [--machine JSON] [--settings JSON] [--programs DIR]
//
// The workbench is told by its URL to load the extension as under development and to run the tests. FILE exports
// run(), and appends its report to the file $RALPH_TEST_REPORT, because the host's console can't be seen from here.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { tell } from './lib/fell.mjs';
import { installation, scratch, startBrowser, startServer } from './lib/vscode.mjs';

const { values: o } = parseArgs({ options: {
  vscode: { type: 'string', default: '1.139' }, extension: { type: 'string' }, tests: { type: 'string' }, out: { type: 'string' },
  workspace: { type: 'string' }, machine: { type: 'string', default: '{}' }, settings: { type: 'string', default: '{}' },
  programs: { type: 'string' }, timeout: { type: 'string', default: '1800000' },
} });
if (!o.extension || !o.tests || !o.out) {
  console.error('vscode-host-tests: --extension, --tests and --out are needed');
  process.exit(2);
}

const out = path.resolve(o.out);
fs.mkdirSync(out, { recursive: true });
const report = path.join(out, 'report.txt');
fs.rmSync(report, { force: true });
const vscode = installation(o.vscode);
const work = scratch();
let server, browser, page;
let code = 1;
try {
  server = await startServer({
    vscode, work, log: path.join(out, 'server.log'), machine: JSON.parse(o.machine), settings: JSON.parse(o.settings),
    env: { RALPH_TEST_REPORT: report }, programs: o.programs && path.resolve(o.programs),
    // Without it, a built workbench (of 1.139; 1.100 doesn't have the option) ignores which tests the URL names.
    options: o.vscode === '1.100' ? [] : ['--vscode-option', 'enable-smoke-test-driver'],
  });
  const started = await startBrowser(vscode);
  browser = started.browser;
  page = await started.context.newPage();
  const done = new Promise((resolve, reject) => {
    void page.exposeFunction('codeAutomationExit', resolve);
    setTimeout(() => reject(new Error(`the tests did not end within ${o.timeout} ms`)), Number(o.timeout)).unref();
  });
  const uri = (file) => `vscode-remote://${new URL(server.url).host}${path.resolve(file)}`;
  const payload = [['extensionDevelopmentPath', uri(o.extension)], ['extensionTestsPath', uri(o.tests)], ['enableProposedApi', '']];
  const workspace = path.resolve(o.workspace ?? work.dir('workspace'));
  const opened = workspace.endsWith('.code-workspace') ? 'workspace' : 'folder';
  await page.goto(`${server.url}/?${opened}=${encodeURIComponent(workspace)}&payload=${encodeURIComponent(JSON.stringify(payload))}`, { waitUntil: 'domcontentloaded' });
  code = await done;
  if (!fs.existsSync(report)) throw new Error('the tests never started');
} catch (e) {
  console.error(`vscode-host-tests: ${e.message}`);
  tell('the extension host', e.message);
  code = 1;
} finally {
  const said = fs.existsSync(report) ? fs.readFileSync(report, 'utf8') : '';
  process.stdout.write(said);
  for (const [, name, message] of said.matchAll(/^FAIL (.*)\n((?: +.*\n)*)/gm)) tell(name, message);
  if (code !== 0) await page?.screenshot({ path: path.join(out, 'failure.png') }).catch(() => {});
  await browser?.close().catch(() => {});
  await server?.stop();
  work.remove();
}
process.exit(code);
