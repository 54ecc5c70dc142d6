/**
 * The server from a command's point of view: requests through the cluster's fetch handler, and errors with kubectl's
 * messages.
 */
import { at, isJson, type Json, listAt, textAt } from './json.js';

/** The user of a request; without one, the administrator. */
export interface Identity {
  readonly user?: string | undefined;
  readonly groups?: readonly string[];
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly accept?: string;
  readonly contentType?: string;
  /** A document, or its text. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

export type Fetch = (request: Request) => Promise<Response>;

/** An error response of the server, with its Status. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly status: Json;
  readonly code: number;
  /** What the command was doing, as kubectl's messages say it: `creating "STDIN"`. */
  readonly action: string | undefined;

  constructor(status: Json, code: number, action?: string) {
    super(textAt(status, 'message'));
    this.status = status;
    this.code = code;
    this.action = action;
  }

  get reason(): string {
    return textAt(this.status, 'reason');
  }

  /** The message as kubectl prints it. */
  text(): string {
    if (this.reason === 'Invalid') return this.#invalid();
    const message = this.action === undefined ? this.message : `error when ${this.action}: ${this.message}`;
    if (this.reason === 'Unauthorized') return `error: You must be logged in to the server (${message})`;
    return this.reason === '' ? `Error from server: ${message}` : `Error from server (${this.reason}): ${message}`;
  }

  #invalid(): string {
    const kind = textAt(this.status, 'details', 'kind');
    const name = textAt(this.status, 'details', 'name');
    const causes = listAt(this.status, 'details', 'causes').map((cause) => {
      const field = textAt(cause, 'field');
      return field === '' ? textAt(cause, 'message') : `${field}: ${textAt(cause, 'message')}`;
    });
    const what = kind === '' && name === '' ? 'The request is invalid' : `The ${kind} "${name}" is invalid`;
    if (causes.length === 0) return kind === '' && name === '' ? `${what}: ${this.message}` : what;
    const [first] = causes;
    return causes.length === 1 ? `${what}: ${first}` : [`${what}: `, ...causes.map((cause) => `* ${cause}`)].join('\n');
  }
}

export class Server {
  readonly #fetch: Fetch;
  readonly #identity: Identity;
  /** Called with each warning of a response. */
  readonly #onWarning: (warning: string) => void;

  constructor(fetch: Fetch, { identity = {}, onWarning = ignore }: ServerOptions = {}) {
    this.#fetch = fetch;
    this.#identity = identity;
    this.#onWarning = onWarning;
  }

  /** The same server with another user. */
  as(identity: Identity): Server {
    return new Server(this.#fetch, { identity, onWarning: this.#onWarning });
  }

  /** Throws a ServerError unless the request succeeds. */
  async send(call: Call): Promise<Response> {
    const { method = 'GET', path, query = {}, accept = 'application/json', body, signal } = call;
    const url = new URL(path, 'http://cluster');
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const headers = new Headers({ accept });
    if (body !== undefined) headers.set('content-type', call.contentType ?? 'application/json');
    if (this.#identity.user !== undefined) headers.set('impersonate-user', this.#identity.user);
    for (const group of this.#identity.groups ?? []) headers.append('impersonate-group', group);
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await this.#fetch(
      new Request(url, {
        method,
        headers,
        ...(sent === undefined ? {} : { body: sent }),
        ...(signal ? { signal } : {}),
      }),
    );
    for (const warning of warningsOf(response)) this.#onWarning(warning);
    if (response.ok) return response;
    throw new ServerError(await statusOf(response), response.status);
  }

  async json(call: Call): Promise<Json> {
    const answer: unknown = await (await this.send(call)).json();
    return isJson(answer) ? answer : {};
  }

  /** The documents of a stream, one per line, until it ends or the signal aborts. */
  async *lines(call: Call): AsyncGenerator<Json> {
    for await (const line of this.textLines(call)) {
      const document: unknown = line === '' ? undefined : JSON.parse(line);
      if (isJson(document)) yield document;
    }
  }

  /** The lines of a stream, until it ends or the signal aborts. */
  async *textLines(call: Call): AsyncGenerator<string> {
    const response = await this.send(call);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) return;
    let rest = '';
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const parts = (rest + value).split('\n');
        rest = parts.pop() ?? '';
        yield* parts;
      }
      if (rest !== '') yield rest;
    } catch (error) {
      // An aborted stream is not an error.
      if (!call.signal?.aborted) throw error;
    } finally {
      await reader.cancel().catch(ignore);
    }
  }
}

export interface ServerOptions {
  readonly identity?: Identity;
  readonly onWarning?: (warning: string) => void;
}

/** The Status of a response; made from the status code if the body is not a Status. */
async function statusOf(response: Response): Promise<Json> {
  const text = await response.text();
  try {
    const document: unknown = JSON.parse(text);
    if (at(document, 'kind') === 'Status' && isJson(document)) return document;
  } catch {
    // Not JSON: the text is used below.
  }
  if (response.status === 404) {
    return { kind: 'Status', message: 'the server could not find the requested resource', reason: 'NotFound' };
  }
  return { kind: 'Status', message: text.trim() || response.statusText, reason: '' };
}

function warningsOf(response: Response): readonly string[] {
  const header = response.headers.get('warning');
  if (header === null) return [];
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text]) => (text ?? '').replace(/\\(.)/g, '$1'));
}

function ignore(): void {
  // The default handler discards the value.
}
