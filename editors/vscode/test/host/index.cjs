// Loaded inside the extension host. The host's console can't be seen from outside, so the report goes to a file.
const fs = require('node:fs');
const path = require('node:path');

const note = (line) => fs.appendFileSync(process.env.RALPH_TEST_REPORT, `${line}\n`);

exports.run = () => new Promise((resolve, reject) => {
  try {
    start(resolve, reject);
  } catch (e) {
    note(`FAIL the tests could not start: ${e.stack}`);
    reject(e);
  }
});

function start(resolve, reject) {
  const module = require('mocha'); // an ES module: an old node gives its namespace
  const Mocha = module.default ?? module;
  const mocha = new Mocha({ ui: 'bdd', timeout: 1_800_000, color: false, forbidPending: true, grep: process.env.RALPH_TEST_GREP });
  for (const f of fs.readdirSync(__dirname)) if (f.endsWith('.test.cjs')) mocha.addFile(path.join(__dirname, f));
  const runner = mocha.run((failures) => {
    note(`# VS Code ${require('vscode').version}: ${runner.stats.passes} passed, ${failures} failed`);
    if (failures || !runner.stats.passes) reject(new Error(`${failures} tests failed`));
    else resolve();
  });
  runner.on('fail', (test, e) => note(`FAIL ${test.fullTitle()}\n${String(e.stack ?? e).replace(/^/gm, '     ')}`));
  if (process.env.VERBOSE) runner.on('pass', (test) => note(`ok   ${test.fullTitle()} (${test.duration} ms)`));
}
