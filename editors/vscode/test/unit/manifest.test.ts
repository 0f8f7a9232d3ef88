// What package.json and wire.ts must have in common with other files.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { limitKeys, method, protocolVersion } from '../../src/wire';

declare const ROOT: string;
const read = (...parts: string[]) => fs.readFileSync(path.join(ROOT, ...parts), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('every text of the manifest is there, and none is left over', () => {
  const used = new Set([...read('package.json').matchAll(/"%([^%"]+)%"/g)].map((m) => m[1]));
  assert.deepEqual(Object.keys(JSON.parse(read('package.nls.json'))).sort(), [...used].sort());
});

test('menus, walkthrough and welcome name commands that exist', () => {
  const known = new Set(manifest.contributes.commands.map((c: { command: string }) => c.command));
  const named = [...`${read('package.json')}${read('package.nls.json')}`.matchAll(/(?:onCommand:|\(command:|"command": ")(ralph\.[\w.]+)/g)].map((m) => m[1]);
  assert.ok(named.length > 40);
  for (const id of named) assert.ok(known.has(id), id);
});

test('no title bar of a transcript has a button: two of them may be seen, and a key of the editor knows one loop', () => {
  const buttons = manifest.contributes.menus['editor/title'] as { command: string; when: string }[];
  assert.deepEqual(buttons.filter((b) => b.when.includes('activeWebviewPanelId')).map((b) => b.command), []);
});

test('the panel is in the secondary side bar, and nowhere where there is none', () => {
  const { viewsContainers, views } = manifest.contributes;
  const [container] = viewsContainers.secondarySidebar as { id: string }[];
  assert.deepEqual((views[container!.id] as object[]).map((v) => ({ ...v, icon: '' })), [{ type: 'webview', id: 'ralph.panel', name: '%view.panel%', contextualTitle: 'Ralph', icon: '', when: 'ralph.hasPanel' }]);
  assert.ok(read('src/panel/panelView.ts').includes("'ralph.panel'"));
});

test('the palette has no command that is about a loop where there was none', () => {
  const hidden = new Set((manifest.contributes.menus.commandPalette as { command: string }[]).map((m) => m.command));
  const shown = (manifest.contributes.commands as { command: string }[]).map((c) => c.command.replace('ralph.', '')).filter((id) => !hidden.has(`ralph.${id}`));
  assert.deepEqual(shown.sort(), ['agentHost', 'doctor', 'help', 'install', 'plan', 'restartServer', 'runOnce', 'showLog', 'showStatus', 'start', 'startFromEditor']);
});

const names = JSON.parse(read('../../testdata/wire/names.json'));

test('wire.ts knows the version, and no method that the server lacks', () => {
  assert.equal(protocolVersion, names.version);
  for (const name of Object.values(method)) assert.ok(names.methods.includes(name), name);
});

test("the tools of models are the server's, and the texts with them", () => {
  const texts = JSON.parse(read('package.nls.json'));
  const copies = manifest.contributes.languageModelTools.map((tool: Record<string, string>) => ({
    name: tool.name, title: texts[tool.displayName!.replaceAll('%', '')], description: tool.modelDescription, inputSchema: tool.inputSchema,
  }));
  const tools = JSON.parse(read('../../testdata/wire/tools.json')) as { name: string; annotations: object }[];
  assert.deepEqual(copies, tools.map(({ annotations, ...tool }) => tool));
  for (const { name } of tools) assert.ok(read('src/chat.ts').includes(`'${name}'`), name);
});

test('the settings are as the keys of ralph.toml', () => {
  const { properties: keys } = JSON.parse(read('../../docs/ralph.schema.json'));
  const settings = manifest.contributes.configuration.properties;
  assert.equal(settings['ralph.promptFile'].default, keys.prompt_file.default);
  for (const name of settings['ralph.backend'].examples) assert.ok(keys.backend.examples.includes(name), name);
  const texts = JSON.parse(read('package.nls.json'));
  const inMinutes: Record<string, string> = { maxDurationMs: 'maxMinutes', idleTimeoutMs: 'idleMinutes', toolTimeoutMs: 'toolMinutes' };
  const types: Record<string, string> = { 'whole number': 'integer', 'US dollars': 'number', duration: 'number' };
  const minutes = (text: string) => Number.parseInt(text, 10) * (text.endsWith('h') ? 60 : 1);
  const limits = JSON.parse(read('../../testdata/wire/limits.json')) as { wire: string; unit: string; default?: string }[];
  for (const limit of limits) {
    const name = `limits.${inMinutes[limit.wire] ?? limit.wire}`;
    const { type, minimum, default: none } = settings[`ralph.${name}`] ?? {};
    assert.deepEqual([type, minimum, none], [[types[limit.unit], 'null'], 0, null], name);
    const standard = limit.default === undefined ? 'unlimited' : limit.unit === 'duration' ? minutes(limit.default) : limit.default;
    assert.match(texts[`setting.${name}`], new RegExp(`else ${standard}\\.$`), name);
  }
  assert.equal(Object.keys(settings).filter((name) => name.startsWith('ralph.limits.')).length, limits.length);
});

test('no place has forgotten a limit', () => {
  const limits: { wire: string; key: string }[] = JSON.parse(read('../../testdata/wire/limits.json'));
  assert.deepEqual([...limitKeys].sort(), limits.map((l) => l.wire).sort(), 'wire.ts');
  for (const { wire: key } of limits) assert.ok(read('src/config.ts').includes(`${key}: `), `config.ts has forgotten ${key}`);
  for (const { wire: key } of limits) assert.ok(read('README.md').includes(`\`${key}\``), `README.md has forgotten ${key}`);
});
