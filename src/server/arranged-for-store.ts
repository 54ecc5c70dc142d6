/**
 * Objects of a capture in the form that the store has them in: a text sorts keys its own way, and clients see the order.
 */
import { withOrderedKeys } from '../crd/value/wire-order.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { type FieldSet, sorted } from '../merge/apply/field-set.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { arrange } from '../schema/arrange.js';
import type { Structural } from '../schema/structural.js';
import { unreachable } from '../util/invariant.js';
import { isRecord, type MutableRecord, setOwn } from '../util/json.js';
import { seal } from './steps/seal.js';

/** The same object with its fields in wire order, deep-frozen. It must not be frozen yet: what is, is taken as it is. */
export function arrangedForStore({ schema }: ServedKind, given: ApiObject): ApiObject {
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

/** Maps of structs come out with their keys in order. Documents are put in order as a whole, arbitrary JSON never is. */
function withOrderedMaps(node: Structural, value: unknown): unknown {
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
