/**
 * A field that every client must give and that the server can see was not given: required to the compiler, absent to
 * the rules, which say so in their own words.
 */
import * as z from 'zod';
import { hint } from '../../schema/hints.js';

export function requiredPointer<Schema extends z.ZodType>(schema: Schema): Schema {
  // A wrapper that demands what is demanded anyway: a hint on the schema itself would hold for everybody who uses it.
  return hint(z.nonoptional(schema), { presence: 'pointer' }) as unknown as Schema;
}
