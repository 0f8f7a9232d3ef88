// Draws images/icon.png, the package's icon: images/ralph.svg's lines on a tile.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';

const size = 128;
const samples = 4; // a side of each pixel
const tile = [0x1f, 0x29, 0x37];
const ink = [0xfa, 0xcc, 0x15];

// In the drawing's units: 24 are a side of it.
const lines = [[20, 4, 20, 9], [20, 9, 15, 9], [10, 16, 10, 8], [10, 8, 13, 8], [13, 12.8, 10, 12.8], [13, 12.8, 15.2, 16]];
const gap = (angle) => angle > -0.38 && angle < 0; // of the arrow's circle

function toLine(x, y, [x1, y1, x2, y2]) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy);
}

function isInk(x, y) {
  if (lines.some((line) => toLine(x, y, line) < 1)) return true;
  if (x >= 13 && Math.abs(Math.hypot(x - 13, y - 10.4) - 2.4) < 1) return true; // the bow of the R
  return Math.abs(Math.hypot(x - 12, y - 12) - 8) < 1 && !gap(Math.atan2(y - 12, x - 12));
}

/** Inside the tile with its round corners; x and y are parts of its side. */
function isTile(x, y) {
  const radius = 0.18;
  const [dx, dy] = [x, y].map((v) => Math.max(0, Math.abs(v - 0.5) - 0.5 + radius));
  return Math.hypot(dx, dy) <= radius;
}

function pixel(column, row) {
  let [inTile, inInk] = [0, 0];
  for (let i = 0; i < samples * samples; i++) {
    const x = (column + ((i % samples) + 0.5) / samples) / size;
    const y = (row + (Math.floor(i / samples) + 0.5) / samples) / size;
    if (!isTile(x, y)) continue;
    inTile++;
    if (isInk(-2 + 28 * x, -2 + 28 * y)) inInk++; // a margin around the drawing
  }
  const part = inTile ? inInk / inTile : 0;
  return [...tile.map((c, i) => Math.round(c + (ink[i] - c) * part)), Math.round((255 * inTile) / samples ** 2)];
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length);
  body.copy(out, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

const side = Array.from({ length: size }, (_, i) => i);
const pixels = Buffer.from(side.flatMap((row) => [0, ...side.flatMap((column) => pixel(column, row))]));
const header = Buffer.alloc(13);
header.writeUInt32BE(size);
header.writeUInt32BE(size, 4);
header.set([8, 6], 8); // bits of a colour, with transparency
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), chunk('IHDR', header), chunk('IDAT', deflateSync(pixels, { level: 9 })), chunk('IEND', Buffer.alloc(0))]);
fs.writeFileSync(fileURLToPath(new URL('../images/icon.png', import.meta.url)), png);
