// Makes .vsix files with the sidecar inside, in out/packages:
//   package.mjs         for this platform
//   package.mjs --all   for every target
//   package.mjs TARGET  for one, such as linux-arm64
// A release has its version in RELEASE_VERSION, and its programs in dist/.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const repository = path.resolve(root, '../..');
const packages = path.join(root, 'out/packages');

// The Marketplace's targets, as Go calls them. Without cgo, one Linux binary fits glibc and musl.
const targets = {
  'linux-x64': ['linux', 'amd64'], 'linux-arm64': ['linux', 'arm64'],
  'alpine-x64': ['linux', 'amd64'], 'alpine-arm64': ['linux', 'arm64'],
  'darwin-x64': ['darwin', 'amd64'], 'darwin-arm64': ['darwin', 'arm64'],
  'win32-x64': ['windows', 'amd64'], 'win32-arm64': ['windows', 'arm64'],
};

const release = process.env.RELEASE_VERSION;
const version = release ?? JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')).version;
// Pages of a store show pictures by absolute addresses only.
const page = (kind) => `https://github.com/ralph-lsp/ralph-lsp/${kind}/${release && !release.startsWith('0.0.0-') ? `v${release}` : 'HEAD'}/editors/vscode`;
const run = (program, args, options = {}) => execFileSync(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], ...options });

function buildSidecar(target) {
  const [GOOS, GOARCH] = targets[target];
  const server = path.join(root, 'server');
  fs.rmSync(server, { recursive: true, force: true });
  const output = path.join(server, GOOS === 'windows' ? 'ralph-lsp.exe' : 'ralph-lsp');
  if (release) {
    const dist = path.join(repository, 'dist');
    const built = fs.readdirSync(dist).map((folder) => path.join(dist, folder, path.basename(output))).find((file) => file.includes(`ralph-lsp_${GOOS}_${GOARCH}_`) && fs.existsSync(file));
    fs.mkdirSync(server);
    fs.copyFileSync(built, output);
    return;
  }
  run('go', ['build', '-buildvcs=false', '-trimpath', '-ldflags', `-s -w -X main.version=${version}`, '-o', output, './cmd/ralph-lsp'],
    { cwd: repository, env: { ...process.env, CGO_ENABLED: '0', GOOS, GOARCH } });
}

function makePackage(target) {
  buildSidecar(target);
  const file = path.join(packages, `ralph-${target}-${version}.vsix`);
  run(process.execPath, [path.join(root, 'node_modules/@vscode/vsce/vsce'), 'package', version, '--no-update-package-json', '--target', target, '--no-dependencies',
    '--baseContentUrl', page('blob'), '--baseImagesUrl', page('raw'), '--out', file]);
  console.log(path.relative(process.cwd(), file));
}

const asked = process.argv[2] ?? `${process.platform}-${process.arch}`;
const wanted = asked === '--all' ? Object.keys(targets) : [asked];
for (const target of wanted) if (!targets[target]) throw new Error(`no target ${target}; there are ${Object.keys(targets).join(', ')}`);
fs.mkdirSync(packages, { recursive: true });
fs.copyFileSync(path.join(repository, 'LICENSE'), path.join(root, 'LICENSE'));
run(process.execPath, [path.join(root, 'scripts/build.mjs')]);
for (const target of wanted) makePackage(target);
