/**
 * Validates values against a JSON schema with the messages of the reference server's validator. CEL rules, list types,
 * embedded resources and scale paths are validated elsewhere.
 */
import type { FieldError } from '../../meta/field-error.js';
import type { SchemaView } from '../schema-view.js';
import { fieldErrors } from './finding.js';
import { checkOf, type Purpose } from './prepare.js';
import { checkTwin, Run } from './run.js';
import { Twin } from './twin.js';

export interface ValueOptions {
  /** The path of the value: `''` for a whole object, `status` for a status that is validated alone. */
  readonly base?: string;
  /** The value before an update. Violations in unchanged parts are ignored (ratcheting). */
  readonly old?: unknown;
  readonly purpose?: Purpose;
}

/** Validates a value. Errors are in the order of the reference server. A valid value costs one walk. */
export function validateValue(schema: SchemaView, value: unknown, options: ValueOptions = {}): FieldError[] {
  const { base = '', old, purpose = 'objects' } = options;
  const check = checkOf(schema, purpose);
  const run = new Run();
  check(value, run, undefined);
  if (run.findings.length === 0) return [];
  if (old === undefined) return fieldErrors(run.findings, base);
  const ratcheted = new Run();
  checkTwin(check, value, ratcheted, new Twin(schema, value, old));
  return fieldErrors(ratcheted.findings, base);
}
