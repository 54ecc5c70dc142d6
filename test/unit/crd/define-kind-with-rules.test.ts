/** Validation rules of kinds that are defined in TypeScript. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { compileKindRules } from '../../../src/crd/define-kind-with-rules.js';
import { printFieldError } from '../../../src/meta/field-error.js';
import type { ApiObject } from '../../../src/meta/object.js';

const body = {
  spec: z.object({
    min: z.int(),
    max: z.int().optional(),
    ratio: z.number().optional(),
    names: z.array(z.string()).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    free: z.unknown(),
  }),
};

const widget = (spec: object, name = 'a') =>
  ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec }) as unknown as ApiObject;

const texts = (rules: Parameters<typeof compileKindRules>[2], next: ApiObject, live?: ApiObject) =>
  compileKindRules('Widget', body, rules)(next, live).errors.map(printFieldError);

describe('compileKindRules', () => {
  test('evaluates a rule on the body with the types of the zod schema', () => {
    const rules = [
      { rule: 'self.spec.min <= self.spec.max', message: 'min is at most max', fieldPath: '.spec.min' },
      { rule: 'self.spec.ratio < 1.0' },
      { rule: "self.spec.names.all(n, n.startsWith('x')) && self.spec.labels.k == 'v'" },
    ];
    expect(texts(rules, widget({ min: 1, max: 2, ratio: 0, names: ['x1'], labels: { k: 'v' } }))).toEqual([]);
    expect(texts(rules, widget({ min: 3, max: 2, ratio: 1, names: ['y'], labels: {} }))).toEqual([
      'spec.min: Invalid value: "object": min is at most max',
      '<nil>: Invalid value: "object": failed rule: self.spec.ratio < 1.0',
      `<nil>: Invalid value: "object": failed rule: ${rules[2]?.rule}`,
    ]);
  });

  test('exposes only the names of the metadata to rules', () => {
    expect(texts([{ rule: "self.metadata.name == 'a'" }], widget({ min: 1 }, 'b'))).toHaveLength(1);
    expect(() => compileKindRules('Widget', body, [{ rule: 'has(self.metadata.labels)' }])).toThrow(
      "undefined field 'labels'",
    );
  });

  test('evaluates a transition rule on updates only', () => {
    const rules = [
      { rule: 'self.spec.min >= oldSelf.spec.min', reason: 'FieldValueForbidden' as const, message: 'no' },
    ];
    expect(texts(rules, widget({ min: 1 }))).toEqual([]);
    expect(texts(rules, widget({ min: 1 }), widget({ min: 2 }))).toEqual(['<nil>: Forbidden: no']);
  });

  test.each([
    [{ rule: 'self.spec.nope == 1' }, 'orchplane: Widget: rules[0].rule: compilation failed'],
    [{ rule: 'self.spec.min' }, 'cel expression must evaluate to a bool'],
    [{ rule: 'true', messageExpression: '1' }, 'messageExpression must evaluate to a string'],
    [{ rule: 'true', fieldPath: '.nope' }, 'fieldPath .nope of rule true is not a field of the schema'],
    [{ rule: ' ' }, 'a rule is empty'],
    [{ rule: 'self.spec.free == 1' }, "undefined field 'free'"],
  ])('rejects the invalid rule %j when the kind is defined', (rule, message) => {
    expect(() => compileKindRules('Widget', body, [rule])).toThrow(message);
  });
});
