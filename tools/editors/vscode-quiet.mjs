#!/usr/bin/env node
// Runs test files in one process, one after another: in full when something fails, else only the figures are said.
// What failed is kept for the last lines of make ci (lib/fell.mjs).
//   vscode-quiet.mjs FILE...
import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';

const files = process.argv.slice(2);
if (files.length === 0) throw new Error('name the test files');
const all = files.map((file) => `import '${pathToFileURL(file)}';`).join('\n');
const reporters = ['--test-reporter=spec', '--test-reporter-destination=stdout', `--test-reporter=${new URL('./lib/fell.mjs', import.meta.url)}`, '--test-reporter-destination=stderr'];
const run = spawnSync(process.execPath, [...reporters, '--enable-source-maps', '--input-type=module', '--eval', all], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' });
process.stdout.write(run.status === 0 && !process.env.VERBOSE ? run.stdout.replace(/^(?!.*\d ms\b).*\n/gm, '') : run.stdout);
process.exit(run.status ?? 1);
