/**
 * Limits what clients have sent and the server keeps: messages of WebSockets that no session has processed, the headers
 * of open requests, and requests that the cluster has not answered. A message is in memory as a whole before a session gets
 * it, and a client can begin long ones on many connections.
 */
import type { Answer } from '../protocol/http.js';
import { getOrInsertComputed } from '../util/once.js';
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
/** Health checks have as much room again: a supervisor restarts a server that does not answer them. */
const MAX_HEALTH_CHECK_BYTES = 8 * 1024;

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
  readonly bytes: number;
  readonly holder: Holder;
}

/** The requests with the same credentials, the oldest first. */
interface Holder {
  readonly entries: Set<Unanswered>;
  bytes: number;
}

/**
 * Answers requests with 429 while too many are unanswered. Those of clients that have disconnected count as well: they stay
 * in memory until the handler notices, and no flow control limits them before they are authenticated. A client with other
 * credentials than those that hold most gets room: their oldest requests are disconnected.
 */
export function limitUnanswered<Rest extends readonly unknown[]>(
  handler: (request: IncomingRequest, ...rest: Rest) => Promise<Answer>,
  maxBytes = MAX_UNANSWERED_BYTES,
): (request: IncomingRequest, ...rest: Rest) => Promise<Answer> {
  const holders = new Map<string, Holder>();
  let unanswered = 0;
  /** Of requests that were disconnected and are still in memory. */
  let ending = 0;
  const makeRoom = (own: Holder, bytes: number, limit: number): boolean => {
    while (unanswered + bytes > limit) {
      const [largest, oldest] = largestOf(holders);
      const isFair = largest !== undefined && largest.bytes > own.bytes + bytes;
      if (oldest === undefined || !isFair || ending + oldest.bytes > maxBytes / 8) return false;
      largest.entries.delete(oldest);
      largest.bytes -= oldest.bytes;
      unanswered -= oldest.bytes;
      ending += oldest.bytes;
      oldest.request.disconnect();
    }
    return true;
  };
  return async (request, ...rest) => {
    const bytes = Math.max(request.headerBytes, MIN_REQUEST_BYTES);
    const isCheck = bytes <= MAX_HEALTH_CHECK_BYTES && isHealthCheck(request);
    const key = credentialsOf(request);
    const holder = getOrInsertComputed(holders, key, (): Holder => ({ entries: new Set(), bytes: 0 }));
    const entry = { request, bytes, holder };
    try {
      if (!makeRoom(holder, bytes, isCheck ? 2 * maxBytes : maxBytes)) return TOO_MANY_REQUESTS;
      holder.entries.add(entry);
      holder.bytes += bytes;
      unanswered += bytes;
      try {
        return await handler(request, ...rest);
      } finally {
        if (holder.entries.delete(entry)) {
          holder.bytes -= bytes;
          unanswered -= bytes;
        } else ending -= bytes;
      }
    } finally {
      if (holder.entries.size === 0 && holders.get(key) === holder) holders.delete(key);
    }
  };
}

function credentialsOf({ headers, peer, remote = '' }: IncomingRequest): string {
  return headers.get('authorization') ?? (peer?.type === 'known' ? `user ${peer.user.user}` : `address ${remote}`);
}

function largestOf(holders: ReadonlyMap<string, Holder>): readonly [Holder, Unanswered] | readonly [] {
  let largest: Holder | undefined;
  for (const holder of holders.values()) if (holder.bytes > (largest?.bytes ?? 0)) largest = holder;
  const [oldest] = largest?.entries ?? [];
  return largest === undefined || oldest === undefined ? [] : [largest, oldest];
}
