// Of the wire format, which the Go package wire has, what this extension uses. What
// doesn't apply is left out of a message; nothing is ever null.

export const protocolVersion = 2;

export const method = {
  status: 'ralph/status',
  update: 'ralph/update',
  diagnostics: 'ralph/diagnostics',
  permission: 'ralph/permission',
  setUpdates: 'ralph/setUpdates',
} as const;

/** The server's commands (workspace/executeCommand). The editor's own differ from them. */
export const command = {
  start: 'ralph.loop.start',
  cancel: 'ralph.loop.cancel',
  pause: 'ralph.loop.pause',
  next: 'ralph.loop.next',
  detach: 'ralph.loop.detach',
  resume: 'ralph.loop.resume',
  update: 'ralph.loop.update',
  steer: 'ralph.loop.steer',
  answer: 'ralph.loop.answer',
  open: 'ralph.loop.open',
  status: 'ralph.loop.status',
  read: 'ralph.loop.read',
  outline: 'ralph.loop.outline',
  output: 'ralph.loop.output',
  history: 'ralph.loop.history',
  changes: 'ralph.loop.changes',
  file: 'ralph.loop.file',
  keep: 'ralph.loop.keep',
  undo: 'ralph.loop.undo',
  redo: 'ralph.loop.redo',
  land: 'ralph.loop.land',
  fetch: 'ralph.loop.fetch',
  sandbox: 'ralph.sandbox',
  tool: 'ralph.tool',
  plan: 'ralph.plan',
  mark: 'ralph.plan.mark',
  help: 'ralph.help',
  doctor: 'ralph.doctor',
  agents: 'ralph.agents.list',
  prompts: 'ralph.loop.prompts',
} as const;
export type CommandId = (typeof command)[keyof typeof command];

/** Which updates the editor wants: none, all but the agent's text, or all. */
export type UpdateLevel = 'none' | 'tools' | 'all';

export type Class = 'info' | 'ok' | 'warning' | 'error';
/** What a person is told: finished words in one line, whether wherever they look, and what can be done about it, the safe offer first. */
export interface Said { text?: string; class?: Class; notify?: boolean; offers?: Offer[] }
/** One of the server's commands. */
export interface Offer { title: string; command: string; arguments?: object[] }

/** What a tool of models tells; with an offer it has done nothing yet, and its user is asked. */
export interface ToolResult { text: string; title?: string; offers?: Offer[]; done?: string }

/** What becomes of words for a loop: they go into the command's argument, as its key. The hint is for the empty box. */
export interface Talk extends Offer { key: string; hint: string }

/** A loop in a ralph/status snapshot. Times are RFC 3339. */
export interface LoopStatus extends Said {
  loopId?: string;
  /** File URI. */
  folder: string;
  /** The one of ours that it works in. Both are file URIs. */
  worktree?: { branch: string; repository: string; path: string };
  /** What it is called everywhere: its prompt's beginning. */
  title: string;
  /** Where it runs, if that isn't this machine. */
  host?: string;
  /** The open folder that it was submitted from, if it runs elsewhere: a file URI. */
  origin?: string;
  state: string;
  text?: string;
  /** text, with what it does now. */
  line?: string;
  class: Class;
  /** Somebody drives it: it goes on, at once or when it is told to. */
  live: boolean;
  /** An agent is at work. */
  busy: boolean;
  /** What becomes of words that the user types for it; Return means the first. */
  talks?: Talk[];
  /** What can be done with it; see can.ts. */
  can?: string[];
  limitTexts?: string[];
  /** What there is to know of it, a row each. */
  details?: { label: string; text: string }[];
  startedAt?: string;
  iterationStartedAt?: string;
  backend?: { name: string };
  tool?: { title: string; startedAt?: string };
  retry?: object;
  /** What its agent waits to be told, the oldest first. */
  questions?: Question[];
  /** What the user allowed for the whole loop. */
  allowed?: AllowedRule[];
  error?: string;
  /** Of one that is over, where that is known. */
  endedAt?: string;
  stopReason?: string;
  /** False: another process drives the loop, or nobody. */
  owned: boolean;
  sessionFileUri?: string;
}

/** What an agent waits to be told. The offers are the answers, the safe one first. */
export interface Question extends Said {
  loopId?: string;
  folder?: string;
  id: string;
  kind: 'permission' | 'confirm' | 'select' | 'input' | 'limits';
  toolCallId?: string;
  /** What and where, one line. */
  title: string;
  /** The full command, a diff, or what the agent says. */
  detail?: string;
  placeholder?: string;
  at?: string;
}
/** The argument of ralph.loop.answer. */
export interface Answer extends LoopParams { id: string; answer: 'deny' | 'once' | 'loop' | 'value'; text?: string }
export interface AllowedRule { rule: string; text: string; offers: Offer[] }

export interface StatusParams {
  message: string;
  /** What there is to say of the loops of other machines. */
  text?: string;
  loops: LoopStatus[];
}

/** The cursors are the places in the loop's log before and after the updates; without after, some are missing. */
export interface UpdateParams {
  loopId: string;
  iteration?: number;
  after?: string;
  cursor?: string;
  updates: Update[];
}

export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';
export interface TextContent { type: 'text'; text: string }

export interface Chunk {
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk';
  messageId?: string;
  parentToolCallId?: string;
  content: TextContent;
}
export interface ToolCall {
  sessionUpdate: 'tool_call';
  toolCallId: string;
  parentToolCallId?: string;
  name: string;
  title: string;
  kind: ToolKind;
  status: 'in_progress';
  locations?: { path: string; line?: number }[];
  rawInput?: unknown;
  /** Whom it has work: then the title says all, and what that agent does has this call's id as its parent. */
  subagent?: { agent?: string; task?: string };
  /** Which of an iteration's or a chain's steps it is. */
  step?: { n: number; of: number; agent?: string };
}
export interface ToolCallUpdate {
  sessionUpdate: 'tool_call_update';
  toolCallId: string;
  parentToolCallId?: string;
  status: 'in_progress' | 'completed' | 'failed';
  /** What a subagent used, at its end. */
  facts?: string;
  content?: { type: 'content'; content: TextContent }[];
  /** What an output has besides what is here. */
  omitted?: { lines: number };
}
export interface UsageUpdate { sessionUpdate: 'usage_update' }
/** Takes back the chunks of a message: the attempt failed. */
export interface Discard { sessionUpdate: '_ralph/discard'; messageId?: string }
export interface Iteration extends Said {
  sessionUpdate: '_ralph/iteration';
  phase: 'begin' | 'end';
  iteration: number;
  /** That it wears, where hats hand over. */
  hat?: string;
  /** The text without what a heading says: the iteration at the begin, the hat at the end. */
  facts?: string;
  /** What it changed in the folder; absent: nobody knows. */
  changes?: { files: number; added?: number; removed?: number };
}
export interface StateChange extends Said { sessionUpdate: '_ralph/state'; state: string }
export interface End extends Said {
  sessionUpdate: '_ralph/end';
  stopReason: string;
  title?: string;
  /** What else there is to say of it, for a table. */
  receipt?: { label: string; text: string }[];
}
/** An agent asks; whether it still waits, the status says. */
export interface Asked extends Question { sessionUpdate: '_ralph/question' }
/** What an agent was told. */
export interface Answered extends Said { sessionUpdate: '_ralph/answer'; id: string; answer: Answer['answer'] | 'moot' }
/** An entry of another program's in a session. */
export interface Note { sessionUpdate: '_ralph/note'; label: string; text?: string }
/** How far the check of the loop's work has come. One that is running has no words. */
export interface Verify extends Said {
  sessionUpdate: '_ralph/verify';
  state: 'running' | 'verified' | 'refuted' | 'unchecked';
  output?: string;
  problems?: { path: string; line?: number; column?: number; message: string }[];
}
/** All else that a loop tells, in words. */
export interface Told extends Said {
  sessionUpdate:
    | '_ralph/session' | '_ralph/retry' | '_ralph/compaction' | '_ralph/topic' | '_ralph/goal' | '_ralph/promise'
    | '_ralph/guidance' | '_ralph/limits' | '_ralph/warning' | '_ralph/error';
}
export type Update = Chunk | ToolCall | ToolCallUpdate | UsageUpdate | Discard | Iteration | StateChange | End | Note | Verify | Asked | Answered | Told;

/** The keys of what bounds a loop. */
export const limitKeys = ['maxIterations', 'maxCostUsd', 'maxDurationMs', 'idleTimeoutMs', 'toolTimeoutMs', 'maxConsecutiveFailures', 'maxUnchangedIterations', 'maxUnknownCostRuns'] as const;
/** Limits and promise of a loop; 0 is unlimited, absent leaves it as it is. */
export type Limits = Partial<Record<(typeof limitKeys)[number], number>> & { completionPromise?: string };

/** What both a start and the editor's settings may say. */
export interface Choices extends Limits {
  backend?: string;
  hat?: string;
  model?: string;
  args?: string[];
  /** What becomes of the loop without its window. */
  onClose?: 'end' | 'keep';
}
/** The argument of a start: one of prompt, promptUri and text (which may hold flags). */
export interface StartParams extends Choices {
  folder?: string;
  prompt?: string;
  promptUri?: string;
  text?: string;
  /** Limits and promise as a person types them; the server reads them. */
  limitsText?: string;
  /** A file of tasks in the folder, and the one of them that the loop does. */
  plan?: string;
  task?: string;
  verify?: string;
  /** Who says what the agent may do: its own settings, or the user, each time. */
  permissions?: 'agent' | 'ask';
  /** Walls around its agents. */
  sandbox?: 'workspace' | 'off';
  /** True, or the name of a branch: it works in a git worktree of its own. */
  worktree?: true | string;
  /** That begins with the files as they are. */
  withChanges?: boolean;
  replace?: boolean;
  trust?: boolean;
  dryRun?: boolean;
  /** The start wins over them, they over ralph.toml. */
  settings?: Settings;
}
/** What the editor's settings say of all starts. They can have the user asked, and nothing looser. */
export interface Settings extends Choices { permissions?: 'ask' }
export interface StartResult { loopId: string; state: string; stateFileUri: string; sessionFileUri?: string }
/** What a start would do: in one line, and a row for each thing to know. */
export interface DryRunResult {
  text: string;
  details: { label: string; text: string }[];
  /** Where a value comes from, by its key. */
  sources?: Record<string, string>;
  argv?: string[];
  warnings?: string[];
  /** What keeps it from starting; one of class warning gives way to an offer. */
  problems?: (Said & { text: string })[];
  /** What it leaves open: they start with more. */
  offers?: Offer[];
}
/** An agent that is known; install is the command line that installs it. */
export interface Agent { name: string; installed: boolean; text?: string; install?: string; models?: string[] }
/** A prompt of the folder's loops. */
export interface RecentPrompt { text: string; title: string; at: string }
/** Names a loop; with neither key, the only one there is. */
export interface LoopParams { loopId?: string; folder?: string }
/** text says what came of it. */
export interface LoopResult { loopId?: string; state?: string; iteration?: number; guidanceId?: string; text?: string }
/** A page of a loop's log, up to a cursor. reset: it begins anew here. more: there is more right now. */
export interface ReadResult { loopId?: string; updates: Update[]; cursor: string; more: boolean; complete: boolean; reset?: boolean }
/** What a log consists of: parts that are read by themselves, before the next one's cursor, the last before this cursor. */
export interface OutlineResult { parts: { cursor: string; iteration?: number; bytes: number }[]; iterations: Iteration[]; cursor: string }
/** A loop that is over, as the history has it. */
export interface PastLoop {
  loopId: string;
  /** Not on the wire: the folder that was asked about. */
  folder?: string;
  title: string;
  backend?: string;
  startedAt: string;
  text: string;
  class: Class;
  error?: string;
  sessionFileUri?: string;
  talks?: Talk[];
}
/** A file that a loop changed between two snapshots; text is for a row. */
export interface ChangedFile {
  /** Relative to the loop's folder, with slashes. */
  path: string;
  uri: string;
  status: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode';
  /** Its path before, when it was renamed. */
  from?: string;
  binary?: boolean;
  /** The user has reviewed it as it is at the end. */
  kept?: boolean;
  /** No later iteration changed it: what came of it is in the folder. */
  last?: boolean;
  text: string;
}
/** Asks for what language servers know of a folder's files; without paths at once. */
export interface DiagnosticsParams { folder: string; paths: string[] }
export interface Point { line: number; character: number }
/** URIs, but for the errors' own. seen: a language server has looked at them as they are on the disk. */
export interface DiagnosticsResult {
  settled: boolean;
  diagnostics: { uri: string; range: { start: Point; end: Point }; severity: number; code?: string | number; source?: string; message: string }[];
  seen: string[];
  busy?: string[];
  unsaved?: string[];
}
/** What a loop, or one of its iterations, changed. */
export interface ChangesResult {
  loopId: string;
  folder: string;
  files: ChangedFile[];
  /** There are more files, behind the last one. */
  more?: boolean;
  text: string;
  /** Those that changed something. */
  iterations: { iteration: number }[];
}
/** A file as it was; a link is its target. */
export interface FileResult { text?: string; base64?: string; absent?: boolean }
export interface KeepResult { text: string }
/** What came, or would come, of an undo or a redo. merged got conflict markers. */
export interface UndoResult extends Said { undone: string[]; merged?: string[]; refused: ({ path: string; reason: string } & Said)[] }

/** A start whose text is a command and no start; a dry run only names it. */
export interface SlashResult { command: '/cancel-ralph' | '/ralph-help'; text?: string }
export const isSlash = (result: object): result is SlashResult => 'command' in result;
export interface PlanResult { argv: string[]; env: Record<string, string>; cwd: string }
export interface Check { id: string; ok: boolean; message: string; fix?: string; /** Loops run without it. */ optional?: boolean; /** Shown on demand. */ minor?: boolean }
/** The verdict, and what it comes from: what is wrong first. */
export interface DoctorResult { text: string; checks: Check[] }

/** Why a command failed. */
export interface ErrorData {
  reason?: string;
  /** What can be done instead. */
  offers?: Offer[];
  /** Of its argument, the key that is wrong. */
  key?: string;
  /** What to ask the user before a start that replaces a loop. */
  question?: string;
}
