/** Rules on the defaults of a schema: a default must keep to them when it stands where nothing was, and when it stays. */
import { storedEnvironment } from '../../cel/library/environments.js';
import type { FieldError } from '../../meta/field-error.js';
import type { SchemaView } from '../schema-view.js';
import { Twin } from '../value/twin.js';
import { Before } from './before.js';
import { compileRules } from './compile.js';
import { REQUEST_BUDGET, ruleErrors } from './evaluate.js';

/**
 * Judges defaults one after the other. All defaults of a schema share the budget of one request; when it is spent, no
 * more of them are judged.
 */
export function defaultRules(): (schema: SchemaView, value: unknown, path: string) => readonly FieldError[] {
  let budget = REQUEST_BUDGET;
  return (schema, value, path) => {
    if (budget < 0) return [];
    const rules = compileRules(schema, schema.embeddedResource, {
      rule: storedEnvironment,
      message: storedEnvironment,
    });
    if (rules === undefined) return [];
    const kept = ruleErrors(rules, value, Before.of(new Twin(schema, value, value), false), { path, budget });
    if (kept.errors.length > 0) {
      budget = kept.budgetLeft;
      return kept.errors;
    }
    const added = ruleErrors(rules, value, Before.NOTHING, { path, budget });
    budget = Math.min(kept.budgetLeft, added.budgetLeft);
    return added.errors;
  };
}
