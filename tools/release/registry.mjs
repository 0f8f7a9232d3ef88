// A registry of a folder's packages on loopback, for test.sh: registry.mjs FOLDER. Its first line is its address.
// Whatever it hasn't is elsewhere: npm is sent to the registry of the user.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

const folder = process.argv[2];
const elsewhere = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim().replace(/\/$/, '');
const packages = {};
let address;
for (const file of fs.readdirSync(folder).filter((name) => name.endsWith('.tgz'))) {
  const manifest = JSON.parse(execFileSync('tar', ['-xzOf', path.join(folder, file), 'package/package.json'], { encoding: 'utf8' }));
  const integrity = `sha512-${createHash('sha512').update(fs.readFileSync(path.join(folder, file))).digest('base64')}`;
  packages[manifest.name] = { file, manifest, integrity };
}

const server = http.createServer((request, response) => {
  const asked = decodeURIComponent(request.url.slice(1));
  const tarball = Object.values(packages).find(({ file }) => asked === `-/${file}`);
  if (tarball) return response.end(fs.readFileSync(path.join(folder, tarball.file)));
  if (!packages[asked]) return response.writeHead(302, { location: elsewhere + request.url }).end();
  const { file, manifest, integrity } = packages[asked];
  const { name, version } = manifest;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist: { tarball: `${address}/-/${file}`, integrity } } } }));
});
server.listen(0, '127.0.0.1', () => {
  address = `http://127.0.0.1:${server.address().port}`;
  console.log(address);
});
