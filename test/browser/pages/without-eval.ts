/**
 * zod tries once whether it may make code of text, when the first schema is made, and gets along without. Where a policy
 * forbids it, that is reported as a violation all the same, unless zod was told before not to try.
 */
import { config } from 'zod';

export const zodSettings = config({ jitless: true });
