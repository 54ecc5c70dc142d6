/**
 * Rules on kinds that are defined in TypeScript. They are the rules of custom kinds, on the same types: what zod says
 * about a body is turned into the schema that a definition would have, with the rules at its root.
 */
import type * as z from 'zod';
import { storedEnvironment } from '../../../cel/library/environments.js';
import { kubernetesDialect } from '../../../meta/dialect.js';
import { type FieldError, printFieldError } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { isRecord } from '../../../util/json.js';
import { findField } from '../../apiextensions/v1/rules/field-path.js';
import type { ValidationRule, ValidationRuleInput } from '../../apiextensions/v1/schema/json-schema.js';
import { type SchemaView, schemaView } from '../../apiextensions/v1/schema/schema-view.js';
import { schemaFromZod } from '../zod/schema.js';
import { Before } from './before.js';
import { compileRules } from './compile.js';
import { definedRuleErrors } from './definition.js';
import { ruleErrors } from './evaluate.js';

/** Judges an object beside what it was before; undefined on create. */
export type KindRules = (
  next: ApiObject,
  live: ApiObject | undefined,
) => { readonly errors: readonly FieldError[]; readonly warnings: readonly string[] };

/**
 * Compiles the rules of a kind. `body` is what its objects hold beside what every object has. Throws a TypeError that names
 * what is wrong with a rule, so that it shows where the kind is defined. What rules might cost is not held against them,
 * because zod schemas rarely say how long things may get; while they run they are limited as everywhere.
 *
 * @example
 * const judge = compileKindRules('Widget', body, [{ rule: 'self.spec.min <= self.spec.max', message: 'min is at most max' }]);
 * const { errors } = judge(widget, undefined);
 */
export function compileKindRules(name: string, body: z.ZodObject, rules: readonly ValidationRuleInput[]): KindRules {
  for (const given of rules as readonly unknown[]) {
    if (isRecord(given) && typeof given['rule'] === 'string') continue;
    throw new TypeError(`orchplane: ${name}: a rule is written { rule: 'self.spec.a > 0' }`);
  }
  const root = { ...schemaOf(body), validations: rules as readonly ValidationRule[] };
  const environments = { rule: storedEnvironment, message: storedEnvironment };
  const problems = [
    ...rules.flatMap((rule) => textProblems(root, rule)),
    ...definedRuleErrors(root, '', {
      environments,
      spell: () => 'rules',
      isSound: () => true,
      limitsCost: false,
      limitsTotal: false,
    }).map((error) => printFieldError(error).replace(/^\./, '').replace(SERVER_DUMP, '')),
  ];
  if (problems.length > 0) throw new TypeError(`orchplane: ${name}: ${problems.join('; ')}`);
  const compiled = compileRules(root, true, environments);
  if (compiled === undefined) return () => ({ errors: [], warnings: [] });
  return (next, live) =>
    ruleErrors(compiled, next, live === undefined ? Before.NOTHING : Before.ofUpdate(root, next, live));
}

/** The schema that the kind has as a definition, so that a rule means the same in both. Dates are texts in zod. */
function schemaOf(body: z.ZodObject): SchemaView {
  const about = { dialect: kubernetesDialect, report: () => undefined, datesAreTexts: true };
  return schemaView(schemaFromZod(body, about), kubernetesDialect);
}

/** The server shows the whole rule in its own form; here it stands in the program. */
const SERVER_DUMP = /Invalid value: apiextensions\.ValidationRule\{[\s\S]*?OptionalOldSelf:\(\*bool\)\([^)]*\)\}: /;

function textProblems(root: SchemaView, { rule, fieldPath = '' }: ValidationRuleInput): string[] {
  if (rule.trim() === '') return ['a rule without text'];
  if (fieldPath === '' || typeof findField(root, fieldPath, { brackets: true }) !== 'string') return [];
  return [`fieldPath ${fieldPath} of rule ${rule} leads nowhere`];
}
