// The wire format as the Go package wire has it. What doesn't apply is left out of
// a message; nothing is ever null.

export const protocolVersion = 2;

export const method = {
  status: 'ralph/status',
  update: 'ralph/update',
  setUpdates: 'ralph/setUpdates',
} as const;

/** The server's commands (workspace/executeCommand). The editor's own differ from them. */
export const command = {
  start: 'ralph.loop.start',
  cancel: 'ralph.loop.cancel',
  pause: 'ralph.loop.pause',
  resume: 'ralph.loop.resume',
  update: 'ralph.loop.update',
  steer: 'ralph.loop.steer',
  status: 'ralph.loop.status',
  output: 'ralph.loop.output',
  read: 'ralph.loop.read',
  history: 'ralph.loop.history',
  transcript: 'ralph.loop.transcript',
  plan: 'ralph.plan',
  help: 'ralph.help',
  doctor: 'ralph.doctor',
} as const;
export type CommandId = (typeof command)[keyof typeof command];

/** Which updates the editor wants: none, all but the agent's text, or all. */
export type UpdateLevel = 'none' | 'tools' | 'all';

export type LoopState =
  'idle' | 'starting' | 'running' | 'waiting' | 'paused' | 'cancelling' | 'interrupted' | 'failed' | 'ended';

export type StopReason =
  | 'promise' | 'max_iterations' | 'max_cost' | 'max_time' | 'cancelled' | 'state_removed' | 'failures'
  | 'permission_denied' | 'stalled' | 'backend_error' | 'interrupted' | 'bad_state_file';

export interface Tokens { input: number; output: number; cacheRead: number; cacheWrite: number }
export interface Money { amount: number; currency: string }

/** A loop in a ralph/status snapshot. Times are RFC 3339. */
export interface LoopStatus {
  loopId?: string;
  /** File URI. */
  folder: string;
  state: LoopState;
  /** How it stands, in one line. */
  text?: string;
  iteration?: number;
  /** Absent: unlimited. */
  maxIterations?: number;
  startedAt?: string;
  iterationStartedAt?: string;
  backend?: { name: string; version?: string; provider?: string; model?: string };
  hat?: string;
  /** Absent: unknown, which is not zero. */
  cost?: Money & { limit?: number; iteration?: number; estimated: boolean };
  /** Time spent running by the iterations that ended. */
  time?: { spentMs: number; limitMs?: number };
  tokens?: Tokens;
  context?: { used: number; size?: number };
  quota?: { window: string; utilization?: number; resetsAt?: string }[];
  tool?: { toolCallId: string; name: string; title: string; kind: ToolKind; startedAt?: string };
  retry?: { attempt?: number; resumeAt?: string; reason?: string; text?: string };
  stopReason?: StopReason;
  error?: string;
  /** Of one that is over, where that is known. */
  endedAt?: string;
  /** False: another process drives the loop, or nobody. */
  owned: boolean;
  stateFileUri?: string;
  sessionFileUri?: string;
}

export interface StatusParams {
  seq: number;
  health: 'ok' | 'warning' | 'error';
  busy: boolean;
  message: string;
  loops: LoopStatus[];
}

/** seq is the number of the last update; the first of a loop is 1. */
export interface UpdateParams {
  loopId: string;
  seq: number;
  iteration?: number;
  dropped: number;
  updates: Update[];
}

export type ToolKind = 'read' | 'edit' | 'delete' | 'move' | 'search' | 'execute' | 'think' | 'fetch' | 'other';
export interface TextContent { type: 'text'; text: string }
export interface ToolContent { type: 'content'; content: TextContent }

export interface Chunk {
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk' | 'user_message_chunk';
  messageId?: string;
  parentToolCallId?: string;
  /** Of a user_message_chunk: the agent that said it; absent: the user. */
  fromAgentId?: string;
  fromSessionId?: string;
  content: TextContent;
  truncated?: boolean;
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
}
export interface ToolCallUpdate {
  sessionUpdate: 'tool_call_update';
  toolCallId: string;
  parentToolCallId?: string;
  status: 'in_progress' | 'completed' | 'failed';
  content?: ToolContent[];
}
export interface UsageUpdate { sessionUpdate: 'usage_update'; used?: number; size?: number; cost?: Money }
export interface SessionUpdate {
  sessionUpdate: '_ralph/session';
  backend?: string; version?: string; provider?: string; model?: string; sessionId?: string;
}
/** Takes back the chunks of a message: the attempt failed. */
export interface Discard { sessionUpdate: '_ralph/discard'; messageId?: string; parentToolCallId?: string }
export type Outcome = 'ok' | 'error' | 'cancelled' | 'timeout';
export interface Iteration {
  sessionUpdate: '_ralph/iteration';
  phase: 'begin' | 'end';
  iteration: number;
  maxIterations?: number;
  outcome?: Outcome;
  error?: string;
  costUsd?: number;
  turns?: number;
  toolCalls?: number;
  durationMs?: number;
  tokens?: Tokens;
  skippedLines?: number;
}
export interface StateChange { sessionUpdate: '_ralph/state'; state: LoopState; resumeAt?: string; reason?: string; text?: string }
export interface Retry {
  sessionUpdate: '_ralph/retry';
  attempt: number; maxAttempts?: number; delayMs: number; reason?: string; message?: string;
}
export interface Compaction { sessionUpdate: '_ralph/compaction'; done: boolean; reason?: string; error?: string }
export interface Topic { sessionUpdate: '_ralph/topic'; topic: string; target?: string; payload: string }
/** What the user is told: finished words, and commands of the sidecar, the safe one first. */
export interface Said { text: string; class: 'info' | 'ok' | 'warning' | 'error'; offers?: Offer[] }
export interface Offer { title: string; command: CommandId; arguments?: object[] }
/** At a loop's start: the promise that ends it. */
export interface Goal extends Said { sessionUpdate: '_ralph/goal'; promise: string; source?: string }
export interface NearMiss extends Said { sessionUpdate: '_ralph/promise'; matched: boolean; found: string; expected?: string; message?: string }
export interface Guidance { sessionUpdate: '_ralph/guidance'; guidanceId: string; state: 'queued' | 'delivered' }
export interface LimitsUpdate extends Limits { sessionUpdate: '_ralph/limits' }
export interface Warning extends Said { sessionUpdate: '_ralph/warning'; message: string }
export interface ErrorUpdate { sessionUpdate: '_ralph/error'; message: string; retryable: boolean; kind?: string }
export interface End {
  sessionUpdate: '_ralph/end';
  stopReason: StopReason;
  promise?: string;
  iterations: number;
  costUsd?: number;
  tokens?: Tokens;
  durationMs: number;
  error?: string;
  denials?: { tool: string; detail?: string }[];
}
/** An entry of another program's in a session. */
export interface Note { sessionUpdate: '_ralph/note'; label: string; text?: string }
export type Update =
  | Chunk | ToolCall | ToolCallUpdate | UsageUpdate | SessionUpdate | Discard | Iteration | StateChange | Retry
  | Compaction | Topic | Goal | NearMiss | Guidance | LimitsUpdate | Warning | ErrorUpdate | End | Note;

/** Limits and promise of a loop; 0 is unlimited, absent leaves it as it is. */
export interface Limits {
  maxIterations?: number;
  completionPromise?: string;
  maxCostUsd?: number;
  maxDurationMs?: number;
  idleTimeoutMs?: number;
  maxConsecutiveFailures?: number;
}

/** The argument of a start: one of prompt, promptUri and text (which may hold flags). */
/** What both a start and the editor's settings may say. */
export interface Choices extends Limits {
  backend?: string;
  hat?: string;
  model?: string;
  args?: string[];
}
export interface StartParams extends Choices {
  folder?: string;
  prompt?: string;
  promptUri?: string;
  text?: string;
  replace?: boolean;
  dryRun?: boolean;
  /** The start wins over them, they over ralph.toml. */
  settings?: Choices;
}
export interface StartResult { loopId: string; state: LoopState; stateFileUri: string; sessionFileUri?: string; warnings?: string[] }
export interface DryRunResult {
  argv: string[];
  cwd: string;
  promptBytes: number;
  limits: Required<Omit<Limits, 'completionPromise'>> & { completionPromise?: string };
  sources: Record<string, string>;
  warnings?: string[];
}
/** Names a loop; with neither key, the only one there is. */
export interface LoopParams { loopId?: string; folder?: string }
export interface LoopResult { loopId?: string; state: LoopState; iteration?: number }
export interface OutputResult { updates: Update[]; nextSeq: number; complete: boolean }
export interface TranscriptResult { updates: Update[]; nextCursor?: string }
export interface PastLoop {
  loopId: string;
  /** Not on the wire: the folder that was asked about. */
  folder?: string;
  title?: string;
  backend?: string;
  startedAt: string;
  stopReason: StopReason;
  promise?: string;
  iterations: number;
  costUsd?: number;
  durationMs: number;
  error?: string;
  sessionFileUri?: string;
}
/** A start whose text is a command and no start; a dry run only names it. */
export interface SlashResult { command: '/cancel-ralph' | '/ralph-help'; loopId?: string; state?: LoopState; iteration?: number; markdown?: string }
export const isSlash = (result: object): result is SlashResult => 'command' in result;
export interface PlanResult { argv: string[]; env: Record<string, string>; cwd: string }
export interface Check { id: string; ok: boolean; message: string; fix?: string }

/** Why a command failed, in the error's data.reason. */
export type Reason =
  | 'already_running' | 'not_running' | 'backend_not_found' | 'untrusted' | 'state_locked' | 'bad_state_file'
  | 'bad_config' | 'empty_prompt' | 'bad_prompt' | 'limit_reached' | 'no_folder' | 'interrupted' | 'no_session';
export interface ErrorData {
  reason?: Reason;
  owner?: { pid?: number; host?: string; startedAt?: string };
  checked?: string[];
  path?: string;
  install?: Record<string, string>;
  iteration?: number;
  stopReason?: StopReason;
  /** What to ask the user before a start that replaces a loop. */
  question?: string;
}
