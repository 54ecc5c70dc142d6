/**
 * The schema hint for a required field that is a pointer in Go: required in the TypeScript type, but decoding accepts
 * its absence, because validation reports the missing value with its own message.
 */
import * as z from 'zod';
import { hint } from '../../schema/hints.js';

export function requiredPointer<Schema extends z.ZodType>(schema: Schema): Schema {
  // The wrapper carries the hint: a hint on the schema itself would apply to every field that shares the schema.
  return hint(z.nonoptional(schema), { presence: 'pointer' }) as unknown as Schema;
}
