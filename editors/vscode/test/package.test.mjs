// What is in the package, file by file.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const golden = path.join(root, 'test/package.golden');

test('the package has the files of package.golden, and the sidecar in it runs', () => {
  const made = execFileSync(process.execPath, ['scripts/package.mjs'], { cwd: root, encoding: 'utf8' }).trim();
  const vsix = fs.readFileSync(path.join(root, made));
  const names = entries(vsix).sort();
  if (process.env.UPDATE) fs.writeFileSync(golden, `${names.join('\n')}\n`);
  assert.equal(`${names.join('\n')}\n`, fs.readFileSync(golden, 'utf8'), 'UPDATE=1 rewrites the list');
  const program = path.join(root, 'server', os.platform() === 'win32' ? 'ralph-lsp.exe' : 'ralph-lsp');
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  assert.match(execFileSync(program, ['version'], { encoding: 'utf8' }), new RegExp(`^ralph-lsp ${version} `));
  assert.ok(vsix.length < 20 << 20, `${vsix.length} bytes`);
});

/** The names in a zip file's central directory. */
function entries(zip) {
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06'));
  const names = [];
  for (let at = zip.readUInt32LE(end + 16); zip.readUInt32LE(at) === 0x02014b50; ) {
    const [name, extra, comment] = [28, 30, 32].map((o) => zip.readUInt16LE(at + o));
    names.push(zip.toString('utf8', at + 46, at + 46 + name));
    at += 46 + name + extra + comment;
  }
  return names;
}
