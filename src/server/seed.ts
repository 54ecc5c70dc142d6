/**
 * What is there before anybody has asked for anything: the default namespaces, and what kinds bring along.
 */
import type { InitialManager } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import type { ApiObject, ManagedFieldsEntry } from '../meta/object.js';
import { formatTime } from '../meta/time.js';
import { valueBody } from '../protocol/body.js';
import { uidFromText } from '../util/ids.js';
import { deepFreeze } from '../util/json.js';
import type { ServerContext } from './context.js';
import { dispatch } from './dispatch.js';

/** They exist from the start, under these names in both dialects. */
const DEFAULT_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

export function seedNamespaces(context: ServerContext): void {
  const resource = { group: '', version: 'v1', resource: 'namespaces' };
  for (const name of DEFAULT_NAMESPACES) {
    // Without plugins nothing has to be waited for.
    const options = { fieldManager: SERVER_MANAGER };
    void dispatch(context, { verb: 'create', resource, options, body: valueBody({ metadata: { name } }) });
  }
}

type SeedPlace = Pick<ServerContext, 'store' | 'dialect' | 'clock'>;

/** What kinds bring along. It is there at the version of the last default namespace, as if written with it. */
export function seedInitialObjects({ store, dialect, clock }: SeedPlace, forms: readonly ServedKind[]): void {
  const resourceVersion = String(store.revision);
  const creationTimestamp = formatTime(clock.now());
  for (const { kind, storage, gvk, apiVersion } of forms) {
    if (kind.initial === undefined) continue;
    for (const { metadata, ...body } of kind.initial(dialect, creationTimestamp)) {
      const { name, namespace, generation, labels, annotations, managers } = metadata;
      const filledIn = {
        name,
        ...(namespace === undefined ? {} : { namespace }),
        // Not from the cluster's own source: what users see of that should not change with what kinds bring along.
        uid: uidFromText(`${storage}/${namespace === undefined ? '' : `${namespace}/`}${name}`),
        resourceVersion,
        ...(generation === undefined ? {} : { generation }),
        creationTimestamp,
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
        managedFields: managers.map((manager) => initialEntry(manager, apiVersion, creationTimestamp)),
      };
      const object = deepFreeze({ kind: gvk.kind, apiVersion, metadata: filledIn, ...body });
      store.seed({ resource: storage, namespace: namespace ?? '', name }, object as unknown as ApiObject);
    }
  }
}

function initialEntry(
  { manager, operation, subresource, fields }: InitialManager,
  apiVersion: string,
  time: string,
): ManagedFieldsEntry {
  return {
    manager,
    operation: operation ?? 'Update',
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields as Record<string, unknown>,
    ...(subresource === undefined ? {} : { subresource }),
  };
}
