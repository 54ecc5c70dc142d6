/**
 * A kind in a dialect: every name a request or a message needs, worked out once.
 */
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { apiVersionOf, qualifiedResource } from '../meta/gvk.js';
import type { Verb } from '../protocol/request.js';
import type { Kind } from './kind.js';

/** A kind as one cluster serves it: its names in that cluster's dialect, worked out once. */
export interface ServedKind {
  readonly kind: Kind;
  readonly gvr: GroupVersionResource;
  readonly gvk: GroupVersionKind;
  readonly groupResource: GroupResource;
  readonly apiVersion: string;
  /** Where its objects are stored; versions of one kind share it. */
  readonly storage: string;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
}

export function serveKind(kind: Kind, dialect: Dialect): ServedKind {
  const group = dialect.group(kind.group);
  const { version } = kind;
  const resource = kind.names.plural;
  return Object.freeze({
    kind,
    gvr: { group, version, resource },
    gvk: { group, version, kind: kind.kind },
    groupResource: { group, resource },
    apiVersion: apiVersionOf({ group, version }),
    storage: qualifiedResource({ group, resource }),
    namespaced: kind.scope === 'Namespaced',
    verbs: kind.verbs,
  });
}
