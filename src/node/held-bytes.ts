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
}

/** The requests of an address, or of some credentials at an address. */
interface Holder {
  bytes: number;
  /** By credentials. */
  readonly parts: Map<string, Holder>;
  /** The oldest first. */
  readonly entries: Set<Unanswered>;
}

const newHolder = (): Holder => ({ bytes: 0, parts: new Map(), entries: new Set() });

/**
 * Answers requests with 429 while too many are unanswered. Those of clients that have disconnected count as well: they stay
 * in memory until the handler notices, and no flow control limits them before they are authenticated. A request whose address
 * holds less than another one, or whose credentials hold less than others of its address, disconnects their oldest requests.
 */
export function limitUnanswered<Rest extends readonly unknown[]>(
  handler: (request: IncomingRequest, ...rest: Rest) => Promise<Answer>,
  maxBytes = MAX_UNANSWERED_BYTES,
): (request: IncomingRequest, ...rest: Rest) => Promise<Answer> {
  const addresses = new Map<string, Holder>();
  let unanswered = 0;
  /** Of requests that were disconnected and are still in memory. */
  let ending = 0;
  const count = (bytes: number, holders: readonly Holder[]): void => {
    unanswered += bytes;
    for (const holder of holders) holder.bytes += bytes;
  };
  const makeRoom = (bytes: number, address: Holder, own: Holder, limit: number): boolean => {
    const needed = unanswered + bytes - limit;
    if (needed <= 0) return true;
    const largest = largestOf(addresses);
    const isOwn = largest === address;
    const victim = isOwn ? largestOf(largest.parts) : largest;
    // Those who hold half as much must not disconnect each other in turn.
    if (victim.bytes < 2 * ((isOwn ? own : address).bytes + bytes)) return false;
    const parts = isOwn ? [victim] : [...largest.parts.values()];
    const disconnected: [Unanswered, Holder][] = [];
    let freed = 0;
    for (const part of parts) {
      for (const entry of part.entries) {
        if (freed >= needed) break;
        freed += entry.bytes;
        disconnected.push([entry, part]);
      }
    }
    if (freed < needed || ending + freed > maxBytes / 8) return false;
    for (const [entry, part] of disconnected) {
      part.entries.delete(entry);
      count(-entry.bytes, [largest, part]);
      entry.request.disconnect();
    }
    ending += freed;
    return true;
  };
  return async (request, ...rest) => {
    const bytes = Math.max(request.headerBytes, MIN_REQUEST_BYTES);
    const isCheck = bytes <= MAX_HEALTH_CHECK_BYTES && isHealthCheck(request);
    const { remote = '' } = request;
    const address = getOrInsertComputed(addresses, remote, newHolder);
    const credentials = credentialsOf(request);
    const own = getOrInsertComputed(address.parts, credentials, newHolder);
    const isAllowed = makeRoom(bytes, address, own, isCheck ? 2 * maxBytes : maxBytes);
    const entry = { request, bytes };
    try {
      if (!isAllowed) return TOO_MANY_REQUESTS;
      own.entries.add(entry);
      count(bytes, [address, own]);
      return await handler(request, ...rest);
    } finally {
      if (own.entries.delete(entry)) count(-bytes, [address, own]);
      else if (isAllowed) ending -= bytes;
      if (own.bytes === 0 && address.parts.get(credentials) === own) address.parts.delete(credentials);
      if (address.parts.size === 0 && addresses.get(remote) === address) addresses.delete(remote);
    }
  };
}

/** The source is part of the text: a client can send any header. What follows the token has no meaning. */
function credentialsOf({ headers, peer }: IncomingRequest): string {
  if (peer?.type === 'known') return `certificate ${peer.user.user}`;
  const [scheme = '', token = ''] = (headers.get('authorization') ?? '').trim().split(' ', 2);
  return `${scheme.toLowerCase()} header ${token}`;
}

function largestOf(holders: ReadonlyMap<string, Holder>): Holder {
  let largest = newHolder();
  for (const holder of holders.values()) if (holder.bytes > largest.bytes) largest = holder;
  return largest;
}
