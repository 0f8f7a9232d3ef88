// What ralph-lsp says and hears, as far as this extension reads it (docs/PROTOCOL.md).
// A test compares the names with testdata/wire/names.json.

/** The version of our own part of the protocol. */
export const version = 2;

export const commands = {
  start: 'ralph.loop.start',
  cancel: 'ralph.loop.cancel',
  pause: 'ralph.loop.pause',
  next: 'ralph.loop.next',
  detach: 'ralph.loop.detach',
  resume: 'ralph.loop.resume',
  update: 'ralph.loop.update',
  steer: 'ralph.loop.steer',
  answer: 'ralph.loop.answer',
  status: 'ralph.loop.status',
  read: 'ralph.loop.read',
  changes: 'ralph.loop.changes',
  undo: 'ralph.loop.undo',
  redo: 'ralph.loop.redo',
  land: 'ralph.loop.land',
  help: 'ralph.help',
} as const;

export type Class = 'info' | 'ok' | 'warning' | 'error';

/** LSP's Command. */
export interface Command {
  title: string;
  command: string;
  arguments?: Record<string, unknown>[];
}

/** What the agent of a loop waits to be told. */
export interface Question {
  loopId: string;
  folder: string; // file URI
  id: string;
  kind: 'permission' | 'confirm' | 'select' | 'input';
  title: string;
  detail?: string;
  placeholder?: string;
  text: string;
  offers: Command[];
}

/** What it is told. */
export interface Answer {
  answer: string; // deny, once, loop, value
  text?: string;
}

export interface Loop {
  loopId?: string;
  folder: string; // file URI
  title?: string;
  state: string;
  text?: string;
  line?: string;
  class: Class;
  question?: string; // before its folder gets another task
  offers?: Command[];
  live: boolean;
  busy: boolean;
  can?: string[];
  details?: { label: string; text: string }[];
  questions?: Question[];
  allowed?: { rule: string; text: string; offers: Command[] }[];
  owned?: boolean;
  detached?: boolean; // it runs alone, in a process of its own
  endedAt?: string;
}

export interface Status {
  message: string;
  loops: Loop[];
}

export interface Update {
  sessionUpdate: string;
  text?: string;
  class?: Class;
  notify?: boolean;
  offers?: Command[];
  messageId?: string;
  content?: { type: string; text?: string } | { type: string; content?: { text?: string } }[];
  toolCallId?: string;
  name?: string;
  title?: string;
  status?: string;
  phase?: 'begin' | 'end';
  iteration?: number;
  maxIterations?: number;
  state?: string;
  parentToolCallId?: string;
  detail?: string; // of a question
}

export interface Updates {
  loopId: string;
  after?: string;
  cursor?: string;
  updates: Update[];
}

/** What a request that was refused is answered with. */
export class Refusal extends Error {
  readonly data: { reason?: string; question?: string; offers?: Command[] };

  constructor(message: string, data?: Refusal['data']) {
    super(message);
    this.data = data ?? {};
  }
}
