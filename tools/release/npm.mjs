#!/usr/bin/env node
// Makes the npm packages of a release, in dist/: ralph-lsp, one for each platform with its program, which
// npm picks by os and cpu, and the extension for pi. None has a script that runs when it is installed.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const version = process.env.RELEASE_VERSION;
const dist = path.join(root, 'dist');
const stages = path.join(root, '.cache/tools/release/npm');

const home = 'https://github.com/ralph-lsp/ralph-lsp';
const revision = version.startsWith('0.0.0-') ? 'HEAD' : `v${version}`;
const about = {
  version, license: 'MIT', author: 'the ralph-lsp authors', homepage: home, bugs: `${home}/issues`,
  repository: { type: 'git', url: `git+${home}.git` },
};

/** A page with absolute addresses, as only those lead anywhere on a package's page. */
function absolute(text, folder) {
  const resolve = (to) => new URL(to, `${home}/blob/${revision}/${folder}`).href;
  return text.replace(/(\]\(|\b(?:src|srcset)=")(?!https?:|#)([^)"]+)/g, (_, before, to) =>
    before + (/\.(png|svg)$/.test(to) ? resolve(to).replace('/blob/', '/raw/') : resolve(to)));
}

/** Packs a folder of files, given as their names with texts or as paths to copy. */
function pack(name, manifest, files) {
  const stage = path.join(stages, name.replace('/', '-'));
  fs.rmSync(stage, { recursive: true, force: true });
  for (const [to, from] of Object.entries({ 'package.json': { text: `${JSON.stringify({ name, ...manifest }, null, 2)}\n` }, LICENSE: 'LICENSE', ...files })) {
    const file = path.join(stage, to);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    if (from.text !== undefined) fs.writeFileSync(file, from.text);
    else fs.cpSync(path.join(root, from), file, { recursive: true });
  }
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', dist], { cwd: stage, stdio: ['ignore', 'ignore', 'inherit'] });
}

const page = (file) => ({ text: absolute(fs.readFileSync(path.join(root, file), 'utf8'), path.dirname(file) === '.' ? '' : `${path.dirname(file)}/`) });

const optionalDependencies = {};
for (const [os, goos] of [['linux', 'linux'], ['darwin', 'darwin'], ['win32', 'windows']]) {
  for (const [cpu, goarch] of [['x64', 'amd64'], ['arm64', 'arm64']]) {
    const name = `@ralph-lsp/${os}-${cpu}`;
    const program = `ralph-lsp${os === 'win32' ? '.exe' : ''}`;
    const built = fs.readdirSync(dist).find((folder) => folder.startsWith(`ralph-lsp_${goos}_${goarch}_`) && fs.existsSync(path.join(dist, folder, program)));
    optionalDependencies[name] = version;
    pack(name, { ...about, description: `ralph-lsp for ${os} on ${cpu}`, os: [os], cpu: [cpu], preferUnplugged: true, publishConfig: { access: 'public' } },
      { [`bin/${program}`]: `dist/${built}/${program}`, 'README.md': { text: `The program of [ralph-lsp](${home}) for ${os} on ${cpu}. Install \`ralph-lsp\`, which brings it.\n` } });
  }
}
pack('ralph-lsp', {
  ...about, description: 'Run coding agents (pi, claude and others) in Ralph loops', keywords: ['ralph', 'agent', 'pi', 'claude', 'loop', 'lsp'],
  bin: { 'ralph-lsp': 'bin/ralph-lsp.js' }, main: 'index.js', engines: { node: '>=18' }, optionalDependencies,
}, { 'bin/ralph-lsp.js': 'tools/release/npm/ralph-lsp.js', 'index.js': 'tools/release/npm/index.js', 'README.md': page('README.md') });

const pi = JSON.parse(fs.readFileSync(path.join(root, 'editors/pi/package.json'), 'utf8'));
pack(pi.name, { ...pi, version, dependencies: { 'ralph-lsp': version } },
  { 'README.md': page('editors/pi/README.md'), ...Object.fromEntries(['index.ts', 'src'].map((file) => [file, `editors/pi/${file}`])) });
