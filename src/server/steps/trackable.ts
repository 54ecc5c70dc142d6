/**
 * Whether the field ownership of a new state can be computed. The reference server converts the whole object for that,
 * also the parts that the write discards; if that fails, it stores the object without managedFields.
 * upstream: apimachinery/pkg/util/managedfields/internal/structuredmerge.go structuredMergeManager.Update
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { schemaProblem } from '../../merge/apply/intent-fields.js';
import { elementOrNone } from '../../merge/apply/typed.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { type ListNode, type ObjectNode, type SchemaNode, searchIn } from '../../schema/schema-node.js';
import { own } from '../../util/json.js';
import { nonOwnableParts } from '../ownable-fields.js';
import type { WriteOperation } from '../write-operation.js';

/** False if the object has a value that apply cannot represent. */
export function isTrackable(draft: DraftObject, { served, request }: WriteOperation): boolean {
  const { kind, schema } = served;
  if (kind.representation === 'struct' && kind.customResourceHandler === undefined) return hasAllKeys(schema, draft);
  const body = draft as unknown as Readonly<Record<string, unknown>>;
  // The validation of the write rejects all other parts that do not match.
  const discarded =
    request.subresource === 'status'
      ? [...schema.fields.keys()].filter((name) => name !== 'status' && name !== 'metadata')
      : nonOwnableParts(served, request.subresource ?? '');
  return discarded.every((part) => {
    const node = schema.fields.get(part)?.node;
    const value = own(body, part);
    return node === undefined || value === undefined || schemaProblem(node, value) === undefined;
  });
}

/** Why apply cannot represent a stored object in the requested version; undefined if it can. */
export function untrackableReason(live: ApiObject, { kind, schema }: ServedKind): string | undefined {
  const isChecked = kind.representation === 'struct' && kind.customResourceHandler === undefined;
  return isChecked && hasAllKeys(schema, live) ? undefined : schemaProblem(schema, live);
}

/** Whether all items of keyed lists have their keys. Types and other fields of structs are checked by decoding. */
function hasAllKeys(node: SchemaNode, value: unknown): boolean {
  if (value === null || typeof value !== 'object' || !mayLackKeys(node)) return true;
  switch (node.type) {
    case 'object':
      return hasAllKeysInside(node, value);
    case 'map':
      return Object.values(value).every((inner) => hasAllKeys(node.values, inner));
    case 'list':
      return (
        Array.isArray(value) &&
        value.every(
          (item) =>
            (node.listType !== 'map' || elementOrNone(node, item) !== undefined) && hasAllKeys(node.items, item),
        )
      );
    default:
      return true;
  }
}

function hasAllKeysInside(node: ObjectNode, value: object): boolean {
  for (const [name, field] of node.fields) {
    if (mayLackKeys(field.node) && !hasAllKeys(field.node, own(value as Record<string, unknown>, name))) return false;
  }
  return true;
}

/** Whether there are lists whose items may omit a key that has no default. */
const mayLackKeys = searchIn((node) => node.type === 'list' && hasOptionalKey(node));

function hasOptionalKey({ listType, mapKeys, items, keyFallbacks = {} }: ListNode): boolean {
  if (listType !== 'map' || items.type !== 'object') return false;
  return mapKeys.some((key) => {
    const field = items.fields.get(key);
    return field?.presence !== 'always' && field?.node.default === undefined && !Object.hasOwn(keyFallbacks, key);
  });
}
