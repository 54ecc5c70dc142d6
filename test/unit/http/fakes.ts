/**
 * A fake cluster that answers as a test scripts it, and helpers to call a handler on top of it.
 */
import * as z from 'zod';
import { allowAuthenticated, createClusterAuthorizer } from '../../../src/auth/authorizer.js';
import { createAuthentication } from '../../../src/auth/cluster-authentication.js';
import type { FetchHandlerOptions, FetchTarget, ServedResource } from '../../../src/http/index.js';
import { createFetchHandler } from '../../../src/http/index.js';
import { defineKind } from '../../../src/kinds/define-kind.js';
import { featureGates } from '../../../src/kinds/feature-gates.js';
import { ConfigMap, Lease, Namespace } from '../../../src/kinds/index.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { serveKind } from '../../../src/kinds/served-kind.js';
import { status } from '../../../src/kinds/status-subresource.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import type { ApiObject } from '../../../src/meta/object.js';
import type { ApiRequest } from '../../../src/protocol/request.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import type { ServerWatchEvent, WatchStream } from '../../../src/protocol/watch-event.js';
import { systemClock } from '../../../src/util/clock.js';
import { randomIds } from '../../../src/util/ids.js';
import { deepFreeze } from '../../../src/util/json.js';

export const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { spec: z.object({ size: z.number() }).optional() },
  subresources: { status },
});

export const Planet = defineKind({ apiVersion: 'example.com/v1', kind: 'Planet', scope: 'Cluster', body: {} });

const serve = (kind: Kind): ServedResource => serveKind(kind, kubernetesDialect);

/** What the fake cluster serves. */
export const served = {
  ConfigMap: serve(ConfigMap),
  Namespace: serve(Namespace),
  Lease: serve(Lease),
  Widget: serve(Widget),
  Planet: serve(Planet),
};

type Answer = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** Every named user is authorized for everything. */
const access = createClusterAuthorizer(allowAuthenticated(), {
  dialect: kubernetesDialect,
  features: featureGates(),
  objects: { get: () => undefined, list: () => [] },
  index: () => ({ has: () => false, keys: () => [] }),
  lastChange: () => 0,
});
const ANY_PAGE = { type: 'path', verb: 'get', path: '/' } as const;
const NO_ACCOUNTS = {
  dialect: kubernetesDialect,
  objects: { get: () => undefined, list: () => [] },
  clock: systemClock,
  ids: randomIds,
};

/** A handler over a fake cluster, the requests that reached it, and its timers. */
export function fakeServer(answer: Answer, options: FetchHandlerOptions = {}) {
  const requests: ApiRequest[] = [];
  const timers: { delayMs: number; run: () => void }[] = [];
  const resources = Object.values(served);
  const target: FetchTarget = {
    dialect: kubernetesDialect,
    clock: {
      now: () => 0,
      after(delayMs, run) {
        const timer = { delayMs, run };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), 1);
      },
    },
    ids: { uid: () => 'uid-1', suffix: () => 'abcde', random: () => 0 },
    resolve: ({ group, version, resource }) =>
      resources.find(({ gvr }) => gvr.group === group && gvr.version === version && gvr.resource === resource),
    hasBuiltIns: (group) =>
      group === '' || resources.some(({ gvr, kind }) => gvr.group === group && kind.schema.representation === 'struct'),
    kinds: () => [],
    features: { enabled: (gate) => gate === 'APIResponseCompression', all: () => [] },
    release: '1.33',
    authorize: (user) => access.decide(user ?? { user: 'admin', groups: ['system:masters'] }, ANY_PAGE),
    storageReader: {
      objects: { get: () => undefined, list: () => [] },
      everything: () => [],
      lastChange: () => 0,
      count: () => 0,
    },
    authentication: createAuthentication({}, NO_ACCOUNTS, undefined),
    send(request) {
      requests.push(request);
      return answer(request);
    },
  };
  const handler = createFetchHandler(target, options);
  const call = (method: string, path: string, init: RequestInit = {}) =>
    handler(new Request(`http://cluster.local${path}`, { method, ...init }));
  return { handler, call, requests, timers };
}

/** A stored object: frozen, as the store hands it out. */
export function configMap(name: string, data: Record<string, string> = { k: 'v' }): ApiObject {
  return deepFreeze({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      resourceVersion: '5',
      creationTimestamp: '2024-01-01T00:00:00Z',
    },
    data,
  });
}

export function found(object: ApiObject, warnings: readonly string[] = []): ApiResponse {
  return { type: 'object', code: 200, object, warnings };
}

export function listOf(items: readonly ApiObject[]): ApiResponse {
  const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items };
  return { type: 'object', code: 200, object: deepFreeze(list), warnings: [] };
}

/** A watch that returns the emitted events, counts reads and records whether it was closed. */
export class FakeWatch implements WatchStream {
  reads = 0;
  isClosed = false;
  readonly #ready: IteratorResult<ServerWatchEvent, undefined>[] = [];
  #waiting: ((result: IteratorResult<ServerWatchEvent, undefined>) => void) | undefined;

  emit(...events: readonly ServerWatchEvent[]): void {
    for (const event of events) this.#offer({ done: false, value: event });
  }

  end(): void {
    this.#offer({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<ServerWatchEvent, undefined>> {
    this.reads++;
    if (this.isClosed) return Promise.resolve({ done: true, value: undefined });
    const ready = this.#ready.shift();
    if (ready !== undefined) return Promise.resolve(ready);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  close(): void {
    this.isClosed = true;
    this.#offer({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): AsyncIterator<ServerWatchEvent, undefined> {
    return { next: () => this.next() };
  }

  #offer(result: IteratorResult<ServerWatchEvent, undefined>): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#ready.push(result);
    else waiting(result);
  }
}

/** Runs everything that is ready to run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}
