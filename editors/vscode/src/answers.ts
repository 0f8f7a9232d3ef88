// What is chosen of a start besides its prompt, and what the next loop takes from the one before.
import { limitKeys, type StartParams } from './wire';

export type Answers = Omit<StartParams, 'folder' | 'prompt' | 'promptUri' | 'text' | 'settings' | 'dryRun' | 'replace' | 'trust'>;

/**
 * What a loop that follows another one is started with: what was chosen for it; else what the one before was started
 * with, over what the server knows of it, such as a promise that stood in its prompt. Limits as they are by now win over
 * those that were typed.
 */
export function answersAfter(chosen: Answers, started: StartParams & { loopId?: string } = {}, known: StartParams = {}): Answers {
  if (Object.keys(chosen).length > 0) return chosen;
  const { loopId: _, ...last } = started;
  const all: Record<string, unknown> = { ...known, ...last };
  for (const key of [...limitKeys, 'completionPromise'] as const) if (known[key] !== undefined) all[key] = known[key];
  if (limitKeys.some((key) => known[key] !== undefined)) delete all.limitsText;
  for (const key of ['folder', 'prompt', 'promptUri', 'text', 'plan', 'task', 'settings', 'dryRun', 'replace', 'trust']) delete all[key];
  return all;
}
