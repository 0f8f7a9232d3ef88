// Collects the texts of t(...) into l10n/bundle.l10n.json, which translators start from.
//   l10n.mjs --check   only says whether the file is up to date
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bundle = `${root}l10n/bundle.l10n.json`;
const texts = new Set();
for (const file of fs.readdirSync(`${root}src`, { recursive: true }).filter((name) => name.endsWith('.ts'))) {
  const source = fs.readFileSync(`${root}src/${file}`, 'utf8');
  for (const [, quote, text] of source.matchAll(/\bt\((['"])((?:\\.|(?!\1).)*)\1/g)) texts.add(text.replaceAll(`\\${quote}`, quote));
}
const wanted = `${JSON.stringify(Object.fromEntries([...texts].sort().map((text) => [text, text])), null, 2)}\n`;
if (!process.argv.includes('--check')) {
  fs.mkdirSync(`${root}l10n`, { recursive: true });
  fs.writeFileSync(bundle, wanted);
} else if (!fs.existsSync(bundle) || fs.readFileSync(bundle, 'utf8') !== wanted) {
  throw new Error('l10n/bundle.l10n.json is not up to date: npm run l10n');
}
