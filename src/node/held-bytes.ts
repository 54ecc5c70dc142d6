/**
 * Limits what clients have sent and the server keeps: messages of WebSockets that no session has processed, the headers
 * of open requests, and requests that the cluster has not answered. A message is in memory as a whole before a session gets
 * it, and a client can begin long ones on many connections.
 */
import type { Answer } from '../protocol/http.js';
import { realTime } from '../util/clock.js';
import { isHealthCheck } from './health-answers.js';
import type { IncomingRequest } from './incoming-request.js';

/** All connections together. Above that, those are closed that hold most. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

export class HeldBytes<Key> {
  readonly #maxBytes: number;
  #bytes = 0;
  readonly #held = new Map<Key, { readonly bytes: number; readonly close: () => void }>();

  constructor(maxBytes = MAX_HELD_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** How much a connection holds now. `close` is called if it is too much. */
  set(key: Key, bytes: number, close: () => void): void {
    this.remove(key);
    if (bytes === 0) return;
    this.#bytes += bytes;
    this.#held.set(key, { bytes, close });
    while (this.#bytes > this.#maxBytes) this.#closeLargest();
  }

  /** A connection holds nothing any more. */
  remove(key: Key): void {
    this.#bytes -= this.#held.get(key)?.bytes ?? 0;
    this.#held.delete(key);
  }

  #closeLargest(): void {
    const [first, ...rest] = this.#held;
    if (first === undefined) return;
    const [key, { bytes, close }] = rest.reduce(
      (largest, each) => (each[1].bytes > largest[1].bytes ? each : largest),
      first,
    );
    this.#held.delete(key);
    this.#bytes -= bytes;
    close();
  }
}

/** The headers of all unanswered requests. */
const MAX_UNANSWERED_BYTES = 32 * 1024 * 1024;
/** A request with few headers takes about this much memory. */
const MIN_REQUEST_BYTES = 2 * 1024;
/** Requests with longer headers may take up half of the limit, so that there is room for those of most clients. */
const MAX_SHORT_BYTES = 8 * 1024;
/** A request whose body takes longer to arrive gives way to others: flow control cannot limit it. */
const MAX_BODY_DELAY_MS = 1_000;

/** As flow control answers, which only authenticated requests get to. */
const TOO_MANY_REQUESTS: Answer = {
  code: 429,
  headers: [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Retry-After', '1'],
  ],
  body: 'Too many requests, please try again later.\n',
};

interface Unanswered {
  readonly request: IncomingRequest;
  readonly since: number;
  readonly isShort: boolean;
  /** 0 when it has been disconnected. */
  bytes: number;
}

/**
 * Answers requests with 429 while too many are unanswered. Those of clients that have disconnected count as well: they stay
 * in memory until the handler notices, and no flow control limits them before they are authenticated. Clients that do not
 * send the bodies of their requests are disconnected first, those that have taken the longest time before others.
 */
export function limitUnanswered<Rest extends readonly unknown[]>(
  handler: (request: IncomingRequest, ...rest: Rest) => Promise<Answer>,
  maxBytes = MAX_UNANSWERED_BYTES,
): (request: IncomingRequest, ...rest: Rest) => Promise<Answer> {
  let all = 0;
  /** Of the requests that are not short. */
  let long = 0;
  /** The requests with a body, the oldest first. */
  const uploads = new Set<Unanswered>();
  const release = (entry: Unanswered): void => {
    uploads.delete(entry);
    all -= entry.bytes;
    if (!entry.isShort) long -= entry.bytes;
    entry.bytes = 0;
  };
  /** Returns whether the limits allow another request. */
  const makeRoom = ({ request, bytes, isShort }: Unanswered): boolean => {
    // Health checks have room of their own: a supervisor restarts a server that does not answer them.
    const limit = isShort && isHealthCheck(request) ? 2 * maxBytes : maxBytes;
    const isFull = (): boolean => all + bytes > limit;
    const hasTooManyLong = (): boolean => !isShort && long + bytes > maxBytes / 2;
    for (const upload of uploads) {
      if (!(isFull() || hasTooManyLong()) || realTime() - upload.since < MAX_BODY_DELAY_MS) break;
      if (upload.request.isReceived) uploads.delete(upload);
      else if (isFull() || !upload.isShort) {
        release(upload);
        upload.request.disconnect();
      }
    }
    return !isFull() && !hasTooManyLong();
  };
  return async (request, ...rest) => {
    const bytes = Math.max(request.headerBytes, MIN_REQUEST_BYTES);
    const entry = { request, bytes, since: realTime(), isShort: bytes <= MAX_SHORT_BYTES };
    if (!makeRoom(entry)) return TOO_MANY_REQUESTS;
    all += bytes;
    if (!entry.isShort) long += bytes;
    if (request.hasBody) uploads.add(entry);
    try {
      return await handler(request, ...rest);
    } finally {
      release(entry);
    }
  };
}
