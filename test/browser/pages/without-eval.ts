/**
 * Disables zod's eval. zod tries eval once when the first schema is created and works without it, but a policy reports
 * the attempt as a violation.
 */
import { config } from 'zod';

export const zodSettings = config({ jitless: true });
