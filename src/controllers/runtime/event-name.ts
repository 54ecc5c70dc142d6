/**
 * Names of Events: the object's name and the time in nanoseconds (hexadecimal).
 */
import { dnsSubdomainProblems } from '../../meta/names.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import type { AnyObject, HasMetadata } from './owners.js';

/** The namespace of events about cluster-scoped objects. */
export const EVENT_NAMESPACE = 'default';

/** The number of names to try. The distance to the last name doubles each time, so this is more than enough. */
export const NAME_ATTEMPTS = 10;

const NANOS_PER_MS = 1_000_000n;

/** Generates event names without repetition. */
export class EventNames {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'uid'>;
  #last = 0n;
  /** The distance of the next name from the last one; larger after collisions. */
  #step = 1n;

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'uid'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * Returns another name after a collision: another recorder wrote about the same object at the same time, or a fork shares
   * the history. The distance doubles with each attempt because many names may be taken.
   */
  another(object: HasMetadata, attempt: number): string {
    this.#step = 2n ** BigInt(attempt);
    return this.next(object);
  }

  next({ metadata }: HasMetadata): string {
    const now = BigInt(Math.floor(this.#clock.now())) * NANOS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + this.#step;
    this.#step = 1n;
    const name = `${metadata.name}.${this.#last.toString(16)}`;
    // Some kinds allow names that Events do not, for example ClusterRoles with a colon.
    return dnsSubdomainProblems(name).length === 0 ? name : this.#ids.uid();
  }
}

/** The object reference of an Event. */
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
