/** The value libraries, compared with the reference server. */
import { describe, expect, test } from 'vitest';
import { compile, plan } from '../../../src/cel/index.js';
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '../../../src/cel/library/environments.js';
import { STRING } from '../../../src/cel/types.js';
import { CelCostLimitError, type CelValue } from '../../../src/cel/values.js';
import { readCases } from './check-fixtures.js';
import { resultOf, type ValueCase } from './values-fixtures.js';

describe('value libraries', () => {
  const cases = readCases<ValueCase>('./values-cases.jsonl');

  test.each(['issues', 'error', 'value'])(
    'returns the results of the reference server for cases with result %s',
    (kind) => {
      const own = cases.filter(([, , what]) => what === kind);
      expect(own.length).toBeGreaterThan(10);
      expect(own.map(resultOf)).toEqual(own);
    },
  );
});

describe('API server environments', () => {
  test('creates API server environments once', () => {
    expect(newExpressionsEnvironment()).toBe(newExpressionsEnvironment());
    expect(storedExpressionsEnvironment()).toBe(storedExpressionsEnvironment());
  });

  test('provides semantic versions only for stored expressions', () => {
    expect(compile('isSemver("1.2.3")', newExpressionsEnvironment())).toMatchObject({
      text: expect.stringContaining("undeclared reference to 'isSemver'"),
    });
    expect(compile('isSemver("1.2.3")', storedExpressionsEnvironment()).issues).toBeUndefined();
  });

  test('does not provide jsonpatch.escapeKey in API server environments', () => {
    expect(compile('jsonpatch.escapeKey("a")', storedExpressionsEnvironment())).toMatchObject({
      text: expect.stringContaining('undeclared reference'),
    });
  });
});

describe('quantities at the 64-bit limits', () => {
  test.each([
    // The smallest number is its own negation in 64 bits.
    ['string(quantity("1").sub(-9223372036854775808).asInteger())', '-9223372036854775807'],
    ['string(quantity("-9e18").add(-223372036854775808).asInteger())', '-9223372036854775808'],
    ['string(quantity("-1").sub(-9223372036854775808).isInteger())', 'false'],
    ['string(quantity("-1").sub(-9223372036854775808).compareTo(quantity("9223372036854775807")))', '0'],
  ])('evaluates %s', (expression, text) => {
    const environment = newExpressionsEnvironment();
    const { checked } = compile(expression, environment);
    expect(checked && plan(checked, environment).evaluate(new Map()).value).toBe(text);
  });
});

describe('work that the cost model does not count', () => {
  const environment = newExpressionsEnvironment().extend({ variables: { s: STRING } });
  const evaluate = (expression: string, s: CelValue) => {
    const { checked } = compile(expression, environment);
    if (checked === undefined) throw new Error(`${expression} does not compile`);
    return plan(checked, environment).evaluate(new Map([['s', s]]), { costLimit: 10_000_000 });
  };

  test('stops an evaluation that parses a number with a million digits', () => {
    expect(evaluate('quantity(s).isInteger()', '1'.repeat(1_000_000)).error).toBeInstanceOf(CelCostLimitError);
  });

  test('stops an evaluation that adds long numbers', () => {
    const chain = Array.from({ length: 200 }, () => '.add(quantity(s))').join('');
    const many = `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(i, quantity(s)${chain}.isInteger())`;
    expect(evaluate(many, '1e9999').error).toBeInstanceOf(CelCostLimitError);
    expect(evaluate(many, '100').error).toBeUndefined();
  });

  test.each([
    ['a host', 'isURL(s)', `http://${'a'.repeat(1_000_000)}`],
    ['a port', 'isURL(s)', `http://a:${'é'.repeat(100_000)}`],
    ['escapes', 'url(s).getEscapedPath().size() > 0', `/${'%41'.repeat(300_000)}`],
    ['parameters', 'url(s).getQuery().size() == 0', `/?${'a&'.repeat(500_000)}`],
    ['dots', 'isIP(s)', '.'.repeat(1_000_000)],
    ['colons', 'isCIDR(s)', ':'.repeat(1_000_000)],
    ['a name', 'format.qualifiedName().validate(s).hasValue()', 'a/'.repeat(500)],
  ])('validates a hostile text in linear time: %s', (_, expression, text) => {
    expect(typeof evaluate(expression, text).value).toBe('boolean');
  });

  test('computes the parts of a URL once', () => {
    const url = `/?${'a=b&'.repeat(5000)}`;
    const { value } = evaluate('[url(s)].map(u, [1, 2, 3].all(i, u.getQuery().size() == 1))[0]', url);
    expect(value).toBe(true);
  });
});
