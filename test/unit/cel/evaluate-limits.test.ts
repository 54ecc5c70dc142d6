/** Expressions that try to use more time or memory than they pay for. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/cel/engine.js';
import { compile, jsonValue, plan } from '../../../src/cel/index.js';
import { CelCostLimitError, CelError, type CelValue } from '../../../src/cel/values.js';
import { environment, variables } from './evaluate-fixtures.js';

const CANCELLED = 'operation cancelled: actual cost limit exceeded';
const text = 'x'.repeat(1_000_000);
const numbers = Array.from({ length: 20_000 }, (_, index) => index);
let deep: unknown = 1;
for (let depth = 0; depth < 20_000; depth++) deep = { x: deep };

const large: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ...variables,
  ['s', text],
  ['ds', text],
  ['li', jsonValue(numbers)],
  ['dl', jsonValue(numbers)],
  ['dy', jsonValue(deep)],
  ['md', jsonValue(deep)],
]);

function run(expression: string, costLimit = 1_000_000): Outcome {
  const { checked, issues } = compile(expression, environment);
  if (checked === undefined) throw new Error(issues[0]?.message);
  return plan(checked, environment).evaluate(large, { costLimit });
}

/** `cel.bind(a1, first, cel.bind(a2, next(a1), …))`. */
function bound(
  count: number,
  first: string,
  next: (before: string) => string,
  result: (last: string) => string,
): string {
  let expression = result(`a${count}`);
  for (let at = count; at > 0; at--)
    expression = `cel.bind(a${at}, ${at === 1 ? first : next(`a${at - 1}`)}, ${expression})`;
  return expression;
}

describe('evaluation beyond the limits', () => {
  test.each([
    ['nested loops', 'li.all(x, li.all(y, li.all(z, x + y + z >= 0)))'],
    [
      'a string that doubles',
      bound(
        40,
        's + s',
        (a) => `${a} + ${a}`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'a dyn string that doubles',
      bound(
        40,
        'dyn(s) + ds',
        (a) => `${a} + ${a}`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'bytes that double',
      bound(
        30,
        'dyn(bytes(s))',
        (a) => `${a} + ${a}`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'a list that doubles',
      bound(
        40,
        'li + li',
        (a) => `${a} + ${a}`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'repeated replacement with longer text',
      bound(
        20,
        "'aaaaaaaaaa'",
        (a) => `${a}.replace('a', 'aaaaaaaaaa')`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'comparison of lists with shared parts',
      bound(
        60,
        'dyn([i, i])',
        (a) => `dyn([${a}, ${a}])`,
        (a) => `${a} == dyn([[${a}], [${a}]]) || ${a} == ${a} + dyn([])`,
      ),
    ],
    [
      'comparison of maps with shared parts',
      bound(
        60,
        "dyn({'x': i})",
        (a) => `dyn({'x': ${a}, 'y': ${a}})`,
        (a) => `[${a}] == [dyn({'x': a59, 'y': a59})]`,
      ),
    ],
    ['in with a dyn list', 'li.all(x, !(dyn(-1) in dl))'],
    ['the size of many different strings', 'li.all(x, size(ds + dyn(string(x))) > 0)'],
    ['an expensive global matches call', "matches(s, '(x?y?){500}z|x.{900}y')"],
    ['repeated global matches calls', "li.all(x, !matches(s, '(a|b|c|d)*xxxxxz'))"],
    ['a long invalid duration', 'duration(s) > dur'],
    ['a long invalid timestamp', 'timestamp(s) > ts'],
    ['repeated time zone lookups', "li.all(x, ts.getHours('America/New_York') >= 0)"],
  ])('stops the evaluation with a budget error: %s', (_what, expression) => {
    const { error } = run(expression);
    expect(error).toBeInstanceOf(CelCostLimitError);
    expect(error?.message).toBe(CANCELLED);
  });

  test('does not allow an expression to absorb a budget error', () => {
    expect(run('li.all(x, li.all(y, x + y >= 0)) || true').error).toBeInstanceOf(CelCostLimitError);
    expect(run('li.exists(x, li.exists(y, x + y < 0)) || b', 100)).toMatchObject({ cost: 101 });
  });

  test('allows a cost equal to the limit', () => {
    const cost = run('li.all(x, x >= 0)').cost;
    expect(run('li.all(x, x >= 0)', cost)).toMatchObject({ value: true, cost });
    expect(run('li.all(x, x >= 0)', cost - 1).error).toBeInstanceOf(CelCostLimitError);
  });
});

describe('evaluation within the limits', () => {
  test.each([
    ['a long list, mapped and filtered', 'size(li.map(x, x).filter(x, true)) == 20000'],
    ['a long list mapped to lists', 'size(li.map(x, [x]).map(y, y + y)) == 20000'],
    ['a map of many entries', 'size(li.transformMap(k, v, v + 1)) == 20000'],
    ['items that all fail', "li.exists(x, int('z' + string(x)) == 1) || true"],
    ['the size of the same long string in every iteration', 'li.filter(x, x < 100).all(x, size(s) > 0)'],
    ['a linear regular expression', "!s.matches('(x+x+)+y')"],
    ['a global matches call', "!matches(s, '(a|b|c|d)*xxxxxz')"],
    ['nested lists', `${'['.repeat(240)}${']'.repeat(240)} == ${'['.repeat(240)}${']'.repeat(240)}`],
    ['a long sum', `${Array.from({ length: 240 }, () => 'i').join(' + ')} == 1200`],
    ['a long conjunction', Array.from({ length: 5000 }, () => 'b').join(' && ')],
  ])('completes the evaluation: %s', (_what, expression) => {
    expect(run(expression)).toMatchObject({ value: true });
  });

  test('evaluates nested comprehensions', () => {
    let expression = 'i';
    for (let depth = 0; depth < 100; depth++) expression = `[i].map(x${depth}, ${expression})`;
    expect(run(expression).error).toBeUndefined();
  });
});

test('fails to compare values that are nested too deeply', () => {
  expect(run('dy == md').error).toBeInstanceOf(CelError);
});
