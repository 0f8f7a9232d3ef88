#!/usr/bin/env node
// Runs node's test runner on files, one after another: quiet when all is well, in full when something fails.
//   vscode-quiet.mjs FILE...
import { spawnSync } from 'node:child_process';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('name the test files');
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
const measured = run.stdout.split('\n').filter((line) => /\d ms\b|^ℹ (pass|fail) /.test(line));
process.stdout.write(run.status === 0 && !process.env.VERBOSE ? `${measured.join('\n')}\n` : run.stdout);
process.exit(run.status ?? 1);
