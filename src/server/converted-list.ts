/**
 * Lists in the version of a request. A list that waits for a conversion webhook starts again, at the same revision: otherwise a
 * client that writes faster than the webhook converts would delay it without end.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import { CompactedError, type ListPage, type ListQuery } from '../storage/types.js';
import type { ServerContext } from './context.js';
import { ConversionPending, toServedAll } from './versions.js';

/** The revision of a request that waits for conversions. */
const revisions = new WeakMap<ApiRequest, number>();

/** Longer than a request may take. */
const HOLD_MS = 120_000;

export interface ConvertedPage {
  /** Its items are as stored. */
  readonly page: ListPage;
  /** The items in the requested version. */
  readonly items: readonly ApiObject[];
}

/** Throws CompactedError, or ConversionPending. */
export function listConverted(
  { store, clock }: ServerContext,
  request: ApiRequest,
  { served, query }: { readonly served: ServedKind; readonly query: ListQuery },
): ConvertedPage {
  const held = query.at === undefined ? revisions.get(request) : undefined;
  const read = (at: number | undefined): ConvertedPage => {
    const exact = at === undefined ? query : { ...query, at };
    // Selectors look at converted objects. One call of the webhook converts all of them.
    if (exact.matches !== undefined && served.kind.customResourceHandler?.mayBeAsynchronous === true) {
      const { matches: _matches, limit: _limit, ...range } = exact;
      toServedAll(served, store.list(range).items);
    }
    const page = store.list(exact);
    return { page, items: toServedAll(served, page.items) };
  };
  const { revision } = store;
  try {
    return read(held ?? query.at);
  } catch (error) {
    if (error instanceof CompactedError && held !== undefined) return read(undefined);
    if (error instanceof ConversionPending && held === undefined && query.at === undefined) {
      revisions.set(request, revision);
      store.hold(served.storageKey, revision, clock.now() + HOLD_MS);
    }
    throw error;
  }
}
