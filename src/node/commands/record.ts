/**
 * The command `orchplane record`: a proxy in front of an API server that writes every exchange to a file.
 */

import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Duplex, Writable } from 'node:stream';
import { PRIVATE, requireReplaceable } from '../../etcd/replaceable-file.js';
import { endToEndHeaders } from '../../http/answer.js';
import {
  isWatchPath,
  RECORDING_HEADER,
  type RecordedBody,
  type RecordedExchange,
  recordingLine,
  resolvedPath,
} from '../../http/recording.js';
import { MAX_BODY_BYTES } from '../../protocol/value-limits.js';
import { formatTime } from '../../text/time/time.js';
import { JoinedBytes } from '../../util/bytes.js';
import { systemClock } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import { type CommandOptions, defineCommand, UsageError } from './command.js';
import { errorLine } from './manifest-input.js';
import { addressIn, KUBECONFIG_OPTIONS, type KubeconfigConnection, kubeconfigConnection } from './open-cluster.js';
import { counted } from './output.js';
import { LISTENER_OPTIONS, sendStatus, startListener } from './proxy-listener.js';

const OPTIONS = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FILE',
    writes: 'file',
    help: 'the file to write, a JSON value for each exchange',
  },
  ...KUBECONFIG_OPTIONS,
  ...LISTENER_OPTIONS,
} as const satisfies CommandOptions;

export const command = defineCommand({
  usage: ['record -o FILE [--kubeconfig FILE] [options]'],
  summary:
    'Forwards requests to a running cluster and writes each exchange to a file, until Ctrl-C. Clients use the kubeconfig that is printed; they act as the user of --kubeconfig. Credentials in headers are not written, but the bodies of Secrets are.',
  options: OPTIONS,
  async run({ values, positionals }, environment) {
    const { output = '' } = values;
    if (positionals[0] !== undefined) throw new UsageError(`unexpected "${positionals[0]}"`);
    if (output === '') throw new UsageError('record needs --output, the file to write');
    const stopped = environment.untilStopped();
    await using backend = kubeconfigConnection(values, environment);
    let recorder: Recorder | undefined;
    // The listener checks its options, so it is started before an existing file is replaced. No client knows it yet.
    await using listener = await startListener(values, {
      request: (request, response) => recorder?.request(request, response),
      upgrade: (request, socket, head) => recorder?.upgrade(request, socket, head),
    });
    const file = await openRecording(output);
    const broken = once(file, 'error').then(([error]) => {
      throw new UsageError(`--output ${output}: ${messageOf(error)}`);
    });
    recorder = new Recorder(backend, file, (text) => environment.writeError(errorLine(text)));
    try {
      environment.writeOut(
        `records requests to ${backend.url} in ${output}; in another terminal:\n\n  export KUBECONFIG='${listener.kubeconfig}'\n\nCtrl-C ends it.\n`,
      );
      await Promise.race([stopped, broken]);
      recorder.cut();
    } finally {
      await closed(file).catch((error: unknown) => {
        throw new UsageError(`--output ${output}: ${messageOf(error)}`);
      });
    }
    environment.writeOut(`wrote ${counted(recorder.count, 'exchange')} to ${output}\n`);
    return 0;
  },
});

/** Writes what is buffered. Rejects if that fails; an earlier error is reported elsewhere. */
function closed(file: Writable): Promise<void> {
  return new Promise((resolve, reject) => {
    if (file.destroyed) resolve();
    else file.end((error?: Error | null) => (error ? reject(error) : resolve()));
  });
}

/** An empty file that only its owner can read. */
async function openRecording(path: string): Promise<Writable> {
  await requireReplaceable(path);
  const handle = await open(path, 'w', PRIVATE);
  // The mode above applies to new files only.
  await handle.chmod(PRIVATE);
  return handle.createWriteStream();
}

/** Headers that are not forwarded although they are not those of the connection: the proxy sends its own. */
const NOT_FORWARDED: ReadonlySet<string> = new Set(['host', 'authorization', 'accept-encoding']);

/** Headers that may contain credentials, or that concern the connection only. */
const NOT_RECORDED =
  /^(?:authorization|proxy-.*|cookie|set-cookie|x-remote-.*|connection|keep-alive|host|transfer-encoding|content-length|date|audit-id|x-[a-z]+-pf-.*|sec-websocket-protocol)$|token|secret/;

interface OpenExchange {
  cut(): void;
}

class Recorder {
  count = 0;
  #nextId = 1;
  readonly #backend: KubeconfigConnection;
  readonly #file: Writable;
  readonly #warn: (text: string) => void;
  readonly #open = new Set<OpenExchange>();

  constructor(backend: KubeconfigConnection, file: Writable, warn: (text: string) => void) {
    this.#backend = backend;
    this.#file = file;
    this.#warn = warn;
    file.write(RECORDING_HEADER);
  }

  /** Writes the exchanges that have not ended. */
  cut(): void {
    for (const each of this.#open) {
      try {
        each.cut();
      } catch (error) {
        this.#warn(`an exchange is not recorded: ${messageOf(error)}`);
      }
    }
  }

  readonly request = (request: IncomingMessage, response: ServerResponse): void => {
    this.#forward(request, response).catch((error: unknown) => {
      this.#warn(`${request.method} ${request.url} failed: ${messageOf(error)}`);
      if (!response.headersSent)
        sendStatus(response, 502, `the recorded server cannot be reached: ${messageOf(error)}`);
      else response.destroy();
    });
  };

  /** Connections such as exec are forwarded; only that there was one is recorded. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const started = this.#begin(request);
    this.#warn(`${request.method} ${request.url} is forwarded, but its content is not recorded`);
    socket.on('error', () => socket.destroy());
    this.#send(request, { connection: 'upgrade', upgrade: request.headers.upgrade ?? '' })
      .then((outgoing) => {
        outgoing.on('error', () => socket.destroy());
        // It may have closed while the token was awaited.
        if (socket.destroyed) return void outgoing.destroy();
        socket.on('close', () => outgoing.destroy());
        outgoing.on('upgrade', (answer, remote, remoteHead) => {
          socket.on('close', () => remote.destroy());
          void this.#finish({ ...started, status: 101, responseHeaders: recordedHeaders(answer), isUpgrade: true });
          const lines = rawLines(answer);
          socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
          remote.on('error', () => socket.destroy());
          socket.write(remoteHead);
          remote.write(head);
          remote.pipe(socket).pipe(remote);
        });
        outgoing.on('response', (answer) => {
          void this.#finish({ ...started, status: answer.statusCode ?? 0, responseHeaders: recordedHeaders(answer) });
          socket.write(`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}\r\n${rawLines(answer)}\r\n`);
          answer.pipe(socket);
        });
        outgoing.end();
      })
      .catch(() => socket.destroy());
  };

  #begin(request: IncomingMessage): Omit<RecordedExchange, 'status' | 'responseHeaders'> {
    return {
      id: this.#nextId++,
      time: formatTime(systemClock.now()),
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      requestHeaders: { ...recordedHeaders(request), ...acceptHeader(request) },
    };
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = this.#begin(request);
    const chunks: AsyncIterableIterator<Buffer> = request[Symbol.asyncIterator]();
    const { body, isWhole } = await readBeginning(chunks);
    const length = isWhole ? String(body.length) : request.headers['content-length'];
    const framing = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': length };
    const outgoing = await this.#send(request, body.length > 0 ? framing : {});
    // The client may have left while the token was awaited.
    if (response.destroyed) return void outgoing.on('error', () => undefined).destroy();
    response.on('close', () => outgoing.destroy());
    // An answer may also be malformed after its head; the reader of its body reports that error.
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.on('response', resolve).on('error', reject);
      // Also after a response with the status 101, for which there is no other event.
      outgoing.on('close', () => reject(new Error('socket hang up')));
      if (isWhole) outgoing.end(body);
      else sendLong(body, chunks, outgoing).catch(reject);
    });
    const recorded: RecordedExchange = {
      ...started,
      ...(isWhole && body.length > 0 ? { requestBody: recordedBody(body, started.path, request) } : {}),
      ...(isWhole ? {} : { isCut: true }),
      status: answer.statusCode ?? 0,
      responseHeaders: recordedHeaders(answer),
    };
    response.writeHead(recorded.status, forwardedHeaders(answer));
    response.flushHeaders();
    await this.#pass(recorded, answer, response);
  }

  async #send(request: IncomingMessage, more: Readonly<Record<string, string>>): Promise<ClientRequest> {
    const { url, token, agent } = this.#backend;
    const bearer = typeof token === 'function' ? await token() : token;
    const send = url.startsWith('https:') ? requestHttps : requestHttp;
    const headers = {
      ...forwardedHeaders(request),
      ...more,
      ...acceptHeader(request),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    };
    return send(addressIn(url, request.url ?? '/'), { agent, method: request.method, headers });
  }

  /** Passes the answer on and records it. */
  async #pass(recorded: RecordedExchange, answer: IncomingMessage, response: ServerResponse): Promise<void> {
    const isStream = isWatchPath(recorded.path) || /[?&]follow=(?:true|1)\b/.test(recorded.path);
    const content = isStream ? new StreamContent() : new BodyContent(recorded.path, answer);
    const write = (isCut: boolean): Promise<void> | undefined => {
      if (!this.#open.delete(entry)) return undefined;
      return this.#finish({ ...recorded, ...content.take(), ...(isCut || content.isDropped ? { isCut: true } : {}) });
    };
    const entry: OpenExchange = { cut: () => void write(true) };
    this.#open.add(entry);
    try {
      for await (const chunk of answer as AsyncIterable<Buffer>) {
        content.add(chunk);
        if (content.isLong) await this.#write({ ...recorded, ...content.take(), isContinued: true });
        if (!response.write(chunk)) await drained(response);
      }
      // Waits for the file, so that a slow disk slows clients.
      await write(false);
      response.end();
    } catch (error) {
      // The client has ended a watch, or the server has broken off.
      await write(true);
      if (!response.destroyed) throw error;
    }
  }

  #finish(exchange: RecordedExchange): Promise<void> {
    this.count++;
    return this.#write(exchange);
  }

  /** Resolves when the file takes more. */
  async #write(exchange: RecordedExchange): Promise<void> {
    const file = this.#file;
    // It has ended, or the disk is full.
    if (!file.writable || file.write(recordingLine(exchange))) return;
    await drained(file);
  }
}

/** Reads a body until it is longer than what an API server reads for an object: it is not whole then. */
async function readBeginning(chunks: AsyncIterator<Buffer>): Promise<{ body: Uint8Array; isWhole: boolean }> {
  const body = new JoinedBytes();
  let isWhole = false;
  while (!isWhole && body.length <= MAX_BODY_BYTES) {
    const { done, value } = await chunks.next();
    isWhole = done === true;
    if (!isWhole) body.add(value);
  }
  return { body: body.bytes(), isWhole };
}

/** Sends a body and its rest. What the server does not read is dropped, so that the client reads the answer. */
async function sendLong(begun: Uint8Array, rest: AsyncIterable<Buffer>, outgoing: Writable): Promise<void> {
  if (!outgoing.write(begun)) await drained(outgoing);
  for await (const chunk of rest) if (outgoing.writable && !outgoing.write(chunk)) await drained(outgoing);
  outgoing.end();
}

/** Resolves when a stream takes more, or is closed. */
function drained(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed) return resolve();
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });
}

/** A stream may never end, so it is written in parts of about this many characters. */
const STREAM_PART = 1 << 20;

/** The content of a stream since it was last taken. */
class StreamContent {
  readonly isDropped = false;
  readonly #beganMs = systemClock.now();
  readonly #decoder = new TextDecoder();
  #parts: [ms: number, text: string][] = [];
  #length = 0;

  add(chunk: Buffer): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#parts.push([Math.round(systemClock.now() - this.#beganMs), text]);
    this.#length += text.length;
  }

  get isLong(): boolean {
    return this.#length > STREAM_PART;
  }

  take(): Pick<RecordedExchange, 'stream'> {
    const stream = this.#parts;
    this.#parts = [];
    this.#length = 0;
    return { stream };
  }
}

/** An answer that is no stream may not end, either; longer bodies are not recorded. */
const MAX_BODY = 64 << 20;

/** The body of an answer that is recorded as a whole. */
class BodyContent {
  readonly isLong = false;
  isDropped = false;
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(
    readonly path: string,
    readonly answer: IncomingMessage,
  ) {}

  add(chunk: Buffer): void {
    this.#length += chunk.length;
    this.isDropped = this.#length > MAX_BODY;
    if (this.isDropped) this.#chunks = [];
    else this.#chunks.push(chunk);
  }

  take(): Pick<RecordedExchange, 'responseBody'> {
    if (this.isDropped) return {};
    return { responseBody: recordedBody(Buffer.concat(this.#chunks), this.path, this.answer) };
  }
}

/** Bodies in JSON can be compared and read, so clients that accept JSON and other encodings get JSON. */
function acceptHeader({ headers }: IncomingMessage): { readonly accept?: string } {
  const readable = headers.accept?.split(',').filter((clause) => !/protobuf|cbor/.test(clause)) ?? [];
  return readable.length === 0 ? {} : { accept: readable.join(',') };
}

/** Repeated headers, such as Impersonate-Group and Warning, stay separate. */
function forwardedHeaders({ headers, headersDistinct }: IncomingMessage): Record<string, string[]> {
  const forwarded: Record<string, string[]> = {};
  const all = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const source = { get: (name: string) => headers[name]?.toString() ?? null, [Symbol.iterator]: () => all.values() };
  for (const [name, value] of endToEndHeaders(source)) {
    if (!NOT_FORWARDED.has(name)) forwarded[name] = [...(forwarded[name] ?? []), value];
  }
  return forwarded;
}

function recordedHeaders({ headers }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headers).filter(([name]) => !NOT_RECORDED.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(', ')]));
}

/** All headers, for an answer that is written to a socket. */
function rawLines({ rawHeaders }: IncomingMessage): string {
  let lines = '';
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) lines += `${rawHeaders[at]}: ${rawHeaders[at + 1]}\r\n`;
  return lines;
}

/** Requests whose bodies contain credentials of service accounts and users. */
const TOKEN_PATH = /\/serviceaccounts\/[^/]+\/token$|\/tokenreviews$/;
const TOKEN_KIND = /"kind"\s*:\s*"Token(?:Request|Review)"/;

function recordedBody(content: Uint8Array, path: string, { headers }: IncomingMessage): RecordedBody {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const text = bytes.toString('utf8');
  const hasToken = TOKEN_PATH.test(resolvedPath(path)) || TOKEN_KIND.test(text);
  // Other encodings of the token are not looked for.
  if (hasToken && !/json/.test(headers['content-type'] ?? '')) return 'redacted';
  const isText = !/protobuf|cbor/.test(headers['content-type'] ?? '') && Buffer.from(text, 'utf8').equals(bytes);
  if (!isText) return { base64: bytes.toString('base64') };
  return hasToken ? text.replace(/("token"\s*:\s*")[^"]*/g, '$1redacted') : text;
}
