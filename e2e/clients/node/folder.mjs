import fs from 'node:fs';

/** Removes a folder, once the processes of its loops have let go of it: they may still be ending. */
export const removeFolder = folder => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 40, retryDelay: 50 });
