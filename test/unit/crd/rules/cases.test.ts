/**
 * Validation rules compared with the reference server: for each case the errors of the CRD, the costs of its rules, and
 * the results for an object.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { newExpressionsEnvironment } from '../../../../src/cel/library/environments.js';
import { versionSchemaErrors } from '../../../../src/crd/definition/validate-schema.js';
import { compileNodeRules, compileRules } from '../../../../src/crd/rules/compile.js';
import { declTypeOf, maxCardinalityInRequest } from '../../../../src/crd/rules/decl-type.js';
import { evaluateRules } from '../../../../src/crd/rules/evaluate.js';
import { OldValueContext } from '../../../../src/crd/rules/old-value-context.js';
import { PreexistingExpressions } from '../../../../src/crd/rules/preexisting-expressions.js';
import { additionalSchema, type StructuralSchema, structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { kubernetesDialect as dialect } from '../../../../src/meta/dialect.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';
import { parseJson } from '../../../../src/text/json/parse-json.js';

interface Case {
  readonly schema: JSONSchemaProps;
  /** The old schema, for an update of the CRD. */
  readonly before?: JSONSchemaProps;
  readonly object?: unknown;
  readonly old?: unknown;
  readonly budget?: number;
  readonly want: {
    readonly definition?: readonly string[];
    readonly errors?: readonly string[];
    readonly warnings?: readonly string[];
    /** The remaining budget. */
    readonly left?: number;
    /** By node and place: cost of the rule, times in a request, cost of the message. */
    readonly costs: Readonly<Record<string, string>>;
  };
}

describe.each(['definition-cases.jsonl', 'object-cases.jsonl', 'random-cases.jsonl'])('%s', (file) => {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  const cases = lines.map((line) => parseJson(line).value as Case);

  test.each(cases.map((given, index) => [index + 1, given] as const))(
    'matches the result of the reference server in line %i',
    (_, given) => {
      const { want } = given;
      const view = structuralSchemaOf(given.schema, dialect);
      expect(definitionErrors(given)).toEqual(want.definition ?? []);
      expect(costsOf(view)).toEqual(want.costs);
      if (given.object === undefined) return;
      const result = evaluate(view, given);
      expect(shortened(result.errors.map(printFieldError))).toEqual(want.errors ?? []);
      expect(shortened(result.warnings)).toEqual(want.warnings ?? []);
      expect(result.remainingBudget).toBe(want.left ?? 0);
    },
  );
});

function definitionErrors({ schema, before }: Case): string[] {
  const version = (openAPIV3Schema: JSONSchemaProps) => ({ name: 'v1', schema: { openAPIV3Schema } });
  const preexisting = new PreexistingExpressions(before === undefined ? [] : [version(before)], dialect);
  const isUnchanged = preexisting.isUnchanged(version(schema));
  const context = { dialect, hasStatus: false, preexisting, isUnchanged };
  return shortened(versionSchemaErrors({ openAPIV3Schema: schema }, 'spec.validation', context).map(printFieldError));
}

function evaluate(view: StructuralSchema, { object, old, budget }: Case) {
  const rules = compileRules(view, true);
  if (rules === undefined) return { errors: [], warnings: [], remainingBudget: 0 };
  const before = old === undefined ? OldValueContext.NONE : OldValueContext.forUpdate(view, object, old);
  return evaluateRules(rules, object, before, budget === undefined ? {} : { budget });
}

function costsOf(root: StructuralSchema): Record<string, string> {
  const costs: Record<string, string> = {};
  const environments = { rule: newExpressionsEnvironment, message: newExpressionsEnvironment };
  const visit = (schema: StructuralSchema, isRoot: boolean, path: string): void => {
    const shape = declTypeOf(schema, isRoot);
    for (const [index, rule] of shape === undefined ? [] : compileNodeRules(schema, shape, environments).entries()) {
      if (rule.error !== undefined || shape === undefined) continue;
      // Numbers beyond the precision of a double are rounded.
      const numbers = [rule.maxCost, maxCardinalityInRequest(shape), rule.messageMaxCost];
      costs[`${path}#${index}`] = numbers.join(' ');
    }
    const inside = (inner: StructuralSchema | undefined, step: string) => {
      if (inner !== undefined) visit(inner, inner.embeddedResource, `${path}/${step}`);
    };
    inside(schema.items, '@items');
    inside(additionalSchema(schema), '@values');
    for (const [name, property] of schema.properties) inside(property, name);
  };
  visit(root, true, '');
  return costs;
}

const HINT =
  'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

/** Sorts messages, because the reference server visits fields in random order, and shortens a frequent hint. */
function shortened(texts: readonly string[]): string[] {
  return texts.map((text) => text.replaceAll(HINT, '...')).sort();
}
