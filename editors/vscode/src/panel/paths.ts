// Where a path in a transcript leads.
import fs from 'node:fs/promises';
import path from 'node:path';

/** The file that a text names, if it is one of the folder's; a link that leads out of it isn't. Nothing is run or changed. */
export async function fileIn(folder: string, named: string): Promise<string | undefined> {
  try {
    const [root, file] = await Promise.all([fs.realpath(folder), fs.realpath(path.resolve(folder, named))]);
    const inside = path.relative(root, file);
    const isInside = inside !== '' && inside !== '..' && !inside.startsWith(`..${path.sep}`) && !path.isAbsolute(inside);
    return isInside && (await fs.stat(file)).isFile() ? file : undefined;
  } catch {
    return undefined; // there is no such file
  }
}
