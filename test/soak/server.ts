/**
 * The server of a soak run: `orchplane serve` as a process that is killed and started again with the same folder and port.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import type { Report } from './checks.js';

const TOKEN = 'soak';

/** Runs in the server before the program: answers each message with the memory that is in use after a collection. */
const PROBE = `
  process.on('message', () => {
    globalThis.gc();
    const { heapUsed, rss } = process.memoryUsage();
    process.send({ heap: heapUsed / 1e6, rss: rss / 1e6 });
  });
  process.channel.unref();
`;

export interface ServerOptions {
  /** The path of the built command line. */
  readonly program: string;
  readonly folder: string;
  readonly heapMegabytes: number;
  readonly report: Report;
}

export interface Answer<Body = unknown> {
  /** 0: no response arrived, so the result of the request is unknown. */
  readonly status: number;
  readonly body: Body;
  readonly text: string;
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly type?: string;
  readonly user?: string;
  /** Closes the connection after so many milliseconds. */
  readonly dropAfter?: number;
  readonly isWatch?: boolean;
}

/** Megabytes. */
export interface Memory {
  readonly heap: number;
  readonly rss: number;
}

export class Server {
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #errors = '';
  #port = 0;
  #running = 0;
  readonly #pending = new Set<string>();
  readonly #agent = new Agent({ keepAlive: true });
  #isStopping = false;
  #gate = newGate();

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  /** Resolves while requests may be sent. */
  get open(): Promise<void> {
    return this.#gate.promise;
  }

  allowRequests(): void {
    this.#gate.open();
  }

  /** Starts the process. Requests of drivers wait until {@link allowRequests}. */
  async start(): Promise<void> {
    const { program, folder, heapMegabytes, report } = this.#options;
    const options = [
      '--expose-gc',
      `--max-old-space-size=${heapMegabytes}`,
      '--import',
      `data:text/javascript,${PROBE}`,
    ];
    const flags = ['--no-tls', '--token', TOKEN, '--controllers', 'standard', '--max-heap', `${heapMegabytes}Mi`];
    const words = ['serve', '--data', join(folder, 'data'), '--port', String(this.#port), ...flags];
    const child = spawn(process.execPath, [...options, program, ...words], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.#child = child;
    this.#errors = '';
    this.#isStopping = false;
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      this.#errors += chunk;
    });
    child.once('close', (code, signal) => {
      if (!this.#isStopping) report.violation(`the server ended with ${signal ?? code}: ${this.#errors}`);
    });
    while (!text.includes('Ctrl-C')) {
      await Promise.race([child.stdout && once(child.stdout, 'data'), once(child, 'close')]);
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`no start: ${this.#errors}`);
    }
    this.#port = Number(/address +\S+:(\d+)/.exec(text)?.[1]);
  }

  /** Ends the process and waits until every request has its result. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { report } = this.#options;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    this.#gate = newGate();
    this.#isStopping = true;
    const closed = once(child, 'close');
    child.kill(signal);
    await closed;
    if (signal === 'SIGTERM' && child.exitCode !== 0) report.violation(`SIGTERM: exit code ${child.exitCode}`);
    const unexpected = this.#errors.split('\n').filter((line) => line !== '' && !MEMORY_NOTE.test(line));
    if (unexpected.length > 0) report.violation(`standard error: ${unexpected.join('\n')}`);
    while (this.#running > 0) await pause(5);
  }

  measure(): Promise<Memory> {
    const child = this.#child;
    if (child === undefined) throw new Error('the server is not running');
    const settled = new AbortController();
    const { signal } = settled;
    const measured = once(child, 'message', { signal }).then(([memory]) => memory as Memory);
    const closed = once(child, 'close', { signal }).then(() => Promise.reject(new Error('the server ended')));
    child.send({});
    return Promise.race([measured, closed]).finally(() => settled.abort());
  }

  /** Sends a request as soon as the server accepts requests. */
  async send<Body>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<Body>> {
    await this.open;
    return this.sendNow<Body>(method, path, options);
  }

  /** Sends a request also while the drivers wait. */
  async sendNow<Body>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<Body>> {
    const { report } = this.#options;
    this.#running++;
    report.count('requests');
    const name = `${method} ${path}`;
    this.#pending.add(name);
    try {
      const response = await this.request(method, path, options);
      const status = response.statusCode ?? 0;
      let text = '';
      for await (const chunk of response.setEncoding('utf8')) text += chunk;
      // The path of a type that does not exist has a response of plain text.
      const isJson = response.headers['content-type']?.includes('json') === true;
      if (status >= 500 && !this.#isRefusal(status, text)) report.violation(`${name}: ${status} ${text.slice(0, 500)}`);
      return { status, body: (isJson ? JSON.parse(text) : {}) as Body, text };
    } catch (error) {
      if (!isConnectionError(error)) throw error;
      if (!this.#isStopping && options.dropAfter === undefined)
        report.violation(`${name}: no response: ${String(error)}`);
      report.count('requests without a response');
      return { status: 0, body: {} as Body, text: '' };
    } finally {
      this.#running--;
      this.#pending.delete(name);
    }
  }

  /** Resolves with the response as soon as its head arrives. */
  request(
    method: string,
    path: string,
    { body, type, user, dropAfter, isWatch }: RequestOptions = {},
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const sent = request({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        // The connection of a slow watch may have ended when the last event is read, so it is not used again.
        agent: isWatch ? false : this.#agent,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body === undefined ? {} : { 'content-type': type ?? 'application/json' }),
          ...(user === undefined ? {} : { 'impersonate-user': user }),
        },
      });
      sent.on('response', resolve).on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
      if (dropAfter !== undefined) setTimeout(() => sent.destroy(), dropAfter);
    });
  }

  /** Requests whose response has not arrived. */
  get pending(): readonly string[] {
    return [...this.#pending];
  }

  /** A server that says that its memory is nearly exhausted refuses writes. */
  #isRefusal(status: number, text: string): boolean {
    const notes = this.#errors.split('\n').filter((line) => MEMORY_NOTE.test(line));
    if (status !== 503 || !text.includes('the memory of the server is exhausted') || notes.length === 0) return false;
    this.#options.report.count('writes refused for memory');
    return true;
  }
}

const MEMORY_NOTE = /^orchplane: memory is (nearly exhausted|available)/;

/** An error of the socket, such as ECONNRESET. */
export function isConnectionError(error: unknown): error is Error {
  return error instanceof Error && 'code' in error;
}

interface Gate {
  readonly promise: Promise<void>;
  readonly open: () => void;
}

function newGate(): Gate {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
