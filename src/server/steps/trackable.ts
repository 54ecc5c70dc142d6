/**
 * Whether the field ownership of a new state can be computed. The reference server converts the whole object for that,
 * also the parts that the write discards; if that fails, it stores the object without managedFields.
 * upstream: apimachinery/pkg/util/managedfields/internal/structuredmerge.go structuredMergeManager.Update
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { schemaProblem } from '../../merge/apply/intent-fields.js';
import { hasElement } from '../../merge/apply/typed.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { type ListNode, type ObjectNode, type SchemaNode, searchIn } from '../../schema/schema-node.js';
import { isRecord, own } from '../../util/json.js';
import type { WriteOperation } from '../write-operation.js';

/** False if the object has a value that apply cannot represent. */
export function isTrackable(draft: DraftObject, { served }: WriteOperation): boolean {
  const { kind, schema } = served;
  if (kind.representation === 'struct' && kind.customResourceHandler === undefined)
    return isDecodedTrackable(schema, draft);
  // The type of a custom resource is checked later. A status write discards another one.
  if (draft.kind !== served.gvk.kind || draft.apiVersion !== served.apiVersion) return false;
  // Validation accepts some values of other types, such as empty lists. Decoding has checked the metadata.
  return schemaProblem(schema, { ...draft, metadata: undefined }) === undefined;
}

/** Why apply cannot represent a stored object in the requested version; undefined if it can. */
export function untrackableReason(live: ApiObject, { kind, schema }: ServedKind): string | undefined {
  const isChecked = kind.representation === 'struct' && kind.customResourceHandler === undefined;
  if (isChecked && isDecodedTrackable(schema, live)) return undefined;
  // Decoding has checked the metadata of a custom resource.
  return schemaProblem(schema, kind.customResourceHandler === undefined ? live : { ...live, metadata: undefined });
}

/** The same for a decoded struct. Its own managedFields are not part of what apply represents. */
function isDecodedTrackable(schema: ObjectNode, object: object): boolean {
  return isTrackableInside(schema, object, 'metadata');
}

/** Whether all items of keyed lists have their keys, and field sets are maps. Decoding checks everything else. */
function isTrackableValue(node: SchemaNode, value: unknown): boolean {
  if (isFieldSet(node)) return value === undefined || value === null || isRecord(value);
  if (value === null || typeof value !== 'object' || !mayBeUntrackable(node)) return true;
  switch (node.type) {
    case 'object':
      return isTrackableInside(node, value);
    case 'map':
      return Object.values(value).every((inner) => isTrackableValue(node.values, inner));
    case 'list':
      return (
        Array.isArray(value) &&
        value.every((item) => (node.listType !== 'map' || hasElement(node, item)) && isTrackableValue(node.items, item))
      );
    default:
      return true;
  }
}

function isTrackableInside(node: ObjectNode, value: object, skipped?: string): boolean {
  for (const [name, { node: inner }] of node.fields) {
    if (name === skipped || !mayBeUntrackable(inner)) continue;
    if (!isTrackableValue(inner, own(value as Record<string, unknown>, name))) return false;
  }
  return true;
}

/** Whether there are lists whose items may omit a key that has no default, or field sets in the metadata of a template. */
const mayBeUntrackable = searchIn((node) => (node.type === 'list' && hasOptionalKey(node)) || isFieldSet(node));

function isFieldSet(node: SchemaNode): boolean {
  return node.type === 'any' && node.goType === 'v1.FieldsV1';
}

function hasOptionalKey({ listType, mapKeys, items, keyFallbacks = {} }: ListNode): boolean {
  if (listType !== 'map' || items.type !== 'object') return false;
  return mapKeys.some((key) => {
    const field = items.fields.get(key);
    return field?.presence !== 'always' && field?.node.default === undefined && !Object.hasOwn(keyFallbacks, key);
  });
}
