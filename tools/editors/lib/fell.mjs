// What failed, as the last lines of make ci say it: which test, what it said, how to run it alone.
// RALPH_TEST_FELL names the file, RALPH_TEST_ALONE the command; without the file nothing is kept.
import fs from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

/** Keeps that a test failed. */
export function tell(name, message) {
  const file = process.env.RALPH_TEST_FELL;
  if (!file) return;
  const lines = stripVTControlCharacters(message).split('\n').map((line) => line.trim()).filter((line) => line && !line.startsWith('at '));
  if (lines[0]?.endsWith(' failed before')) return; // a step behind one that fell
  const said = lines.slice(0, 6).map((line) => `    ${line.slice(0, 300)}\n`).join('');
  fs.appendFileSync(file, `*** FAILED: ${name}\n${said}    alone: ${process.env.RALPH_TEST_ALONE ?? 'as above'}\n`);
}

/** A reporter of node's tests that says nothing. */
export default async function* reporter(events) {
  for await (const { type, data } of events) {
    const error = data?.details?.error;
    if (type === 'test:fail' && error?.failureType !== 'subtestsFailed') tell(data.name, String(error?.cause?.stack ?? error?.cause ?? error));
  }
}
