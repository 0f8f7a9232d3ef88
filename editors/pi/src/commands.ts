// The commands that users type. What they mean and what comes of them is the server's to say.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ExtensionAPI } from '@earendil-works/pi-coding-agent';
import type { AutocompleteItem } from '@earendil-works/pi-tui';
import type { Ralph, Result, Shown } from './ralph.ts';
import { type Answer, type Command, type Loop, type Name, type Question } from './wire.ts';

interface SlashCommand {
  description: string;
  run(ralph: Ralph, args: string): Promise<void>;
  complete?(ralph: Ralph, typed: string): Promise<AutocompleteItem[] | null>;
}

const completionPatience = 2000; // ms
const wholeLoop = 'all';
const mostLines = 300; // of a patch
const widestLine = 72; // of the list of commands, without what marks its lines

const all: Record<string, SlashCommand> = {
  'ralph-loop': {
    description: 'Run a prompt in a loop, each time with a fresh context: PROMPT --completion-promise DONE --max-iterations 20',
    run: start,
    complete: (ralph, typed) => completeFlags(ralph, 'start-text', typed),
  },
  'cancel-ralph': { description: 'End the loop and all that it started', run: (ralph) => run(ralph, 'ralph.loop.cancel') },
  'ralph-status': { description: 'How the loop stands', run: status },
  'ralph-steer': { description: 'Tell the agents something; --once one run, --forget N takes it back', run: steer },
  'ralph-answer': {
    description: 'Answer what waits for you; what the agent asks also at once: deny WHY, once, loop, or a value',
    run: answer,
    complete: completeAnswer,
  },
  'ralph-next': { description: 'End this run and begin the next', run: (ralph) => run(ralph, 'ralph.loop.next') },
  'ralph-detach': { description: 'Let the loop go on without pi', run: (ralph) => run(ralph, 'ralph.loop.detach') },
  'ralph-pause': { description: 'Finish this run and wait', run: (ralph) => run(ralph, 'ralph.loop.pause') },
  'ralph-resume': {
    description: 'Go on, also with other limits: 80, $5, 2h',
    run: resume,
    complete: (ralph, typed) => completeFlags(ralph, 'limits-text', typed),
  },
  'ralph-update': {
    description: 'Change limits or the promise at once: 80, +10, $5, --completion-promise DONE',
    run: (ralph, text) => run(ralph, 'ralph.loop.update', { text }),
    complete: (ralph, typed) => completeFlags(ralph, 'limits-text', typed),
  },
  'ralph-changes': { description: 'What the loop changed, or one iteration: 3', run: changes, complete: completeIterations },
  'ralph-land': {
    description: 'Bring what the loop did in its worktree to your branch: --squash, --rebase, -m TEXT, --discard',
    run: (ralph, text) => ralph.run('ralph.loop.land', { folder: ralph.folder, text }),
  },
  'ralph-undo': { description: 'Take back what the loop changed, or one iteration: 3; since 3', run: undo, complete: completeIterations },
  'ralph-redo': { description: 'Make the changes again that the last undo took back', run: (ralph) => takeBack(ralph, 'ralph.loop.redo', {}) },
  'ralph-help': {
    description: 'These commands; all: how loops work, and all flags',
    run: async (ralph, which) => which === wholeLoop ? ralph.run('ralph.help', {}) : ralph.tell({ text: 'help', class: 'info', markdown: listOfCommands() }),
  },
};

/** A line for each command, as short as a screen of 80 columns and 24 lines is. */
export function listOfCommands(): string {
  return Object.entries(all).map(([name, { description }]) => `- \`/${name}\` ${shortened(description, widestLine - name.length)}`).join('\n');
}

/** The first of the parts of a text that fit; they end with a semicolon or a colon. */
export function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  const ends = [...text.slice(0, width + 1).matchAll(/[;:] /g)].map((end) => end.index);
  return text.slice(0, ends.at(-1) ?? width);
}

export function registerCommands(pi: ExtensionAPI, current: () => Ralph | undefined): void {
  for (const [name, { description, run, complete }] of Object.entries(all)) {
    pi.registerCommand(name, {
      description,
      handler: async (args) => {
        const ralph = current();
        if (!ralph) throw new Error(`/${name} needs somebody who looks: run "ralph-lsp run" where pi has no screen`);
        await run(ralph, args.trim());
      },
      ...complete && { getArgumentCompletions: async (typed: string) => {
        const ralph = current();
        return ralph ? complete(ralph, typed).catch(() => null) : null; // what is wrong is told when it is run
      } },
    });
  }
}

/** The command that a text begins with, and what stands behind it. */
export function commandIn(text: string): { run: SlashCommand['run']; rest: string } | undefined {
  const [, name = '', rest = ''] = /^\/([a-z-]+)\s([\s\S]*)$/.exec(text) ?? [];
  const command = Object.hasOwn(all, name) ? all[name] : undefined;
  return command && { run: command.run, rest: rest.trim() };
}

/** Runs a command about the session's loop. */
async function run(ralph: Ralph, command: Name, argument: Record<string, unknown> = {}): Promise<void> {
  await ralph.run(command, { ...await ralph.target(), ...argument });
}

/** The session's model is the loop's, where nobody names another. */
async function start(ralph: Ralph, text: string): Promise<void> {
  const { model } = ralph.ctx;
  const host = { backend: 'pi', ...model && { model: `${model.provider}/${model.id}` } };
  await ralph.run('ralph.loop.start', { folder: ralph.folder, text, settings: { host } });
}

async function steer(ralph: Ralph, text: string): Promise<void> {
  await run(ralph, 'ralph.loop.steer', { text });
}

/** The question that has waited longest here. */
function firstQuestion(ralph: Ralph): Question | undefined {
  return ralph.loop()?.questions?.[0];
}

async function answer(ralph: Ralph, typed: string): Promise<void> {
  const question = firstQuestion(ralph);
  if (typed === '') {
    if (ralph.questions.come()) return;
    if (question) ralph.questions.isExpected = true;
  }
  const [, word = '', words = ''] = /^(\S*)\s*([\s\S]*)$/.exec(typed) ?? [];
  const known = question?.offers?.some((offer) => (offer.arguments?.[0] as Answer).answer === word);
  const given = typed === '' ? {} : known && word !== 'value' ? { answer: word, ...words && { text: words } } : { answer: 'value', text: typed };
  await run(ralph, 'ralph.loop.answer', { ...given, ...question && { loopId: question.loopId, id: question.id } });
}

async function completeAnswer(ralph: Ralph, typed: string): Promise<AutocompleteItem[] | null> {
  const items = (firstQuestion(ralph)?.offers ?? []).map(({ title, arguments: given }) => {
    const { answer, text } = given?.[0] as Answer;
    return { value: answer === 'value' ? text ?? '' : answer, label: title };
  });
  return items.filter((item) => item.value.startsWith(typed) && item.value !== typed);
}

async function resume(ralph: Ralph, text: string): Promise<void> {
  const loop = ralph.loop();
  if (text === '' && loop && !loop.live && loop.offers?.length) await ralph.choose(`Ralph: ${loop.text ?? ''}`, loop.offers);
  else await run(ralph, 'ralph.loop.resume', { text });
}

async function status(ralph: Ralph): Promise<void> {
  let allowed: NonNullable<Loop['allowed']> = [];
  await ralph.run('ralph.loop.status', { folder: ralph.folder }, ({ loops, text }: Result & { loops: Loop[] }) => {
    if (text) ralph.say(text);
    for (const { text, state, class: kind, details = [] } of loops) {
      const width = Math.max(...details.map((row) => row.label.length));
      ralph.tell({ text: text ?? state, class: kind, rows: details.map((row) => `${row.label.padEnd(width)}  ${row.text}`) });
    }
    allowed = loops.flatMap((loop) => loop.allowed ?? []);
  });
  const offers = allowed.flatMap((rule) => rule.offers.map((offer) => ({ ...offer, title: `${offer.title}: ${rule.text}` })));
  if (offers.length > 0) await ralph.choose('What the agent may do in the loop', offers);
}

interface Changes extends Result {
  files: { path: string; status: string; text: string }[];
  iterations: { iteration: number; text: string }[];
}

async function changes(ralph: Ralph, which: string): Promise<void> {
  const iteration = which === '' || which === wholeLoop ? undefined : Number(which);
  const range = iteration === undefined ? {} : { from: iteration - 1, to: iteration };
  if (iteration !== undefined && !(Number.isSafeInteger(iteration) && iteration > 0)) {
    ralph.say(`"${which}" is no iteration: say its number, or nothing for the whole loop`, 'error');
    return;
  }
  const what = iteration === undefined ? 'Changes' : `Changes of iteration ${iteration}`;
  await ralph.run('ralph.loop.changes', { ...await ralph.target(), show: true, ...range }, (answer: Changes) => ralph.tell({
    text: `${what}: ${answer.text}`,
    class: answer.class ?? 'info',
    rows: answer.files.map((file) => `${file.path} ${file.text}`),
    patch: patchOf(ralph.shown),
  }));
}

interface Undone extends Result {
  undone: string[];
  merged?: string[];
  refused: { text: string; offers?: Command[] }[];
}

async function undo(ralph: Ralph, which: string): Promise<void> {
  const [, since, number] = /^(since )?\s*(\d+)$/.exec(which === '' || which === wholeLoop ? 'since 1' : which) ?? [];
  if (!Number(number)) ralph.say(`"${which}" is no iteration: say its number, since and a number, or nothing for the whole loop`, 'error');
  else await takeBack(ralph, 'ralph.loop.undo', since ? { since: Number(number) } : { iteration: Number(number) });
}

/** Says what an undo or a redo would do, and does it if its user says so. */
async function takeBack(ralph: Ralph, command: 'ralph.loop.undo' | 'ralph.loop.redo', which: Record<string, unknown>): Promise<void> {
  const argument = { ...await ralph.target(), ...which };
  await ralph.run(command, { ...argument, dryRun: true }, (would: Undone) => {
    const isNothing = would.undone.length + (would.merged ?? []).length === 0;
    const offer = { title: command === 'ralph.loop.undo' ? 'Undo' : 'Redo', command, arguments: [argument] };
    const told = (done: Result): void => tellUndone(ralph, done as Undone);
    if (isNothing) void ralph.run(command, argument, told); // writes nothing, and offers what a dry run doesn't
    else void ralph.choose(`Ralph: ${would.text ?? ''}`, [offer], undefined, told);
  });
}

/** Says what became of an undo, and asks what is to be done with files that were left as they are. */
function tellUndone(ralph: Ralph, { text = '', class: kind = 'info', refused }: Undone): void {
  ralph.say([text, ...refused.map((file) => file.text)].join('\n'), kind);
  const offers = refused.flatMap((file) => (file.offers ?? []).map((offer) => ({ ...offer, title: `${offer.title}: ${file.text}` })));
  if (offers.length > 0) void ralph.choose(`Ralph: ${text}`, offers, undefined, (done) => tellUndone(ralph, done as Undone));
}

/** The hunks of a patch, as far as an entry keeps them. */
function patchOf(shown: Shown | undefined): string[] | undefined {
  if (!shown) return undefined;
  const lines = shown.text.slice(Math.max(0, shown.text.indexOf('diff --git '))).trimEnd().split('\n');
  return lines.length <= mostLines ? lines : [...lines.slice(0, mostLines), `… ${lines.length - mostLines} more lines in ${shown.path}`];
}

async function completeIterations(ralph: Ralph, typed: string): Promise<AutocompleteItem[] | null> {
  const { iterations, text = '' } = await ralph.execute('ralph.loop.changes', { folder: (ralph.loop() ?? ralph).folder }) as Changes;
  const items = [{ value: wholeLoop, label: wholeLoop, description: text }, ...iterations.map((i) => ({ value: `${i.iteration}`, label: `${i.iteration}`, description: i.text }))];
  return items.filter((item) => item.value.startsWith(typed) && item.value !== typed);
}

/** Flags and their values, as the program completes them for a shell. */
async function completeFlags(ralph: Ralph, texts: 'start-text' | 'limits-text', typed: string): Promise<AutocompleteItem[] | null> {
  const lead = /\S*$/.exec(typed)?.[0] ?? '';
  if (!lead.startsWith('-')) return null;
  const flag = /^--[\w-]+=/.exec(lead)?.[0] ?? '';
  const { stdout } = await promisify(execFile)(ralph.program, ['__complete', texts, lead], { cwd: ralph.ctx.cwd, timeout: completionPatience });
  const lines = stdout.trimEnd().split('\n').slice(0, -1); // the last says what a shell is to do
  const items = lines.map((line) => {
    const [word = '', description = '', behind = ''] = line.split('\t'); // a = where the flag must have a value
    const value = flag + word + behind;
    return { value: typed.slice(0, typed.length - lead.length) + value, label: word, description: description.replaceAll('`', '') };
  });
  return items.filter((item) => item.value.startsWith(typed) && item.value !== typed);
}
