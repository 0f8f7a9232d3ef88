#!/usr/bin/env node
// The flood of main_test.go as pi writes: an object made, serialised and written
// for each event.
import fs from 'node:fs';

const [events, tools] = [Number(process.env.RALPH_SIDECAR_FLOOD), 1000];
const usage = {
  input: 1000, output: 200, cacheRead: 5000, cacheWrite: 300, totalTokens: 6500,
  cost: { input: 0.003, output: 0.003, cacheRead: 0.0015, cacheWrite: 0.001125, total: 0.008624999999999999 }, cacheWrite1h: 0,
};

function say(event) {
  process.stdout.write(JSON.stringify(event) + '\n');
}

fs.readFileSync(0); // the prompt
const begin = process.hrtime.bigint();
say({ type: 'session', version: 3, id: '01a1f8b0', timestamp: '2026-11-20T11:21:28.003Z', cwd: '/' });
say({ type: 'message_start', message: { role: 'assistant', content: [] } });
for (let i = 0; i < events; i++) {
  if (i % (events / tools) === 0) {
    const call = { toolCallId: `t${i}`, toolName: 'bash' };
    say({ type: 'tool_execution_start', ...call, args: { command: 'go test' } });
    say({ type: 'tool_execution_end', ...call, result: { content: [{ type: 'text', text: 'ok' }] }, isError: false });
  }
  say({ type: 'message_update', usage, assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'some words ' } });
}
say({ type: 'message_end', message: { role: 'assistant', content: [{ type: 'text', text: '<promise>DONE</promise>' }], stopReason: 'stop' } });
say({ type: 'agent_settled' });
const { user, system } = process.cpuUsage();
fs.writeFileSync('flood-took', `${Number(process.hrtime.bigint() - begin)}ns ${user + system}us`);
