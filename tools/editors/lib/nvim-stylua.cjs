// Formats Lua files with stylua's WebAssembly build, as ./stylua.toml says:
//   node nvim-stylua.cjs [--write] FILE...
// Without --write it names the files that would change, and exits with 1.
'use strict';
const fs = require('node:fs');
const stylua = require('@johnnymorganz/stylua');

const enums = { indent_type: stylua.IndentType, quote_style: stylua.QuoteStyle };

function readConfig(path) {
  const config = stylua.Config.new();
  for (const line of fs.readFileSync(path, 'utf8').split('\n')) {
    const found = /^(\w+) = (?:"(\w+)"|(\d+))$/.exec(line);
    if (!found) {
      if (line.trim() !== '') throw new Error(`${path}: can't read "${line}"`);
      continue;
    }
    const [, key, word, number] = found;
    config[key] = word === undefined ? Number(number) : enums[key][word];
  }
  return config;
}

const write = process.argv[2] === '--write';
const files = process.argv.slice(write ? 3 : 2);
let unformatted = 0;
for (const file of files) {
  const before = fs.readFileSync(file, 'utf8');
  // A configuration is used up by a call.
  const after = stylua.formatCode(before, readConfig('stylua.toml'), undefined, stylua.OutputVerification.None);
  if (after === before) continue;
  unformatted++;
  if (write) fs.writeFileSync(file, after);
  else console.error(`stylua would change ${file}`);
}
process.exit(unformatted > 0 && !write ? 1 : 0);
