/** Cost limits of validation rules at runtime, and limits of their messages. */
import { describe, expect, test } from 'vitest';
import { compileRules } from '../../../../src/crd/rules/compile.js';
import { evaluateRules } from '../../../../src/crd/rules/evaluate.js';
import { OldValueContext } from '../../../../src/crd/rules/old-value-context.js';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';
import { invariant } from '../../../../src/util/invariant.js';

function evaluate(properties: Record<string, JSONSchemaProps>, rules: object[], object: unknown, budget?: number) {
  const rootSchema: JSONSchemaProps = { type: 'object', properties, 'x-orch-validations': rules };
  const root = compileRules(structuralSchemaOf(rootSchema, orchDialect), true);
  invariant(root !== undefined, 'there are rules');
  const result = evaluateRules(root, object, OldValueContext.NONE, budget === undefined ? {} : { budget });
  return { errors: result.errors.map(printFieldError), left: result.remainingBudget };
}

const NUMBERS: JSONSchemaProps = { type: 'array', items: { type: 'integer' } };
const EVERY_PAIR = 'self.l.all(x, self.l.all(y, x + y >= 0))';
const many = (count: number) => Array.from({ length: count }, (_, index) => index);

test('fails the request if a rule exceeds the cost limit', () => {
  const { errors, left } = evaluate({ l: NUMBERS }, [{ rule: EVERY_PAIR }, { rule: 'false' }], { l: many(800) });
  expect(errors).toEqual([
    `<nil>: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${EVERY_PAIR}`,
  ]);
  expect(left).toBe(-1);
});

test('fails the request if all rules together exceed the budget', () => {
  const rules = many(40).map((index) => ({ rule: `${EVERY_PAIR} || ${index} > 0` }));
  const { errors, left } = evaluate({ l: NUMBERS }, rules, { l: many(300) });
  expect(errors).toEqual([
    '<nil>: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
  expect(left).toBe(-1);
});

describe('messages', () => {
  const failing = (messageExpression: string, more: object = {}) => [{ rule: 'false', messageExpression, ...more }];

  test('fails the request if a messageExpression exceeds the cost limit', () => {
    const message = `${EVERY_PAIR} ? 'a' : 'b'`;
    const { errors } = evaluate({ l: NUMBERS }, [...failing(message), { rule: '1 == 2' }], { l: many(800) });
    expect(errors).toEqual([
      `<nil>: Invalid value: "object": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${message}"`,
    ]);
  });

  test('reports a messageExpression that exceeds the remaining budget', () => {
    const { errors } = evaluate({ l: NUMBERS }, failing(`${EVERY_PAIR} ? 'a' : 'b'`), { l: many(100) }, 1000);
    expect(errors).toEqual([
      '<nil>: Invalid value: "object": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  test.each([
    ['uses a messageExpression result of 5120 bytes', `'${'y'.repeat(5120)}'`, 'y'.repeat(5120)],
    ['ignores a messageExpression result of 5121 bytes', `'${'y'.repeat(5121)}'`, 'given'],
    ['measures a messageExpression result in bytes', `'${'ü'.repeat(2561)}'`, 'given'],
    ['trims a messageExpression result', "'  x '", 'x'],
    ['ignores a messageExpression result of two lines', "'a\\nb'", 'given'],
    ['ignores a messageExpression that fails', 'string(self.l[5])', 'given'],
  ])('%s', (_, messageExpression, text) => {
    const { errors } = evaluate({ l: NUMBERS }, failing(messageExpression, { message: 'given' }), { l: [] });
    expect(errors).toEqual([`<nil>: Invalid value: "object": ${text}`]);
  });
});
