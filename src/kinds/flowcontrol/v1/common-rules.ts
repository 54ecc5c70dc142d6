/**
 * Validation rules and message parts that FlowSchemas and priority levels share.
 */
import { duplicate, type FieldError, keyPath, required } from '../../../meta/field-error.js';

/** Validates a list of conditions. */
export function validateConditions(conditions: readonly { readonly type?: string }[] | undefined): FieldError[] {
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, { type = '' }] of (conditions ?? []).entries()) {
    const at = `${keyPath('status.conditions', index)}.type`;
    if (seen.has(type)) found.push(duplicate(at, type));
    seen.add(type);
    if (type === '') found.push(required(at, 'must not be empty'));
  }
  return found;
}

/** Prints a pointer as Go's %#v; the address is a constant, so that responses can be compared. */
export function pointerDump(name: string, value: unknown): string {
  return `(*flowcontrol.${name})(${value === undefined ? 'nil' : '0xc000000000'})`;
}
