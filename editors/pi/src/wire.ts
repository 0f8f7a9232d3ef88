// Of what ralph-lsp says and hears what this extension uses; the types are those of docs/protocol.ts, which the server's source makes.
import type * as wire from '../../../docs/protocol.ts';

/** The version of our own part of the protocol. */
export const version = 2;

/** A command of workspace/executeCommand. */
export type Name = keyof wire.Commands;
export type Class = NonNullable<wire.Notice['class']>;
export type Command = wire.Command;
export type Question = wire.Question;
/** What an agent is told. */
export type Answer = wire.PermissionResult;
/** A loop of an editor has a folder. */
export type Loop = wire.LoopStatus & { folder: string };
export type Status = Pick<wire.StatusParams, 'message'> & { loops: Loop[] };

/** An update, whatever it is about: what the extension reads of any. */
export interface Update extends wire.Notice, Partial<Pick<wire.ToolCall, 'toolCallId' | 'name' | 'title' | 'parentToolCallId'>>,
  Partial<Pick<wire.Iteration, 'iteration' | 'maxIterations'>>, Partial<Pick<wire.Question, 'detail'>> {
  sessionUpdate: string;
  messageId?: string;
  content?: wire.TextContent | wire.ToolContent[];
  status?: string;
  phase?: 'begin' | 'end';
  state?: string;
}
export type Updates = Pick<wire.UpdateParams, 'loopId' | 'after' | 'cursor'> & { updates: Update[] };

/** What a request that was refused is answered with. */
export class Refusal extends Error {
  readonly data: { reason?: string; question?: string; offers?: Command[] };

  constructor(message: string, data?: Refusal['data']) {
    super(message);
    this.data = data ?? {};
  }
}
