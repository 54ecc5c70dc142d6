/**
 * A kind in the dialect of a cluster: its names and its schema, computed once.
 */
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { apiVersionOf, qualifiedResource } from '../meta/gvk.js';
import type { Verb } from '../protocol/request.js';
import { schemaInDialect } from '../schema/in-dialect.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import type { Kind } from './kind.js';

/** One version of a kind in a dialect. It need not be served: a storage version that clients cannot request has one too. */
export interface ServedKind {
  readonly kind: Kind;
  readonly dialect: Dialect;
  readonly gvr: GroupVersionResource;
  readonly gvk: GroupVersionKind;
  /** The resource in messages, with the group of the request. */
  readonly groupResource: GroupResource;
  /** The kind in messages, with the group of the storage version. */
  readonly groupKind: { readonly group: string; readonly kind: string };
  readonly apiVersion: string;
  /** Where its objects are stored: `deployments.apps`. All versions of a kind share it. */
  readonly storageKey: string;
  /** The storage version, if it is another kind value. */
  readonly storageKind: ServedKind | undefined;
  /** The kind's schema with the dialect's names. */
  readonly schema: ObjectNode;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
}

/** Builds the ServedKind of a kind. `stored` is its storage version, if that is served already. */
export function serveKind(kind: Kind, dialect: Dialect, stored?: ServedKind): ServedKind {
  const group = dialect.group(kind.group);
  const { version } = kind;
  const resource = kind.names.plural;
  const storedAs =
    stored ?? (kind.storageVersion === undefined ? undefined : serveKind(kind.storageVersion.kind, dialect));
  const names: Omit<ServedKind, 'schema'> = {
    kind,
    dialect,
    gvr: { group, version, resource },
    gvk: { group, version, kind: kind.kind },
    groupResource: { group, resource },
    groupKind: storedAs?.groupKind ?? { group, kind: kind.kind },
    apiVersion: apiVersionOf({ group, version }),
    storageKey: storedAs?.storageKey ?? qualifiedResource({ group, resource }),
    storageKind: storedAs,
    namespaced: kind.scope === 'Namespaced',
    verbs: kind.verbs,
  };
  return Object.freeze(withSchema(names, { kind, dialect, schema: undefined }));
}

interface SchemaSource extends Pick<ServedKind, 'kind' | 'dialect'> {
  schema: ObjectNode | undefined;
}

const withSchema = lazyMembers<SchemaSource, Pick<ServedKind, 'schema'>>({
  schema() {
    const source = this[SOURCE];
    source.schema ??= schemaInDialect(source.kind.schema, source.dialect);
    return source.schema;
  },
});
