// What the extension and the page of a transcript say to each other. What comes from the page is believed in
// nothing: it shows what an agent wrote.
import type { Class, Iteration, Offer, Question, Update } from '../wire';
import { isWeb } from '../../webview/links';
import type { Words } from './words';
import type { PageButton } from '../can';

/** A piece of the log that can be read by itself. */
export interface PartInfo { iteration: number; bytes: number }
/** What the page remembers over a reload. */
export interface Place { iteration: number; toolCallId?: string }

/** What becomes of words for the loop, as a button has it. */
export interface TalkWords { title: string; hint: string }
/** A loop in the panel's list, in two lines. The label is read out. */
export interface LoopRow { loopId: string; title: string; state: string; line: string; mark: 'asks' | 'busy' | 'waits' | Class; isShown: boolean; label: string }
/** A thing of a loop, or of the next one, that a click changes. */
export interface Chip { label: string; text: string; title: string }

export type ToPage =
  /**
   * A new beginning. Behind the parts comes the tail. The generation names it in all that follows. files: where the
   * page finds the folder's. isPanel: it is no tab of an editor. draft: what was being written for the loop.
   */
  | { type: 'open'; generation: number; loopId: string; folder?: string; files?: string; title: string; words: Words; isPanel: boolean; draft?: string; thinking: boolean; parts: PartInfo[]; iterations: Iteration[]; reveal?: Place }
  | { type: 'part'; generation: number; index: number; updates: Update[] }
  /** More of the tail. live: it just happened. */
  | { type: 'tail'; generation: number; updates: Update[]; live: boolean; complete: boolean }
  /** can: what can be done with the loop now, and buttons: what the page has buttons for of that. questions: that are open. */
  | { type: 'status'; title: string; text: string; busy: boolean; toolStartedAt?: string; can: string[]; buttons: PageButton[]; questions: Question[]; talks: TalkWords[] }
  /** The loops that can be chosen. */
  | { type: 'loops'; loops: LoopRow[] }
  | { type: 'chips'; chips: Chip[] }
  /** The files that an @ with a text behind it may mean. */
  | { type: 'mentions'; id: number; paths: string[] }
  | { type: 'insert'; text: string }
  /** What was typed has reached the loop. */
  | { type: 'sent'; text: string }
  /** The extension is there. */
  | { type: 'alive' }
  | { type: 'reveal'; place: Place }
  | { type: 'failed'; text: string }
  /** Where a text was found: [part, row]; the tail is the part behind the last. */
  | { type: 'found'; search: number; hits: [number, number][]; done: boolean }
  | { type: 'do'; what: 'find' | 'end' | 'write' };

export type FromPage =
  | { type: 'ready' }
  | { type: 'want'; generation: number; index: number }
  | { type: 'open'; path: string; line?: number; column?: number }
  | { type: 'web'; address: string }
  | { type: 'offer'; offer: Offer }
  | { type: 'changes'; iteration: number }
  | { type: 'output'; iteration: number; toolCallId: string }
  | { type: 'find'; search: number; text: string }
  | { type: 'act'; command: string }
  | { type: 'choose'; loopId: string }
  /** What is being written, so that it is there again when another loop has been looked at. */
  | { type: 'draft'; text: string }
  | { type: 'talk'; title: string; text: string }
  | { type: 'chip'; label: string }
  | { type: 'mention'; id: number; text: string }
  | { type: 'selection' }
  | { type: 'goTo' | 'asText' | 'asTab' };

const isObject = (x: unknown): x is Record<string, unknown> => typeof x === 'object' && x !== null && !Array.isArray(x);
const isCount = (x: unknown): x is number => typeof x === 'number' && Number.isSafeInteger(x) && x >= 0;
const isText = (x: unknown, max: number): x is string => typeof x === 'string' && x.length > 0 && x.length <= max;
const isOptional = (x: unknown): x is number | undefined => x === undefined || isCount(x);

/** Characters that a user may type at once. */
const maxWords = 1 << 20;

/** The commands that an offer may carry: the server's own, not the editor's. */
const offered = /^ralph\.(loop\.[a-z]+|doctor|sandbox)$/;

/** Reads a message of the page's; undefined: it is none. */
export function readMessage(m: unknown): FromPage | undefined {
  if (!isObject(m)) return undefined;
  const { type, generation, index, path, line, column, iteration, toolCallId, search, text, command: does, title, label, id, address, loopId } = m;
  switch (type) {
    case 'ready': case 'goTo': case 'asText': case 'asTab': case 'selection': return { type };
    case 'talk': return isText(title, 1000) && isText(text, maxWords) ? { type, title, text } : undefined;
    case 'chip': return isText(label, 100) ? { type, label } : undefined;
    case 'mention': return isCount(id) && typeof text === 'string' && text.length <= 1000 ? { type, id, text } : undefined;
    case 'act': return isText(does, 100) ? { type, command: does } : undefined;
    case 'choose': return isText(loopId, 1000) ? { type, loopId } : undefined;
    case 'draft': return typeof text === 'string' && text.length <= maxWords ? { type, text } : undefined;
    case 'want': return isCount(generation) && isCount(index) ? { type, generation, index } : undefined;
    case 'open': return isText(path, 4096) && isOptional(line) && isOptional(column) ? { type, path, line, column } : undefined;
    case 'web': return isText(address, 4096) && isWeb(address) ? { type, address } : undefined;
    case 'changes': return isCount(iteration) ? { type, iteration } : undefined;
    case 'output': return isCount(iteration) && isText(toolCallId, 1000) ? { type, iteration, toolCallId } : undefined;
    case 'find': return isCount(search) && typeof text === 'string' && text.length <= 1000 ? { type, search, text } : undefined;
    case 'offer': return isOffer(m.offer) ? { type, offer: m.offer } : undefined;
    default: return undefined;
  }
}

function isOffer(o: unknown): o is Offer {
  if (!isObject(o) || typeof o.title !== 'string' || typeof o.command !== 'string' || !offered.test(o.command)) return false;
  return o.arguments === undefined || (Array.isArray(o.arguments) && o.arguments.length <= 1 && o.arguments.every(isObject));
}

/** What the page left when its window was closed; undefined: it isn't of this extension's. */
export function readState(s: unknown): { loopId: string; folder?: string; title: string; place?: Place; words?: string } | undefined {
  if (!isObject(s) || !isText(s.loopId, 1000)) return undefined;
  const { folder, title, place, words } = s;
  return {
    loopId: s.loopId, folder: isText(folder, 10_000) ? folder : undefined, title: isText(title, 1000) ? title : s.loopId,
    place: isObject(place) && isCount(place.iteration) ? { iteration: place.iteration, toolCallId: isText(place.toolCallId, 1000) ? place.toolCallId : undefined } : undefined,
    ...(isText(words, maxWords) && { words }),
  };
}
