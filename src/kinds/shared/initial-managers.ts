/**
 * Owners of what is there from the start.
 */
import { type FieldSet, LEAF, setOfFields } from '../../merge/apply/field-set.js';
import { fieldElement, keyElement } from '../../merge/apply/path-element.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import type { InitialManager } from '../kind.js';

/** The server itself owns these fields; dots between the names of a path. */
export function ownedByServer(fields: readonly string[]): InitialManager {
  return { manager: SERVER_MANAGER, fields: setOfFields(fields) };
}

/** A loop of the server that reports a condition owns these fields of it. The names must be in order. */
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
