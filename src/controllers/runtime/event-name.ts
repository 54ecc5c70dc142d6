/**
 * Names of events: the object they are about and the moment, in nanoseconds.
 */
import { dnsSubdomainProblems } from '../../meta/names.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import type { AnyObject, HasMetadata } from './owners.js';

/** Events about cluster-scoped objects live here. */
export const EVENT_NAMESPACE = 'default';

const NANOS_PER_MS = 1_000_000n;

/** Gives names, none of them twice. */
export class EventNames {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'uid'>;
  #last = 0n;

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'uid'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  next({ metadata }: HasMetadata): string {
    const now = BigInt(Math.floor(this.#clock.now())) * NANOS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + 1n;
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
