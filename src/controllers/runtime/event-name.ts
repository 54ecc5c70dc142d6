/**
 * Names of events: the object they are about and the moment, in nanoseconds.
 */
import { dnsSubdomainProblems } from '../../meta/names.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import type { AnyObject, HasMetadata } from './owners.js';

/** Events about cluster-scoped objects live here. */
export const EVENT_NAMESPACE = 'default';

/** So many names are tried; each is further away from the last, so this is far more than ever happens. */
export const NAME_ATTEMPTS = 10;

const NANOS_PER_MS = 1_000_000n;

/** Gives names, none of them twice. */
export class EventNames {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'uid'>;
  #last = 0n;
  /** How far the next name is from the last, after names that were taken. */
  #step = 1n;

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'uid'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * A name for what could not be written under the one before, because that is taken: by another who writes about the
   * same object in the same moment, or in the past that a fork shares. There may be many of those, so each attempt goes
   * twice as far as the one before.
   */
  another(about: HasMetadata, attempt: number): string {
    this.#step = 2n ** BigInt(attempt);
    return this.next(about);
  }

  next({ metadata }: HasMetadata): string {
    const now = BigInt(Math.floor(this.#clock.now())) * NANOS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + this.#step;
    this.#step = 1n;
    const name = `${metadata.name}.${this.#last.toString(16)}`;
    // Objects of some kinds have names that no event may have (roles with a colon).
    return dnsSubdomainProblems(name).length === 0 ? name : this.#ids.uid();
  }
}

/** What an event says about which object it is about. */
export function referenceTo({ apiVersion, kind, metadata }: AnyObject): {
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
  apiVersion: string;
  resourceVersion: string;
} {
  return {
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name,
    uid: metadata.uid,
    apiVersion,
    resourceVersion: metadata.resourceVersion,
  };
}
