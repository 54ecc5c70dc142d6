/**
 * Loads a saved state into a new cluster: objects are stored as they are, without the write pipeline.
 *
 * CRDs in the state define the kinds of other objects, so loading runs in rounds: store the objects of served kinds, let
 * the reconcilers serve new kinds, and continue with the rest.
 */

import { withOrderedKeys } from '../crd/value/wire-order.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { type FieldSet, sorted } from '../merge/apply/field-set.js';
import { dialects } from '../meta/dialect.js';
import { apiVersionOf, parseApiVersion } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { Registry } from '../registry/registry.js';
import { arrange } from '../schema/arrange.js';
import type { SchemaNode } from '../schema/schema-node.js';
import { withRuleDefaults } from '../schema/type-rules.js';
import type { CompleteObject } from '../storage/journal/attach.js';
import type { ClusterState, PlacedObject } from '../storage/state.js';
import type { Store } from '../storage/store.js';
import { keyText } from '../storage/types.js';
import { translateError } from '../util/catch-error.js';
import { unreachable } from '../util/invariant.js';
import { cloneJson, deepFreeze, isRecord, type MutableRecord, NotJsonError, setOwn } from '../util/json.js';
import type { ServerReconcilers } from './reconcilers.js';
import { seal } from './steps/seal.js';
import { toStored } from './versions.js';

export interface LoadPlace {
  readonly store: Store;
  readonly registry: Registry;
  readonly reconcilers: ServerReconcilers;
}

/**
 * Adds the objects of a state to a new cluster and replaces objects with the same names. Throws TypeError for a state that
 * no cluster could have had, and for objects of kinds that are not served.
 */
export function loadState(state: ClusterState, { store, registry, reconcilers }: LoadPlace): void {
  if (!isRecord(state))
    throw invalidState(`takes a state, such as a capture, got ${state === null ? 'null' : typeof state}`);
  const revision = revisionOf(state);
  let waiting = checkedObjects(state, revision);
  const taken = new Set<string>();
  for (let round = 1; waiting.length > 0 || round === 1; round++) {
    const placed: PlacedObject[] = [];
    const unknown: ApiObject[] = [];
    for (const object of waiting) {
      const served = kindOf(object, registry);
      if (served === undefined) unknown.push(object);
      else placed.push(toPlacedObject(object, served, taken));
    }
    if (round > 1 && placed.length === 0) {
      if (state.skipsUnserved === true) return;
      throw notServed(unknown, registry);
    }
    store.load(placed, Math.max(store.revision, revision));
    reconcilers.restart();
    waiting = unknown;
  }
}

/** Leaves room for the revisions of later writes below the largest safe integer. */
const HIGHEST_REVISION = Number.MAX_SAFE_INTEGER - 2 ** 40;

function revisionOf({ resourceVersion }: ClusterState): number {
  const revision = Number(resourceVersion);
  if (typeof resourceVersion === 'string' && /^\d+$/.test(resourceVersion)) {
    if (revision <= HIGHEST_REVISION) return revision;
    throw invalidState(
      `resourceVersion ${resourceVersion} leaves no room for writes; it is at most ${HIGHEST_REVISION}`,
    );
  }
  throw invalidState(`resourceVersion is the decimal text of a number, got ${JSON.stringify(resourceVersion)}`);
}

function checkedObjects({ objects }: ClusterState, revision: number): readonly ApiObject[] {
  if (!Array.isArray(objects)) throw invalidState('objects is a list');
  return objects.map((object: unknown, index) => {
    const description = nameOf(object) ?? `object ${index}`;
    const problem = problemOf(object, revision);
    if (problem !== undefined) throw invalidState(`${description} ${problem}`);
    // Copied, because the store freezes its objects.
    const copy = () => cloneJson(object) as unknown as ApiObject;
    // For example an object with a cycle.
    return translateError(NotJsonError, copy, ({ message }) => invalidState(`${description} is no JSON: ${message}`));
  });
}

/** Why an object cannot come from a store; completes a sentence that starts with its name. */
function problemOf(object: unknown, revision: number): string | undefined {
  if (!isRecord(object)) return 'is no object';
  const { apiVersion, kind, metadata } = object;
  if (typeof apiVersion !== 'string' || apiVersion === '') return 'has no apiVersion';
  if (typeof kind !== 'string' || kind === '') return 'has no kind';
  if (!isRecord(metadata)) return 'has no metadata';
  for (const field of ['name', 'uid', 'resourceVersion', 'creationTimestamp']) {
    if (typeof metadata[field] !== 'string' || metadata[field] === '') return `has no metadata.${field}`;
  }
  const { managedFields } = metadata;
  const isManaged = managedFields == null || (Array.isArray(managedFields) && managedFields.every(isManager));
  if (!isManaged) return 'has metadata.managedFields that are no list of managers';
  const own = String(metadata['resourceVersion']);
  if (!/^\d+$/.test(own)) return `has the resourceVersion ${JSON.stringify(own)}, which is no number`;
  return Number(own) > revision ? `has the resourceVersion ${own}, above that of the state (${revision})` : undefined;
}

function isManager(entry: unknown): boolean {
  return isRecord(entry) && (entry['fieldsV1'] == null || isRecord(entry['fieldsV1']));
}

/** The kind of an object; for custom resources also a version that is no longer served. */
function kindOf({ apiVersion, kind }: ApiObject, registry: Registry): ServedKind | undefined {
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) return undefined;
  const served = registry.byKind({ ...gv, kind });
  if (served !== undefined) return served;
  return registry
    .storageKinds()
    .find(
      (stored) =>
        stored.kind.customResourceHandler !== undefined && stored.gvk.group === gv.group && stored.gvk.kind === kind,
    );
}

/** Adds what the dialect's rules require since an object was stored. */
export function completeFor(registry: Registry): CompleteObject {
  return ({ key, object }) => {
    const served = registry.storageKind(key.storageKey);
    if (served === undefined) return object;
    const complete = withRuleDefaults(served.schema, object, served.dialect);
    return complete === object ? object : deepFreeze(complete);
  };
}

function toPlacedObject(object: ApiObject, served: ServedKind, taken: Set<string>): PlacedObject {
  const { name, namespace } = object.metadata;
  const description = nameOf(object);
  if (served.kind.virtual !== undefined) throw invalidState(`${description} is of a kind that is not stored`);
  if (served.namespaced !== (namespace !== undefined && namespace !== '')) {
    throw invalidState(
      `${description} ${served.namespaced ? 'has no namespace' : 'has a namespace, which its kind has not'}`,
    );
  }
  const key = { storageKey: served.storageKey, namespace: namespace ?? '', name };
  const text = keyText(key);
  if (taken.has(text)) throw invalidState(`${description} is there twice`);
  taken.add(text);
  // A custom resource may be stored in any of its versions.
  const isAsStored = served.storageKind === undefined || served.kind.customResourceHandler !== undefined;
  const stored = inStoredOrder(served, withRuleDefaults(served.schema, object, served.dialect));
  return { key, object: isAsStored ? stored : toStored(served, stored) };
}

const NAMED_AT_MOST = 5;

function notServed(objects: readonly ApiObject[], registry: Registry): TypeError {
  const kinds = [...new Set(objects.map(({ apiVersion, kind }) => `${kind} in ${apiVersion}`))];
  const more = kinds.length > NAMED_AT_MOST ? ` and ${kinds.length - NAMED_AT_MOST} more kinds` : '';
  const first = nameOf(objects[0]);
  const named = kinds.slice(0, NAMED_AT_MOST).join(', no ');
  return invalidState(
    `this cluster serves no ${named}${more}; the first is ${first}${otherDialect(objects, registry)}`,
  );
}

/** Suggests the other dialect if the apiVersions belong to it. */
function otherDialect(objects: readonly ApiObject[], registry: Registry): string {
  const wanted = new Set(objects.map(({ apiVersion }) => apiVersion));
  const other = dialects.find((dialect) =>
    registry
      .all()
      .some(({ kind: { group, version } }) => wanted.has(apiVersionOf({ group: dialect.group(group), version }))),
  );
  return other === undefined
    ? ''
    : `; such names are of the dialect ${other.name}: createCluster({ dialect: '${other.name}' })`;
}

function nameOf(object: unknown): string | undefined {
  if (!isRecord(object)) return undefined;
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name, namespace } = metadata;
  if (typeof name !== 'string') return undefined;
  const place = typeof namespace === 'string' ? `${namespace}/${name}` : name;
  return `${String(object['kind'] ?? 'object')} ${place}`;
}

function invalidState(why: string): TypeError {
  return new TypeError(`orchplane: from: ${why}`);
}

/** The object with its fields in wire order, deeply frozen. Frozen parts of the argument are reused as they are. */
export function inStoredOrder({ schema }: ServedKind, given: ApiObject): ApiObject {
  const object = withOrderedMaps(schema, given) as ApiObject;
  const metadataNode = schema.fields.get('metadata')?.node;
  const metadata =
    metadataNode === undefined ? object.metadata : (arrange(metadataNode, object.metadata) as ApiObject['metadata']);
  const managedFields = metadata.managedFields?.map((entry) =>
    entry.fieldsV1 === undefined ? entry : { ...entry, fieldsV1: inCanonicalOrder(entry.fieldsV1) },
  );
  const draft = { ...object, metadata: managedFields === undefined ? metadata : { ...metadata, managedFields } };
  return seal(schema, draft as unknown as DraftObject, metadata.resourceVersion);
}

/** Sorts the keys of maps in structs. Documents are sorted as a whole; arbitrary JSON is not sorted. */
function withOrderedMaps(node: SchemaNode, value: unknown): unknown {
  switch (node.type) {
    case 'object': {
      if (!isRecord(value)) return value;
      const out: MutableRecord = {};
      for (const [name, below] of Object.entries(value)) {
        const field = node.fields.get(name);
        setOwn(out, name, field === undefined ? below : withOrderedMaps(field.node, below));
      }
      return out;
    }
    case 'map':
      return isRecord(value) ? withOrderedKeys(value, (below) => withOrderedMaps(node.values, below)) : value;
    case 'list':
      return Array.isArray(value) ? value.map((item) => withOrderedMaps(node.items, item)) : value;
    case 'scalar':
    case 'any':
      return value;
    default:
      return unreachable(node);
  }
}

function inCanonicalOrder(set: unknown): Record<string, unknown> {
  const out: MutableRecord = {};
  if (!isRecord(set)) return out;
  for (const [element, below] of Object.entries(sorted(set as FieldSet))) {
    setOwn(out, element, isRecord(below) ? inCanonicalOrder(below) : below);
  }
  return out;
}
