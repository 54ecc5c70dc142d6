/**
 * Field managers (`managedFields`) of objects that exist when a cluster starts.
 */
import { type FieldSet, LEAF, setOfFields } from '../../merge/apply/field-set.js';
import { fieldElement, keyElement } from '../../merge/apply/path-element.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import type { InitialManager } from '../kind.js';

/** An entry in which the server itself owns these fields, given as dotted paths. */
export function ownedByServer(fields: readonly string[]): InitialManager {
  return { manager: SERVER_MANAGER, fields: setOfFields(fields) };
}

/** An entry in which a controller owns fields of one condition. The field names must be sorted. */
export function conditionOwnedBy(manager: string, type: string, fields: readonly string[]): InitialManager {
  const condition: Record<string, FieldSet> = { '.': LEAF };
  for (const field of fields) condition[fieldElement(field)] = LEAF;
  const conditions = { [keyElement([['type', type]])]: condition };
  return {
    manager,
    operation: 'Apply',
    subresource: 'status',
    fields: { 'f:status': { 'f:conditions': conditions } },
  };
}
