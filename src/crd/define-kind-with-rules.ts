/**
 * `defineKind` with CEL validation rules: the function that `orchplane` exports. The rules are evaluated like those of
 * a CRD: the zod body is converted to the schema that a CRD would have, with the rules at its root.
 */
import type { BaseOf, BodyDraft, BodyInput, BodyOutput, KindDefinition } from '../kinds/define-kind.js';
import { defineWith } from '../kinds/define-kind.js';
import type { Kind, Scope } from '../kinds/kind.js';
import { kubernetesDialect } from '../meta/dialect.js';
import { type FieldError, printFieldError } from '../meta/field-error.js';
import type { ApiObject, InputBase } from '../meta/object.js';
import type { SchemaKeywords, ZodShape } from '../schema/hints.js';
import type { ValidationRule, ValidationRuleInput } from '../schema/json-schema.js';
import { isRecord } from '../util/json.js';
import { once } from '../util/once.js';
import { findField } from './definition/field-path.js';
import { RULE_REASONS } from './definition/validate-schema-nodes.js';
import { compileRules, STORED_ENVIRONMENTS } from './rules/compile.js';
import { evaluateRules } from './rules/evaluate.js';
import { OldValueContext } from './rules/old-value-context.js';
import { validateRules } from './rules/validate-rules.js';
import { type StructuralSchema, structuralSchemaOf } from './structural-schema.js';
import { embeddedResourceErrors } from './value/embedded-resources.js';
import { validateValue } from './value/validate.js';
import { schemaFromZod } from './zod/schema-from-zod.js';

/**
 * Defines a kind from zod schemas.
 *
 * @example
 * const Widget = defineKind({
 *   apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced',
 *   body: { spec: z.object({ min: z.number().int(), max: z.number().int() }) },
 *   rules: [{ rule: 'self.spec.min <= self.spec.max', message: 'min is at most max' }],
 * });
 */
export function defineKind<
  const Shape extends ZodShape,
  const ObjectScope extends Scope,
  const Subresource extends string = never,
  const Name extends string = string,
>(
  definition: KindDefinition<Shape, ObjectScope, Subresource, Name>,
): Kind<
  BaseOf<ObjectScope, Name> & BodyOutput<Shape>,
  InputBase & BodyInput<Shape>,
  ObjectScope,
  Subresource,
  BaseOf<ObjectScope, Name> & BodyDraft<BodyOutput<Shape>, BodyInput<Shape>>
> {
  return defineWith(definition, compileKindRules);
}

/** Validates an object against its old version, which is undefined on create. */
type KindRules = (
  next: ApiObject,
  live: ApiObject | undefined,
) => { readonly errors: readonly FieldError[]; readonly warnings: readonly string[] };

/**
 * Compiles the rules of a kind, and the keywords of its schemas. `body` is the object without the fields that every object
 * has. Throws a TypeError for an invalid rule, so that the error occurs where the kind is defined. Estimated costs are not
 * limited, because zod schemas rarely bound sizes; the cost of evaluations is limited as usual. Keywords are compiled when
 * the first object is written: most programs that import generated kinds use some of them.
 */
export function compileKindRules(
  name: string,
  body: ZodShape,
  rules: readonly ValidationRuleInput[],
  keywords?: SchemaKeywords,
): KindRules {
  if (rules.length > 0) checkRules(name, body, rules);
  const compiled = once(() => {
    const schema = crdSchemaOf(name, body, keywords);
    const root = { ...schema, validations: [...schema.validations, ...(rules as readonly ValidationRule[])] };
    return { root, rules: compileRules(root, true) };
  });
  return (next, live) => {
    const { root, rules: node } = compiled();
    const errors = keywords === undefined ? [] : schemaErrors(root, next, live);
    if (errors.length > 0 || node === undefined) return { errors, warnings: [] };
    const old = live === undefined ? OldValueContext.NONE : OldValueContext.forUpdate(root, next, live);
    return evaluateRules(node, next, old);
  };
}

/** Zod has validated the object; these are the errors of keywords. */
function schemaErrors(root: StructuralSchema, next: ApiObject, live: ApiObject | undefined): FieldError[] {
  return [...validateValue(root, next, live === undefined ? {} : { old: live }), ...embeddedResourceErrors(root, next)];
}

/** Throws a TypeError for an invalid rule. */
function checkRules(name: string, body: ZodShape, rules: readonly ValidationRuleInput[]): void {
  for (const given of rules as readonly unknown[]) {
    if (!isRecord(given) || typeof given['rule'] !== 'string') {
      throw new TypeError(`orchplane: ${name}: a rule has the form { rule: 'self.spec.a > 0' }`);
    }
    checkRuleKeys(name, given);
  }
  const root = { ...crdSchemaOf(name, body), validations: rules as readonly ValidationRule[] };
  const problems = [
    ...rules.flatMap((rule) => ruleProblems(root, rule)),
    ...validateRules(root, '', {
      environments: STORED_ENVIRONMENTS,
      extensionName: () => 'rules',
      isValidNode: () => true,
      limitsCostPerExpression: false,
      limitsTotalCost: false,
    }).map((error) => printFieldError(error).replace(/^\./, '').replace(RULE_GO_SYNTAX, '')),
  ];
  if (problems.length > 0) throw new TypeError(`orchplane: ${name}: ${problems.join('; ')}`);
}

const STRING_KEYS: readonly string[] = ['rule', 'message', 'messageExpression', 'reason', 'fieldPath'];

/** Rejects keys and reasons that a CRD would not accept. */
function checkRuleKeys(name: string, given: Readonly<Record<string, unknown>>): void {
  const refuse = (problem: string) => new TypeError(`orchplane: ${name}: rule ${given['rule']}: ${problem}`);
  for (const [key, value] of Object.entries(given)) {
    const type = STRING_KEYS.includes(key) ? 'string' : key === 'optionalOldSelf' ? 'boolean' : undefined;
    if (type === undefined)
      throw refuse(`unknown key ${key}; a rule has ${STRING_KEYS.join(', ')} and optionalOldSelf`);
    if (value !== undefined && typeof value !== type) throw refuse(`${key} must be a ${type}`);
  }
  const { reason } = given;
  if (reason !== undefined && !RULE_REASONS.includes(reason as string)) {
    throw refuse(`reason is one of ${RULE_REASONS.join(', ')}; got ${JSON.stringify(reason)}`);
  }
}

/** The schema that the kind would have as a CRD, so that a rule means the same in both. Dates are strings in zod. */
function crdSchemaOf(owner: string, body: ZodShape, keywords?: SchemaKeywords): StructuralSchema {
  const options = { owner, dialect: kubernetesDialect, report: () => undefined, datesAreTexts: true };
  return structuralSchemaOf(schemaFromZod(body, options, keywords), kubernetesDialect);
}

/** The server prints the whole rule as a Go struct, which is omitted here. */
const RULE_GO_SYNTAX = /Invalid value: apiextensions\.ValidationRule\{[\s\S]*?OptionalOldSelf:\(\*bool\)\([^)]*\)\}: /;

function ruleProblems(root: StructuralSchema, { rule, fieldPath = '' }: ValidationRuleInput): string[] {
  if (rule.trim() === '') return ['a rule is empty'];
  if (fieldPath === '' || typeof findField(root, fieldPath, { brackets: true }) !== 'string') return [];
  return [`fieldPath ${fieldPath} of rule ${rule} is not a field of the schema`];
}
