#!/usr/bin/env node
// Runs node's test runner on files, one after another: in full when something fails, else only the figures are said.
//   vscode-quiet.mjs FILE...
import { spawnSync } from 'node:child_process';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('name the test files');
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', '--test-reporter=spec', ...files], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
process.stdout.write(run.status === 0 && !process.env.VERBOSE ? run.stdout.replace(/^(?!.*\d ms\b).*\n/gm, '') : run.stdout);
process.exit(run.status ?? 1);
