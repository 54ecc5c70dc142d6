/**
 * A kind in a dialect: every name a request or a message needs, worked out once.
 */
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind, GroupVersionResource } from '../meta/gvk.js';
import { apiVersionOf, qualifiedResource } from '../meta/gvk.js';
import type { Verb } from '../protocol/request.js';
import { schemaInDialect } from '../schema/in-dialect.js';
import type { ObjectNode } from '../schema/structural.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import type { Kind } from './kind.js';

/** A kind as one cluster serves it: its names in that cluster's dialect, worked out once. */
export interface ServedKind {
  readonly kind: Kind;
  readonly dialect: Dialect;
  readonly gvr: GroupVersionResource;
  readonly gvk: GroupVersionKind;
  /** As messages name it: by the group it was asked for in. */
  readonly groupResource: GroupResource;
  /** As messages name the kind: versions in another group are named by the group they are stored in. */
  readonly groupKind: { readonly group: string; readonly kind: string };
  readonly apiVersion: string;
  /** Where its objects are stored; versions of one kind share it. */
  readonly storage: string;
  /** The kind in whose form they are stored, when it is another one. */
  readonly storageKind: ServedKind | undefined;
  /** The kind's schema as the dialect spells it. */
  readonly schema: ObjectNode;
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
}

/** `stored`: the kind in whose form its objects are stored, when it is served already. */
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
    storage: storedAs?.storage ?? qualifiedResource({ group, resource }),
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
