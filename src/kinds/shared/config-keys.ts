/**
 * The rule for maps whose keys are file names.
 */
import type * as z from 'zod';
import { configMapKeyProblems } from '../../meta/names.js';
import { rule } from '../../schema/rules.js';

/** A map schema whose keys must be valid ConfigMap keys. */
export function configKeys<Values extends z.ZodType<Record<string, string>>>(map: Values): Values {
  return rule(map, (entries) =>
    Object.keys(entries).flatMap((key) =>
      configMapKeyProblems(key).map((detail) => ({ type: 'invalid' as const, path: [key], value: key, detail })),
    ),
  );
}
