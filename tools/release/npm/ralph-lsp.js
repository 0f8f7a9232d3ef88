#!/usr/bin/env node
'use strict';
// Becomes the program where node can (22.15 and newer, not on Windows). Elsewhere it is its parent, and passes on what it is told.
const args = process.argv.slice(2);
let program;
try {
  program = require('../index.js');
} catch (error) {
  console.error(`ralph-lsp: ${error.message}`);
  process.exit(1);
}
if (process.execve && process.platform !== 'win32') process.execve(program, [program, ...args], process.env);

const child = require('node:child_process').spawn(program, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
  // A terminal's Ctrl-C reaches the child by itself, and a second one means more.
  process.on(signal, () => { if (!(process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT'))) child.kill(signal); });
}
child.on('error', (error) => {
  console.error(`ralph-lsp: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
