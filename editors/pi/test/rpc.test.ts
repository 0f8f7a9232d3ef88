import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Frames } from '../src/rpc.ts';

const frame = (body: string) => Buffer.from(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);

function bodies(chunks: Buffer[]): string[] {
  const frames = new Frames(), all: string[] = [];
  for (const chunk of chunks) {
    frames.add(chunk);
    for (let body = frames.next(); body !== undefined; body = frames.next()) all.push(body);
  }
  return all;
}

test('frames are found however they are cut', () => {
  const want = ['{"a":1}', '"Käse → ✓"', '', '[]'];
  const bytes = Buffer.concat(want.map(frame));
  for (let size = 1; size <= bytes.length; size++) {
    const chunks: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
    assert.deepEqual(bodies(chunks), want, `in pieces of ${size}`);
  }
});

test('a large frame in small pieces is joined once', () => {
  const body = 'x'.repeat(20_000_000);
  const bytes = frame(body), chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.subarray(at, at + 65_536));
  assert.equal(bodies(chunks)[0]?.length, body.length);
});

test('what is no frame breaks the stream', () => {
  for (const nonsense of ['Content-Type: x\r\n\r\n{}', 'x'.repeat(5000)]) {
    const frames = new Frames();
    frames.add(Buffer.from(nonsense));
    assert.equal(frames.next(), undefined);
    assert.ok(frames.broken);
  }
});
