'use strict';
// The path of the program for this platform: require('ralph-lsp').
const name = `@ralph-lsp/${process.platform}-${process.arch}`;
try {
  module.exports = require.resolve(`${name}/bin/ralph-lsp${process.platform === 'win32' ? '.exe' : ''}`);
} catch {
  throw new Error(`the package ${name} isn't there: npm left it out (--omit=optional, --no-optional), or there is none for this platform`);
}
