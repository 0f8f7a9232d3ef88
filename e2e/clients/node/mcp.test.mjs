// The public client of the Model Context Protocol, by both of its generations.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { removeFolder } from './folder.mjs';

const load = (file) => import(pathToFileURL(path.join(process.env.MCP_CLIENT, 'dist', file)));
const { Client } = await load('index.mjs');
const { StdioClientTransport } = await load('stdio.mjs');

/** Hands a client that is asked what questions are answered with, and what was asked. */
async function connected(mode, answer, body) {
  const folder = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'mcp-'));
  const asked = [];
  const capabilities = { roots: {}, ...(answer && { elicitation: { form: {} } }) };
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(folder).href }] }));
  if (answer) {
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params);
      return answer;
    });
  }
  try {
    await client.connect(new StdioClientTransport({ command: process.env.RALPH_LSP, args: ['mcp'], env: process.env, cwd: os.tmpdir() }));
    await body(async (name, input) => {
      const { content: [{ text }], isError } = await client.callTool({ name, arguments: input });
      return { text, isError: Boolean(isError) };
    }, asked, client, folder);
  } finally {
    await client.close();
    removeFolder(folder);
  }
}

const task = 'Make all tests pass. Then say <promise>DONE</promise>.'; // its loop is done after two iterations
const modes = { 'by a handshake': 'legacy', 'since 2026-07-28': { pin: '2026-07-28' }, 'whichever is newest': 'auto' };

for (const [name, mode] of Object.entries(modes)) {
  test(`${name}: a loop starts when its user agrees`, () => connected(mode, { action: 'accept', content: { answer: 'Start' } }, async (call, asked, client, folder) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map((t) => t.name), ['ralph_start', 'ralph_status', 'ralph_steer', 'ralph_changes']);
    assert.deepEqual(await call('ralph_status', {}), { text: 'no Ralph loop has run here', isError: false });
    const started = await call('ralph_start', { prompt: task, maxIterations: 5 });
    assert.equal(started.isError, false, started.text);
    for (const want of ['at most 5 iterations', 'Permissions: ', `Folder: ${folder}`, task]) assert.ok(asked[0].message.includes(want), asked[0].message);
    let status;
    do status = (await call('ralph_status', {})).text; while (!status.includes('Result: done'));
    assert.match(status, /done: DONE after 2 iterations/);
    assert.match((await call('ralph_steer', { text: 'x' })).text, /can be told nothing now/);
    assert.equal(asked.length, 1);
  }));

  test(`${name}: nothing starts when they don't`, () => connected(mode, { action: 'decline' }, async (call) => {
    assert.deepEqual(await call('ralph_start', { prompt: task }), { text: "Nothing was done: the user doesn't want it.", isError: true });
    assert.equal((await call('ralph_status', {})).text, 'no Ralph loop has run here');
  }));

  test(`${name}: nothing starts where they can't be asked`, () => connected(mode, undefined, async (call) => {
    const { text, isError } = await call('ralph_start', { prompt: task });
    assert.match(text, /ralph-lsp run "PROMPT"/);
    assert.ok(isError);
  }));
}

test('a loop that runs ends with its client', () => connected('legacy', { action: 'accept', content: { answer: 'Start' } }, async (call) => {
  await call('ralph_start', { prompt: 'Polish the code until I stop you.' });
  let status;
  do status = (await call('ralph_status', {})).text; while (!/1\/50/.test(status));
}));
