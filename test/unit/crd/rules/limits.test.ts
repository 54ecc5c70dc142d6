/** Cost limits of validation rules at runtime, and limits of their messages. */
import { describe, expect, test } from 'vitest';
import { compileStoredRules } from '../../../../src/crd/custom-kinds.js';
import { evaluateRules } from '../../../../src/crd/rules/evaluate.js';
import { RatchetingContext } from '../../../../src/crd/rules/ratcheting.js';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';
import { invariant } from '../../../../src/util/invariant.js';

function judge(properties: Record<string, JSONSchemaProps>, rules: object[], object: unknown, budget?: number) {
  const rootSchema: JSONSchemaProps = { type: 'object', properties, 'x-orch-validations': rules };
  const root = compileStoredRules(structuralSchemaOf(rootSchema, orchDialect));
  invariant(root !== undefined, 'there are rules');
  const result = evaluateRules(root, object, RatchetingContext.NONE, budget === undefined ? {} : { budget });
  return { errors: result.errors.map(printFieldError), left: result.budgetLeft };
}

const NUMBERS: JSONSchemaProps = { type: 'array', items: { type: 'integer' } };
const EVERY_PAIR = 'self.l.all(x, self.l.all(y, x + y >= 0))';
const many = (count: number) => Array.from({ length: count }, (_, index) => index);

test('a rule that exceeds the cost limit fails the request', () => {
  const { errors, left } = judge({ l: NUMBERS }, [{ rule: EVERY_PAIR }, { rule: 'false' }], { l: many(800) });
  expect(errors).toEqual([
    `<nil>: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: ${EVERY_PAIR}`,
  ]);
  expect(left).toBe(-1);
});

test('rules that exceed the budget together fail the request', () => {
  const rules = many(40).map((index) => ({ rule: `${EVERY_PAIR} || ${index} > 0` }));
  const { errors, left } = judge({ l: NUMBERS }, rules, { l: many(300) });
  expect(errors).toEqual([
    '<nil>: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
  ]);
  expect(left).toBe(-1);
});

describe('messages', () => {
  const failing = (messageExpression: string, more: object = {}) => [{ rule: 'false', messageExpression, ...more }];

  test('a messageExpression that exceeds the cost limit fails the request', () => {
    const message = `${EVERY_PAIR} ? 'a' : 'b'`;
    const { errors } = judge({ l: NUMBERS }, [...failing(message), { rule: '1 == 2' }], { l: many(800) });
    expect(errors).toEqual([
      `<nil>: Invalid value: "object": no further validation rules will be run due to call cost exceeds limit for messageExpression: "${message}"`,
    ]);
  });

  test('a messageExpression that exceeds the remaining budget is reported', () => {
    const { errors } = judge({ l: NUMBERS }, failing(`${EVERY_PAIR} ? 'a' : 'b'`), { l: many(100) }, 1000);
    expect(errors).toEqual([
      '<nil>: Invalid value: "object": messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });

  test.each([
    ['of 5120 bytes is used', `'${'y'.repeat(5120)}'`, 'y'.repeat(5120)],
    ['of 5121 bytes is not', `'${'y'.repeat(5121)}'`, 'given'],
    ['is measured in bytes', `'${'ü'.repeat(2561)}'`, 'given'],
    ['is trimmed', "'  x '", 'x'],
    ['of two lines is not used', "'a\\nb'", 'given'],
    ['that fails is not used', 'string(self.l[5])', 'given'],
  ])('one %s', (_, messageExpression, text) => {
    const { errors } = judge({ l: NUMBERS }, failing(messageExpression, { message: 'given' }), { l: [] });
    expect(errors).toEqual([`<nil>: Invalid value: "object": ${text}`]);
  });
});
