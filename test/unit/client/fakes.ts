/**
 * Fixtures of the client tests: two small kinds, a scripted transport, a stream driven by the test, and a manual
 * clock. They do not model server behaviour; each test scripts the responses.
 */
import type { Kind } from '../../../src/kinds/kind.js';
import type { Dialect } from '../../../src/meta/dialect.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import type { ApiList, ApiObject, ObjectMeta, ObjectMetaInput } from '../../../src/meta/object.js';
import type { Status } from '../../../src/meta/status.js';
import type { ApiRequest, Verb } from '../../../src/protocol/request.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import type { Transport } from '../../../src/protocol/transport.js';
import type { ServerWatchEvent, WatchStream } from '../../../src/protocol/watch-event.js';
import type { Clock } from '../../../src/util/clock.js';

export interface Widget {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: { size: 's' | 'm' | 'l'; parts: string[]; node?: string; holes?: { name: string; wide: boolean }[] };
  status?: { ready: boolean };
}

export interface WidgetInput {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMetaInput;
  spec: { size?: 's' | 'm' | 'l'; parts: string[]; node?: string; holes?: { name: string; wide?: boolean }[] };
  status?: { ready: boolean };
}

export interface Rack {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  height: number;
}

export interface RackInput {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMetaInput;
  height: number;
}

/** Namespaced, in a built-in group, with `status` and a write-only `finalize`. */
export const Widget = fakeKind<Kind<Widget, WidgetInput, 'Namespaced', 'status' | 'finalize'>>({
  group: 'things.orch.io',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  subresources: { status: ['get', 'update', 'patch'], finalize: ['update'] },
});

/** Cluster-scoped, without subresources. */
export const Rack = fakeKind<Kind<Rack, RackInput, 'Cluster', never>>({
  group: '',
  kind: 'Rack',
  plural: 'racks',
  scope: 'Cluster',
  subresources: {},
});

interface FakeKind {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly scope: string;
  readonly subresources: Readonly<Record<string, readonly Verb[]>>;
}

/** Only what the client reads; schema and strategy belong to the server. */
function fakeKind<AnyKind>({ group, kind, plural, scope, subresources }: FakeKind): AnyKind {
  return {
    group,
    version: 'v1',
    kind,
    scope,
    names: { plural },
    subresources: Object.fromEntries(Object.entries(subresources).map(([name, verbs]) => [name, { verbs }])),
  } as AnyKind;
}

/** A widget as a server would return it. The uid is derived from the name by default. */
export function widget(
  name: string,
  version: number,
  more: Partial<Widget> & { uid?: string } = {},
): Widget & ApiObject {
  const { uid = `uid-${name}`, ...rest } = more;
  const metadata = { name, namespace: 'default', uid, resourceVersion: String(version), creationTimestamp: '' };
  const object = { apiVersion: 'things.orch.io/v1', kind: 'Widget', metadata, spec: { size: 'm' as const, parts: [] } };
  return { ...object, ...rest };
}

export function listOf(version: number, items: readonly ApiObject[], token?: string): ApiList {
  const metadata = { resourceVersion: String(version), ...(token === undefined ? {} : { continue: token }) };
  return { kind: 'WidgetList', apiVersion: 'things.orch.io/v1', metadata, items };
}

export function answer(object: ApiObject | ApiList | Status, warnings: readonly string[] = []): ApiResponse {
  return { type: 'object', code: 200, object, warnings };
}

/** A stream whose events the test sends. Implements the contract of WatchStream. */
export class FakeStream implements WatchStream {
  closed = false;
  readonly #ready: (ServerWatchEvent | 'end' | { readonly failure: unknown })[] = [];
  #waiting:
    | { resolve(result: IteratorResult<ServerWatchEvent, undefined>): void; reject(error: unknown): void }
    | undefined;

  send(...events: ServerWatchEvent[]): void {
    for (const event of events) this.#push(event);
  }

  /** The server ends the stream. */
  end(): void {
    this.#push('end');
  }

  /** The connection breaks. */
  break(failure: unknown): void {
    this.#push({ failure });
  }

  next(): Promise<IteratorResult<ServerWatchEvent, undefined>> {
    if (this.#waiting !== undefined) throw new Error('the stream has one reader');
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#flush();
    });
  }

  close(): void {
    this.closed = true;
    this.#flush();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #push(item: ServerWatchEvent | 'end' | { readonly failure: unknown }): void {
    this.#ready.push(item);
    this.#flush();
  }

  #flush(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const item = this.closed ? 'end' : this.#ready[0];
    if (item === undefined) return;
    this.#waiting = undefined;
    if (item === 'end') waiting.resolve({ done: true, value: undefined });
    else {
      this.#ready.shift();
      if ('failure' in item) waiting.reject(item.failure);
      else waiting.resolve({ done: false, value: item });
    }
  }
}

/** A clock that changes only when it is advanced. */
export class FakeClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { at: this.#now + delayMs, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  get pending(): number {
    return this.#timers.length;
  }

  /** Runs pending promises, advances the time, and runs the promises that due timers started. */
  async advance(ms: number): Promise<void> {
    await settle();
    this.#now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter(({ at }) => at > this.#now);
    for (const { run } of due) run();
    await settle();
  }
}

/** A promise with its resolve and reject functions, for a delayed response. */
export function deferred<Value>(): {
  promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
} {
  let resolve: (value: Value) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<Value>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Runs pending promise chains. Nothing here waits for anything else, so a bounded number of turns is enough. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

type Answer = ApiResponse | Promise<ApiResponse> | FakeStream | Error;
type Script = Answer | ((request: ApiRequest) => Answer);

/** A transport that answers from a script and records its requests. An Error in the script is thrown. */
export class FakeTransport implements Transport {
  dialect: Dialect = orchDialect;
  readonly clock = new FakeClock();
  readonly requests: ApiRequest[] = [];
  readonly #script: Script[];

  constructor(...script: Script[]) {
    this.#script = script;
  }

  /** Adds answers to the end of the script. */
  willAnswer(...script: Script[]): void {
    this.#script.push(...script);
  }

  get last(): ApiRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('nothing was sent');
    return request;
  }

  send(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    this.requests.push(request);
    const step = this.#script.shift();
    if (step === undefined) throw new Error(`the script has no answer to ${request.verb} ${request.name ?? ''}`);
    const given = typeof step === 'function' ? step(request) : step;
    if (given instanceof Error) throw given;
    return given instanceof FakeStream ? { type: 'watch', watch: given, warnings: [] } : given;
  }
}
