/**
 * The contract of non-resource pages. A page returns `undefined` for a path that is not its own; the handler then tries
 * the next page.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Answer, HttpHeaders } from '../../protocol/http.js';
import type { Offer, Representation } from '../negotiate.js';
import type { Query } from '../query.js';
import type { Envelope } from '../respond.js';

/** A request for a non-resource path. */
export interface PageRequest {
  readonly method: string;
  /** The decoded path. */
  readonly path: string;
  readonly query: Query;
  readonly headers: HttpHeaders;
  readonly accept: string;
  /** The host and port that the client used. */
  readonly host: string;
  readonly envelope: Envelope;
  readonly dialect: Dialect;
  readonly nowMs: number;
  readonly kinds: readonly ServedKind[];
  /** The available encodings. */
  readonly offers: PageOffers;
  /** Applies the requested indentation to a representation. */
  withPretty(form: Representation): Representation;
}

/** The encodings of discovery documents. */
export interface PageOffers {
  /** For lists of groups and of custom resources, which the reference server does not serve in every encoding. */
  readonly groups: Offer;
  /** For lists of built-in resources: the encodings of the resources themselves. */
  readonly versions: Offer;
  /** JSON only. */
  readonly json: Offer;
}

/** Responds to a request, or returns undefined for another page's path. */
export type Page = (request: PageRequest) => Answer | Promise<Answer> | undefined;

/** Caches a value derived from the served kinds for as long as they do not change. */
export function memoizePerKinds<Key extends string, Value>(
  make: (kinds: readonly ServedKind[], key: Key, dialect: Dialect) => Value,
): (kinds: readonly ServedKind[], key: Key, dialect: Dialect) => Value {
  const made = new WeakMap<readonly ServedKind[], Map<Key, Value>>();
  return (kinds, key, dialect) => {
    let byKey = made.get(kinds);
    if (byKey === undefined) {
      byKey = new Map();
      made.set(kinds, byKey);
    }
    let value = byKey.get(key);
    if (value === undefined) {
      value = make(kinds, key, dialect);
      byKey.set(key, value);
    }
    return value;
  };
}
