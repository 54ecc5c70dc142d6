/**
 * Read-your-own-writes for controllers. A controller that reconciles with a cache from before its last write would create
 * the same pod twice. This class wraps the transport, records the writes and reports when the informers have caught up.
 */
import { isSameOrNewerVersion } from '../../client/informer.js';
import type { Kind } from '../../kinds/kind.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import type { Status } from '../../meta/status.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ApiResponse } from '../../protocol/response.js';
import type { Transport } from '../../protocol/transport.js';
import type { Activity } from '../../util/activity.js';
import { nextTurn, systemClock } from '../../util/clock.js';
import { isPromise } from '../../util/maybe-promise.js';
import type { SharedInformer } from './shared-informer.js';

/** After this time a write is no longer waited for: the watch is broken, or the server lost its history. */
const LONGEST_WAIT_MS = 10_000;
const EAGER_TURNS = 100;

interface PendingWrites {
  readonly informer: SharedInformer<Kind>;
  /** The newest resourceVersion in a response to a write. */
  version: string | undefined;
  /** The informer's resourceVersion when `version` was recorded. */
  reached: string | undefined;
  /** Deleted objects: uids by key. */
  readonly gone: Map<string, string>;
}

/** Tracks the writes of one controller until its informers contain them. */
export class OwnWrites implements Activity {
  readonly #name: string;
  readonly #written = new Map<string, PendingWrites>();
  /** A cache of `#written` by the identity of the request's resource; null: not tracked. */
  #byAddress = new WeakMap<GroupVersionResource, PendingWrites | null>();
  #isClosed = false;

  /** `name` is the controller's name, for messages. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Tracks writes to this resource from now on. */
  track(resource: GroupVersionResource, informer: SharedInformer<Kind>): void {
    const key = resourceKey(resource);
    if (!this.#written.has(key)) {
      this.#written.set(key, { informer, version: undefined, reached: undefined, gone: new Map() });
      this.#byAddress = new WeakMap();
    }
  }

  wrap(transport: Transport): Transport {
    return {
      dialect: transport.dialect,
      clock: transport.clock,
      origin: this.#name,
      ...(transport.closing === undefined ? {} : { closing: transport.closing }),
      send: (request) => {
        const answered = transport.send(request);
        if (request.verb === 'get' || request.verb === 'list' || request.verb === 'watch') return answered;
        if (!isPromise(answered)) return this.#note(request, answered);
        return answered.then((response) => this.#note(request, response));
      },
    };
  }

  isSeen(): boolean {
    for (const written of this.#written.values()) if (!isSeen(written)) return false;
    return true;
  }

  /** Only registered for a remote server; a cluster in this process tracks pending watch deliveries itself. */
  isBusy(): boolean {
    return !this.#isClosed && !this.isSeen();
  }

  busyWith(): readonly string[] {
    if (!this.isBusy()) return [];
    const behind = [...this.#written].filter(([, written]) => !isSeen(written));
    return behind.map(([resource]) => `${this.#name} has not seen yet what it wrote to ${resource}`);
  }

  /** Ends all waiting. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when the informers contain all writes, or after the time limit. */
  async seen(): Promise<void> {
    const deadline = systemClock.now() + LONGEST_WAIT_MS;
    for (let turns = 0; !this.#isClosed && !this.isSeen(); turns++) {
      await (turns < EAGER_TURNS ? nextTurn() : shortDelay());
      if (systemClock.now() > deadline) this.#forget();
    }
  }

  #forget(): void {
    for (const written of this.#written.values()) {
      written.version = undefined;
      written.gone.clear();
    }
  }

  #writtenAt(resource: GroupVersionResource): PendingWrites | null {
    let written = this.#byAddress.get(resource);
    if (written === undefined) {
      written = this.#written.get(resourceKey(resource)) ?? null;
      this.#byAddress.set(resource, written);
    }
    return written;
  }

  #note(request: ApiRequest, response: ApiResponse): ApiResponse {
    const written = this.#writtenAt(request.resource);
    if (written === null || response.type !== 'object' || request.options.dryRun !== undefined) return response;
    const answer = response.object as Partial<ApiObject> & Partial<Pick<Status, 'details'>>;
    const version = answer.metadata?.resourceVersion;
    if (request.verb === 'delete') {
      const uid = answer.details?.uid ?? answer.metadata?.uid;
      if (request.name === undefined || uid === undefined) return response;
      const key = request.namespace === undefined ? request.name : `${request.namespace}/${request.name}`;
      written.gone.set(key, uid);
    } else if (version !== undefined && version !== '' && request.verb !== 'deletecollection') {
      if (written.version === undefined || isSameOrNewerVersion(version, written.version)) {
        written.version = version;
        written.reached = written.informer.resourceVersion;
      }
    }
    return response;
  }
}

function isSeen(written: PendingWrites): boolean {
  const { informer, gone } = written;
  for (const [key, uid] of gone) {
    const known = informer.at(key) as ApiObject | undefined;
    if (known?.metadata.uid === uid && known.metadata.deletionTimestamp === undefined) return false;
    gone.delete(key);
  }
  const { version, reached } = written;
  if (version === undefined) return true;
  const now = informer.resourceVersion;
  // The informer went back to an earlier version: the server was restored, and the write is lost.
  const isReplaced = now !== undefined && reached !== undefined && !isSameOrNewerVersion(now, reached);
  if (!isReplaced && (now === undefined || !isSameOrNewerVersion(now, version))) return false;
  written.version = undefined;
  return true;
}

export function resourceKey({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}

function shortDelay(): Promise<void> {
  return new Promise((resolve) => systemClock.after(2, resolve));
}
