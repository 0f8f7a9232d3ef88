// The transcript of a loop: markdown made of its updates.
import { t } from './l10n';
import { facts, table } from './show';
import type { Chunk, Iteration, Said, ToolCall, ToolCallUpdate, Update } from './wire';

/** Characters of a transcript that are kept; older ones go first. Each refresh costs the editor time for all of them. */
const maxLength = 192 * 1024;
/** Lines of a tool's output that are shown. */
const maxOutputLines = 20;
const maxOutputChars = 4000;

export class Transcript {
  private readonly parts: string[] = [];
  /** In characters. */
  length = 0;
  private cut = false;
  private openMessage: string | undefined;
  /** Where the text of the running attempt starts, by message, to take it back. */
  private readonly messageParts = new Map<string, number[]>();
  private forgotten = 0;

  constructor(private readonly thinking: boolean) {}

  add(updates: readonly Update[]): void {
    for (const u of updates) this.one(u);
    this.trim();
  }

  text(): string {
    const head = this.cut ? `*${t('... the beginning is not kept ...')}*\n\n` : '';
    return head + this.parts.join('');
  }

  private one(u: Update): void {
    switch (u.sessionUpdate) {
      case 'agent_message_chunk': case 'agent_thought_chunk': return this.chunk(u);
      case 'user_message_chunk': return this.block(quote((u.fromAgentId ? `${u.fromAgentId}: ` : '') + u.content.text));
      case '_ralph/discard': return this.discard(u.messageId);
      case 'tool_call': return this.toolCall(u);
      case 'tool_call_update': return this.toolResult(u);
      case '_ralph/iteration': return this.iteration(u);
      case '_ralph/note': return this.note(facts(u.label, u.text));
      case '_ralph/end': return this.block(`---\n\n**${plain(u.text ?? u.stopReason)}**${u.receipt ? `\n\n${table(u.receipt.map((row) => [row.label, row.text]))}` : ''}`);
      case 'usage_update': return;
      default: return this.said(u);
    }
  }

  private chunk(u: Chunk): void {
    const thought = u.sessionUpdate === 'agent_thought_chunk';
    if ((thought && !this.thinking) || u.parentToolCallId) return;
    const key = `${u.sessionUpdate} ${u.messageId ?? ''}`;
    if (this.openMessage !== key) {
      this.close();
      this.openMessage = key;
      if (thought) this.push(`*${t('Thinking')}:* `, u.messageId);
    }
    this.push(u.content.text, u.messageId);
  }

  /** A failed attempt's text is struck from the transcript. */
  private discard(messageId: string | undefined): void {
    for (const at of this.messageParts.get(messageId ?? '') ?? []) {
      const part = at - this.forgotten;
      if (part < 0) continue;
      this.length -= this.parts[part]?.length ?? 0;
      this.parts[part] = '';
    }
    this.messageParts.delete(messageId ?? '');
    this.openMessage = undefined;
  }

  private toolCall(u: ToolCall): void {
    const title = u.title === u.name ? '' : ` ${code(u.title)}`;
    this.block(`${u.parentToolCallId ? '> ' : ''}**${u.name}**${title}`);
  }

  private toolResult(u: ToolCallUpdate): void {
    if (u.status === 'in_progress') return;
    const output = (u.content ?? []).map((c) => c.content.text).join('');
    if (u.status === 'failed') this.block(`✗ ${t('failed')}`);
    if (output.trim()) this.block(fence(shorten(output)));
  }

  private iteration(u: Iteration): void {
    this.messageParts.clear();
    this.block(u.phase === 'begin' ? `## ${capital(u.text ?? '')}` : `*${u.text}*`);
  }

  private said({ text, class: kind }: Said): void {
    if (text) this.note(`${kind === 'warning' || kind === 'error' ? '⚠ ' : ''}${plain(text)}`);
  }

  private note(text: string): void {
    this.block(`> ${text.replaceAll('\n', '\n> ')}`);
  }

  private block(text: string): void {
    this.close();
    this.push(`${text}\n\n`);
  }

  private close(): void {
    if (this.openMessage !== undefined) this.push('\n\n');
    this.openMessage = undefined;
  }

  private push(text: string, messageId?: string): void {
    if (messageId !== undefined) {
      const at = this.messageParts.get(messageId) ?? [];
      at.push(this.parts.length + this.forgotten);
      this.messageParts.set(messageId, at);
    }
    this.parts.push(text);
    this.length += text.length;
  }

  private trim(): void {
    let drop = 0;
    for (let over = this.length - maxLength; over > 0 && drop < this.parts.length - 1; drop++) {
      const part = this.parts[drop]?.length ?? 0;
      over -= part;
      this.length -= part;
    }
    if (drop === 0) return;
    this.parts.splice(0, drop);
    this.forgotten += drop;
    this.cut = true;
  }
}

function quote(text: string): string {
  return `> ${text.replaceAll('\n', '\n> ')}`;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** A line of plain words: what would be markup in it is code. */
function plain(text: string): string {
  return text.replace(/<promise>.*?<\/promise>/g, code);
}

function code(text: string): string {
  const ticks = '`'.repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((m) => m[0].length)));
  return ticks.length === 1 ? `\`${text}\`` : `${ticks} ${text} ${ticks}`;
}

function fence(text: string): string {
  const ticks = '`'.repeat(Math.max(3, 1 + Math.max(0, ...[...text.matchAll(/`+/g)].map((m) => m[0].length))));
  return `${ticks}text\n${text.trimEnd()}\n${ticks}`;
}

/** The first and the last lines of a long output. */
function shorten(output: string): string {
  const lines = output.slice(-maxOutputChars * 4).trimEnd().split('\n');
  const left = lines.length <= maxOutputLines ? lines
    : [...lines.slice(0, maxOutputLines / 2), t('... {0} lines ...', lines.length - maxOutputLines), ...lines.slice(-maxOutputLines / 2)];
  const text = left.join('\n');
  return text.length <= maxOutputChars ? text : `${text.slice(0, maxOutputChars)}…`;
}
