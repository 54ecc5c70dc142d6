/**
 * The contract of this folder: what the server answers outside of its resources. A page is asked with everything that is
 * known of the request; what it does not know it leaves to the next by answering `undefined`.
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Answer, HttpHeaders } from '../answer.js';
import type { Offer, Representation } from '../negotiate.js';
import type { Query } from '../query.js';
import type { Envelope } from '../respond.js';

export interface PageRequest {
  readonly method: string;
  /** Decoded. */
  readonly path: string;
  readonly query: Query;
  readonly headers: HttpHeaders;
  readonly accept: string;
  /** The host and port by which the client reached the server. */
  readonly host: string;
  readonly envelope: Envelope;
  readonly dialect: Dialect;
  readonly nowMs: number;
  readonly kinds: readonly ServedKind[];
  /** What documents about resources can be had in. */
  readonly offers: PageOffers;
  /** The answer in the form that the headers and the query ask for. */
  inForm(form: Representation): Representation;
}

export interface PageOffers {
  /** Lists of groups, which are older than some encodings. */
  readonly groups: Offer;
  /** Lists of a version's resources: what the resources themselves can be had in. */
  readonly versions: Offer;
  /** JSON alone. */
  readonly json: Offer;
}

export type Page = (request: PageRequest) => Answer | Promise<Answer> | undefined;

/** What is made of a cluster's kinds, once for as long as they stay the same. */
export function oncePerKinds<Key extends string, Value>(
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
