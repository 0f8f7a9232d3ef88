// What is on the screen: the footer, the widget above the editor, and entries.
import type { CustomEntry, ExtensionContext, Theme } from '@earendil-works/pi-coding-agent';
import { getMarkdownTheme } from '@earendil-works/pi-coding-agent';
import { type Component, Container, Markdown, Text, type TUI, truncateToWidth } from '@earendil-works/pi-tui';
import { type Entry, type Feed, lastLines, toolLines } from './feed.ts';
import type { Class, Loop } from './wire.ts';

/** The name of what we put on the screen and into the session. */
export const key = 'ralph';

const colours = { info: 'accent', ok: 'success', warning: 'warning', error: 'error' } as const satisfies Record<Class, string>;
const colourOf = (kind: Class | undefined) => colours[kind ?? 'info'] ?? colours.info; // pi dies of a colour that there isn't

const redrawn = 100; // ms between two pictures of the widget, in a terminal
const sent = 500; // the same for a program that shows it
const widest = 500; // characters of a line
const mostRows = 10; // of an entry that isn't expanded

/** A line that nothing in it can break: the server's words are plain, files aren't. */
export function plain(text: string): string {
  return text.replace(/\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?/gs, '').replace(/\t/g, '  ').replace(/[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, ' ').slice(0, widest);
}

/** Whether a loop is worth a place on the screen. */
function isShown(loop: Loop | undefined): loop is Loop {
  return loop !== undefined && loop.state !== 'ended' && loop.state !== 'idle';
}

export class Screen {
  private readonly ctx: ExtensionContext;
  private readonly feed: Feed;
  private readonly loop: () => Loop | undefined;
  private timer: NodeJS.Timeout | undefined;
  private tui: TUI | undefined;
  private footer: string | undefined;
  private lines: string[] = []; // of the widget
  private over = false;

  constructor(ctx: ExtensionContext, feed: Feed, loop: () => Loop | undefined) {
    this.ctx = ctx;
    this.feed = feed;
    this.loop = loop;
  }

  /** Draws soon what has changed. */
  changed(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.draw();
    }, this.ctx.mode === 'tui' ? redrawn : sent);
  }

  /** Draws all: pi does so with a status, and not with what is put into its editor. */
  redraw(): void {
    this.ctx.ui.setStatus(key, this.footer);
  }

  /** Takes away all that is there. */
  end(): void {
    clearTimeout(this.timer);
    this.over = true;
    if (this.footer !== undefined) this.ctx.ui.setStatus(key, undefined);
    if (this.lines.length > 0) this.ctx.ui.setWidget(key, undefined);
  }

  private draw(): void {
    if (this.over) return;
    const loop = this.loop();
    const footer = isShown(loop) ? plain(`Ralph ${loop.line ?? loop.text ?? ''}`.trimEnd()) : undefined;
    if (footer !== this.footer) {
      this.ctx.ui.setStatus(key, footer);
      this.footer = footer;
    }
    const lines = isShown(loop) && loop.live ? this.picture(loop) : [];
    const same = lines.length === this.lines.length && lines.every((line, i) => line === this.lines[i]);
    const begins = this.lines.length === 0;
    this.lines = lines;
    if (same) return;
    if (lines.length === 0) {
      this.ctx.ui.setWidget(key, undefined);
      this.tui = undefined;
    } else if (this.ctx.mode !== 'tui') {
      this.ctx.ui.setWidget(key, lines);
    } else if (begins) {
      this.ctx.ui.setWidget(key, (tui, theme) => this.widget(tui, theme));
    } else {
      this.tui?.requestRender();
    }
  }

  /** What a loop does, in a few lines. */
  private picture(loop: Loop): string[] {
    const activity = this.feed.activity(loop.loopId);
    return [`Ralph ${loop.text ?? ''}`, ...toolLines(activity).slice(-3), ...lastLines(activity.said, 2)].map(plain);
  }

  private widget(tui: TUI, theme: Theme): Component {
    this.tui = tui;
    return {
      render: (width) => this.lines.map((line, i) =>
        truncateToWidth(` ${i === 0 ? theme.fg(colourOf(this.loop()?.class), line) : theme.fg('muted', `  ${line}`)}`, width)),
      invalidate: () => {},
    };
  }
}

/** Draws an entry of the conversation. */
export function renderEntry({ data }: CustomEntry<Entry>, { expanded }: { expanded: boolean }, theme: Theme): Component | undefined {
  if (typeof data?.text !== 'string') return undefined;
  if (data.markdown) return new Markdown(data.markdown, 1, 0, getMarkdownTheme());
  const box = new Container();
  const colour = colourOf(data.class);
  box.addChild(new Text(`${theme.fg(colour, '▌ Ralph')} ${theme.fg(data.class === 'info' ? 'text' : colour, plain(data.text))}`, 1, 0));
  const rows = (data.rows ?? []).slice(0, expanded ? undefined : mostRows);
  if (rows.length < (data.rows ?? []).length) rows.push('…');
  for (const line of expanded ? data.more ?? rows : rows) {
    const shown = theme.fg('muted', plain(line));
    box.addChild(expanded ? new Text(shown, 3, 0) : cut(shown));
  }
  for (const line of expanded ? data.patch ?? [] : []) {
    const added = /^\+/.test(line), removed = /^-/.test(line);
    box.addChild(new Text(theme.fg(added ? 'toolDiffAdded' : removed ? 'toolDiffRemoved' : 'toolDiffContext', plain(line)), 3, 0));
  }
  return box;
}

/** A line that ends with the screen. */
function cut(line: string): Component {
  return { render: (width) => [truncateToWidth(`   ${line}`, width)], invalidate: () => {} };
}
