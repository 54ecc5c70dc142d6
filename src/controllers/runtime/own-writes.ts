/**
 * A controller must not act on a picture from before its own last write, or it makes the same pod twice. This stands
 * between a controller and its transport, notes what was written, and tells when the informers have come that far.
 */
import { isNewerOrSame } from '../../client/versions.js';
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

/** What is not there by now (a server that forgot its past, a watch that is broken) is no longer waited for. */
const LONGEST_WAIT_MS = 10_000;
const EAGER_TURNS = 100;

interface Written {
  readonly informer: SharedInformer<Kind>;
  /** The newest version that a write was answered with. */
  version: string | undefined;
  /** The version that the informer had reached when that was noted. */
  reached: string | undefined;
  /** Objects that are gone or going: uids by key. */
  readonly gone: Map<string, string>;
}

export class OwnWrites implements Activity {
  readonly #name: string;
  readonly #written = new Map<string, Written>();
  /** The same by the very addresses that requests name; null: not followed. */
  #byAddress = new WeakMap<GroupVersionResource, Written | null>();
  #isClosed = false;

  /** The name is for messages: the controller's. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Writes to this resource will be waited for. */
  follow(resource: GroupVersionResource, informer: SharedInformer<Kind>): void {
    const key = resourceKey(resource);
    if (!this.#written.has(key)) {
      this.#written.set(key, { informer, version: undefined, reached: undefined, gone: new Map() });
      this.#byAddress = new WeakMap();
    }
  }

  /** The transport with notes taken of its writes. */
  over(transport: Transport): Transport {
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

  /** Of use where a server far away delivers: nobody else knows that something is still on its way. */
  isBusy(): boolean {
    return !this.#isClosed && !this.isSeen();
  }

  busyWith(): readonly string[] {
    if (!this.isBusy()) return [];
    const behind = [...this.#written].filter(([, written]) => !isSeen(written));
    return behind.map(([resource]) => `${this.#name} has not seen yet what it wrote to ${resource}`);
  }

  /** Nobody waits any more. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when the informers know what was written, or when there is no hope any more. */
  async seen(): Promise<void> {
    const deadline = systemClock.now() + LONGEST_WAIT_MS;
    for (let turns = 0; !this.#isClosed && !this.isSeen(); turns++) {
      await (turns < EAGER_TURNS ? nextTurn() : moment());
      if (systemClock.now() > deadline) this.#forget();
    }
  }

  #forget(): void {
    for (const written of this.#written.values()) {
      written.version = undefined;
      written.gone.clear();
    }
  }

  #writtenAt(resource: GroupVersionResource): Written | null {
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
      if (written.version === undefined || isNewerOrSame(version, written.version)) {
        written.version = version;
        written.reached = written.informer.resourceVersion;
      }
    }
    return response;
  }
}

function isSeen(written: Written): boolean {
  const { informer, gone } = written;
  for (const [key, uid] of gone) {
    const known = informer.at(key) as ApiObject | undefined;
    if (known?.metadata.uid === uid && known.metadata.deletionTimestamp === undefined) return false;
    gone.delete(key);
  }
  const { version, reached } = written;
  if (version === undefined) return true;
  const now = informer.resourceVersion;
  // Back at an earlier version: the past has been replaced, and the write with it.
  const isReplaced = now !== undefined && reached !== undefined && !isNewerOrSame(now, reached);
  if (!isReplaced && (now === undefined || !isNewerOrSame(now, version))) return false;
  written.version = undefined;
  return true;
}

/** One text for a resource in a version. */
export function resourceKey({ group, version, resource }: GroupVersionResource): string {
  return `${group}/${version}/${resource}`;
}

function moment(): Promise<void> {
  return new Promise((resolve) => systemClock.after(2, resolve));
}
