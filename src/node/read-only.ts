/**
 * Makes a served cluster read-only: requests that would change an object are forbidden, and the server itself changes
 * nothing, such as the endpoints of its Service.
 */
import type { Cluster } from '../cluster/cluster.js';
import { errors } from '../meta/errors.js';
import type { ApiRequest, Verb } from '../protocol/request.js';
import { type Journal, JournalError } from '../storage/journal/types.js';
import { isStored } from './heap-guard.js';

const READING_VERBS: ReadonlySet<Verb> = new Set(['get', 'list', 'watch']);

/** A journal for a cluster that does not change after it was created. */
export function readOnlyJournal(why: string): Journal {
  return {
    load: () => undefined,
    reset: () => undefined,
    append() {
      throw new JournalError(why);
    },
    whenDurable: () => undefined,
    durableRevision: Number.POSITIVE_INFINITY,
    close: () => Promise.resolve(),
  };
}

/** Until it is disposed. `why` completes the message of the Status. */
export function refuseWrites(cluster: Pick<Cluster, 'use' | 'kinds'>, why: string): Disposable {
  return cluster.use((request, next) => {
    if (!isWrite(request, cluster)) return next();
    throw errors.forbidden(request.resource, request.name ?? '', why);
  });
}

/** Dry runs, access reviews and token requests store nothing. */
function isWrite({ verb, resource, subresource, options }: ApiRequest, cluster: Pick<Cluster, 'kinds'>): boolean {
  if (READING_VERBS.has(verb) || options.dryRun !== undefined) return false;
  return subresource !== 'token' && isStored(resource, cluster);
}
