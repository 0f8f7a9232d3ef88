// Of the wire format what this extension uses; its types are those of docs/protocol.ts, which the server's source makes.
import type * as wire from '../../../docs/protocol';

export const protocolVersion = 2;

export const method = {
  status: 'ralph/status',
  update: 'ralph/update',
  diagnostics: 'ralph/diagnostics',
  permission: 'ralph/permission',
  setUpdates: 'ralph/setUpdates',
} as const;

/** One of the server's commands (workspace/executeCommand). The editor's own differ from them. */
export type CommandId = keyof wire.Commands;

export type {
  AgentInfo as Agent, AllowedRule, ChangedFile, ChangesResult, Check, Chunk, Command as Offer, DiagnosticsParams, DiagnosticsResult, DoctorResult,
  DryRunResult, End, FileResult, KeepResult, LoopParams, PastPrompt as RecentPrompt, PlanResult, Notice, Settings, SlashResult,
  StartParams, StartResult, Talk, ToolCall, ToolCallUpdate, ToolResult, UndoResult, UserChunk, Verify,
} from '../../../docs/protocol';

/** Which updates the editor wants: none, all but the agent's text, or all. */
export type UpdateLevel = wire.SetUpdatesParams['level'];
export type Class = NonNullable<wire.Notice['class']>;
export type ToolKind = wire.ToolCall['kind'];

/** A loop in a ralph/status snapshot: one of an editor has a folder and a title. */
export type LoopStatus = wire.LoopStatus & { folder: string; title: string };
export type StatusParams = Pick<wire.StatusParams, 'message' | 'text'> & { loops: LoopStatus[] };
/** A loop that is over, with the folder that was asked about, which isn't on the wire. */
export type PastLoop = wire.PastLoop & { folder?: string };
export type Question = wire.Question;
/** The argument of ralph.loop.answer. */
export type Answer = wire.AnswerParams;

export type Iteration = (wire.Iteration | wire.IterationEnd) & Pick<Partial<wire.IterationEnd>, 'changes'>;
type Asked = wire.Question & { sessionUpdate: '_ralph/question' };
export type Update = Exclude<wire.Update, wire.Question | wire.Iteration | wire.IterationEnd | wire.RecordedEnd> | Iteration | Asked;
export type UpdateParams = Omit<wire.UpdateParams, 'updates' | 'dropped'> & { updates: Update[] };
export type OutlineResult = Omit<wire.Outline, 'iterations'> & { iterations: Iteration[] };
export type ReadResult = Omit<wire.ReadResult, 'updates'> & { updates: Update[] };

/** The keys of what bounds a loop. */
export const limitKeys = ['maxIterations', 'maxCostUsd', 'maxDurationMs', 'idleTimeoutMs', 'toolTimeoutMs', 'maxConsecutiveFailures', 'maxUnchangedIterations', 'maxUnknownCostRuns'] as const satisfies (keyof wire.LoopLimits)[];
/** Limits and promise of a loop; 0 is unlimited, absent leaves it as it is. */
export type Limits = wire.LoopLimits;

/** Where a command on one loop left it: text says what came of it. */
export type LoopResult = Partial<wire.LoopResult & wire.SteerResult>;

/** A start whose text is a command and no start; a dry run only names it. */
export const isSlash = (result: object): result is wire.SlashResult => 'command' in result;

/** Why a command failed. */
export interface ErrorData {
  reason?: string;
  /** What can be done instead. */
  offers?: wire.Command[];
  /** Of its argument, the key that is wrong. */
  key?: string;
  /** What to ask the user before a start that replaces a loop. */
  question?: string;
}
