import type { ChildProcess } from 'node:child_process';
import { Refusal } from './wire.ts';

/** How a process ended. */
export interface End {
  code: number | null;
  signal: string | null;
  errors: string; // the end of what it wrote to stderr
}

/** What hears a connection. */
export interface Listener {
  notified(method: string, params: unknown): void;
  /** Answers a request; signal says that it was withdrawn. */
  asked(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  ended(end: End): void;
}

interface Message {
  id?: number | string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string; data?: Refusal['data'] };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const keptErrors = 2000; // characters of stderr

/** JSON-RPC in LSP's frames with a process. */
export class Connection {
  /** Set by whoever uses the connection now. */
  listener: Listener | undefined;
  private readonly process: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private readonly questions = new Map<number | string, AbortController>();
  private readonly frames = new Frames();
  private lastId = 0;
  private errors = '';
  private end: End | undefined;

  constructor(process: ChildProcess) {
    this.process = process;
    process.stdout?.on('data', (chunk: Buffer) => this.take(chunk));
    process.stderr?.on('data', (chunk: Buffer) => {
      this.errors = (this.errors + chunk.toString()).slice(-keptErrors);
    });
    for (const pipe of [process.stdin, process.stdout, process.stderr]) {
      pipe?.on('error', () => {}); // the process's end tells it
    }
    process.on('error', (error) => this.close({ code: null, signal: null, errors: error.message }));
    process.on('close', (code, signal) => this.close({ code, signal, errors: this.errors.trim() }));
  }

  get isOpen(): boolean {
    return this.end === undefined;
  }

  request(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.end) {
        reject(new Refusal(describe(this.end)));
        return;
      }
      const id = ++this.lastId;
      this.waiting.set(id, { resolve, reject });
      this.send({ id, method, params });
    });
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params });
  }

  /** Ends the process as LSP says, and by force when it takes longer than patience (ms). */
  async stop(patience: number): Promise<void> {
    if (this.end) {
      return;
    }
    const gone = new Promise<void>((resolve) => this.process.once('close', () => resolve()));
    const timer = setTimeout(() => this.process.kill('SIGKILL'), patience);
    this.request('shutdown', undefined).catch(() => {});
    this.notify('exit', undefined);
    this.process.stdin?.end();
    await gone;
    clearTimeout(timer);
  }

  private send(message: Message): void {
    if (this.end || !this.process.stdin?.writable) {
      return;
    }
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  private take(chunk: Buffer): void {
    this.frames.add(chunk);
    for (let body = this.frames.next(); body !== undefined; body = this.frames.next()) {
      try {
        this.handle(JSON.parse(body) as Message);
      } catch (error) {
        this.errors = `${this.errors}\n${String(error)}`.slice(-keptErrors); // one bad message ends nothing
      }
    }
    if (this.frames.broken) {
      this.process.kill();
    }
  }

  private handle(message: Message): void {
    if (message.method === undefined) {
      const waiting = this.waiting.get(message.id as number);
      this.waiting.delete(message.id as number);
      if (message.error) {
        waiting?.reject(new Refusal(message.error.message, message.error.data));
      } else {
        waiting?.resolve(message.result);
      }
    } else if (message.id !== undefined) {
      void this.answer(message.id, message.method, message.params);
    } else if (message.method === '$/cancelRequest') {
      this.questions.get((message.params as { id: number }).id)?.abort();
    } else {
      this.listener?.notified(message.method, message.params);
    }
  }

  private async answer(id: number | string, method: string, params: unknown): Promise<void> {
    const withdrawn = new AbortController();
    this.questions.set(id, withdrawn);
    try {
      const result = await this.listener?.asked(method, params, withdrawn.signal);
      this.send({ id, result: result ?? null });
    } catch (error) {
      this.send({ id, error: { code: -32601, message: String(error) } as Message['error'] });
    } finally {
      this.questions.delete(id);
    }
  }

  private close(end: End): void {
    if (this.end) {
      return;
    }
    this.end = end;
    for (const { reject } of this.waiting.values()) {
      reject(new Refusal(describe(end)));
    }
    this.waiting.clear();
    for (const question of this.questions.values()) {
      question.abort();
    }
    this.listener?.ended(end);
  }
}

/** What is said of a process that ended by itself. */
export function describe(end: End): string {
  const how = end.signal ? `was ended by ${end.signal}` : `ended with exit code ${end.code ?? 'unknown'}`;
  return `ralph-lsp ${how}${end.errors ? `: ${end.errors}` : ''}`;
}

/** Splits what comes into the bodies of frames. */
export class Frames {
  broken = false; // no frame can be found any more
  private chunks: Buffer[] = [];
  private size = 0;
  private wanted = 0; // so many bytes make it worth looking again

  add(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
  }

  next(): string | undefined {
    if (this.broken || this.size === 0 || this.size < this.wanted) {
      return undefined;
    }
    const all = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
    this.chunks = [all];
    const header = all.indexOf('\r\n\r\n');
    if (header < 0) {
      this.broken = all.length > 4096;
      return undefined;
    }
    const length = /content-length: *(\d+)/i.exec(all.toString('latin1', 0, header))?.[1];
    if (length === undefined) {
      this.broken = true;
      return undefined;
    }
    const end = header + 4 + Number(length);
    if (all.length < end) {
      this.wanted = end;
      return undefined;
    }
    this.wanted = 0;
    this.chunks = [all.subarray(end)];
    this.size = all.length - end;
    return all.toString('utf8', header + 4, end);
  }
}
