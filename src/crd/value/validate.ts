/**
 * Values judged by a schema, in the words in which the reference server's validator does it. Rules in CEL, list types,
 * embedded resources and the paths of a scale are judged elsewhere.
 */
import type { FieldError } from '../../meta/field-error.js';
import type { SchemaView } from '../schema-view.js';
import { fieldErrors } from './finding.js';
import { checkOf, type Purpose } from './prepare.js';
import { checkTwin, Run } from './run.js';
import { Twin } from './twin.js';

export interface ValueOptions {
  /** Where the value stands: `''` for a whole object, `status` for a status that is judged alone. */
  readonly base?: string;
  /** The value before an update, when there is one: what was wrong before and has not changed is let through. */
  readonly old?: unknown;
  readonly purpose?: Purpose;
}

/**
 * What is wrong with a value, in the order of the reference server. A value that is fine costs one walk.
 */
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
