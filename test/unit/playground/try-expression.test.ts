/**
 * The CEL expression tester of the playground.
 */
import { describe, expect, test } from 'vitest';
import { tryExpression } from '../../../examples/playground/src/cel/try-expression.js';

test.each([
  ['self.a + 1', 'self: { a: 2 }', '3', 'int'],
  ['self.a > 1', 'self: { a: 2 }', 'true', 'bool'],
  ['1.0', '', '1.0', 'double'],
  ['2u', '', '2u', 'uint'],
  ['\'a\' + "b"', '', '"ab"', 'string'],
  ['self.map(x, [x])', 'self: [1, a, null]', '[[1], ["a"], [null]]', 'list'],
  ["{'a': object.b}", 'object: { b: true }', '{"a": true}', 'map'],
  ["b'a'", '', 'b"\\x61"', 'bytes'],
  ["timestamp('2030-01-01T00:00:00Z')", '', 'timestamp("2030-01-01T00:00:00.000Z")', 'timestamp'],
  ["duration('90s')", '', 'duration("90s")', 'duration'],
  ['object.?a', 'object: {}', 'optional.none()', 'optional_type'],
  ['object.?a', 'object: { a: 1 }', 'optional.of(1)', 'optional_type'],
  ['type(1)', '', 'int', 'type'],
  ['params == null', 'params: null', 'true', 'bool'],
])('evaluates %s', (expression, variables, text, type) => {
  expect(tryExpression(expression, variables)).toMatchObject({ state: 'value', text, type });
});

describe('errors of the expression tester', () => {
  test('reports the position of a syntax error', () => {
    const tried = tryExpression('self.a >\n  * 2', 'self: { a: 1 }');
    expect(tried).toMatchObject({ state: 'issues', issues: [{ line: 2, column: 3 }] });
    expect(tried.state === 'issues' && tried.text).toMatch(/^ERROR: <input>:2:3: Syntax error/);
    expect(tryExpression('other.a', 'self: 1')).toMatchObject({
      state: 'issues',
      issues: [{ message: "undeclared reference to 'other' (in container '')", line: 1, column: 1 }],
    });
  });

  test('reports a runtime error', () => {
    expect(tryExpression('self.b', 'self: { a: 1 }')).toMatchObject({ state: 'failed', message: 'no such key: b' });
    expect(tryExpression('self.a / 0', 'self: { a: 1 }')).toMatchObject({
      state: 'failed',
      message: 'division by zero',
    });
    const many = `self: [${Array.from({ length: 300 }, (_, index) => index).join(', ')}]`;
    expect(tryExpression('self.all(a, self.all(b, self.all(c, a + b + c >= 0)))', many)).toMatchObject({
      state: 'failed',
    });
  });

  test('reports invalid variables', () => {
    expect(tryExpression('1', 'a: [')).toMatchObject({ state: 'unread', message: expect.stringMatching(/line 1/) });
    expect(tryExpression('1', '- a')).toMatchObject({ state: 'unread' });
    expect(tryExpression('1', 'a b: 1')).toMatchObject({
      state: 'unread',
      message: '"a b" cannot be the name of a variable',
    });
  });
});

test('reports the cost of an expression', () => {
  const cost = (expression: string) => {
    const tried = tryExpression(expression, 'self: [1, 2, 3]');
    return tried.state === 'value' ? tried.cost : -1;
  };
  expect(cost('1')).toBe(0);
  expect(cost('self.all(x, x > 0)')).toBeGreaterThan(cost('self[0] > 0'));
});
