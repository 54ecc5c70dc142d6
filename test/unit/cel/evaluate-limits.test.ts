/** Expressions that try to take more time or memory than they pay for. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/cel/engine.js';
import { compile, jsonValue, plan } from '../../../src/cel/index.js';
import { CelBudgetError, CelError, type CelValue } from '../../../src/cel/values.js';
import { environment, variables } from './evaluate-world.js';

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

describe('given up', () => {
  test.each([
    ['loops in loops', 'li.all(x, li.all(y, li.all(z, x + y + z >= 0)))'],
    [
      'a text that doubles',
      bound(
        40,
        's + s',
        (a) => `${a} + ${a}`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'a text of unknown type that doubles',
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
      'a text replaced by more of itself',
      bound(
        20,
        "'aaaaaaaaaa'",
        (a) => `${a}.replace('a', 'aaaaaaaaaa')`,
        (a) => `size(${a}) > 0`,
      ),
    ],
    [
      'lists that share their parts, compared',
      bound(
        60,
        'dyn([i, i])',
        (a) => `dyn([${a}, ${a}])`,
        (a) => `${a} == dyn([[${a}], [${a}]]) || ${a} == ${a} + dyn([])`,
      ),
    ],
    [
      'maps that share their parts, compared',
      bound(
        60,
        "dyn({'x': i})",
        (a) => `dyn({'x': ${a}, 'y': ${a}})`,
        (a) => `[${a}] == [dyn({'x': a59, 'y': a59})]`,
      ),
    ],
    ['looking for something in a list of unknown type', 'li.all(x, !(dyn(-1) in dl))'],
    ['the size of ever new texts', 'li.all(x, size(ds + dyn(string(x))) > 0)'],
    ['a regular expression that is not counted', "matches(s, '(x?y?){500}z|x.{900}y')"],
    ['one that is not counted, again and again', "li.all(x, !matches(s, '(a|b|c|d)*xxxxxz'))"],
    ['a long text that is no duration', 'duration(s) > dur'],
    ['a long text that is no time', 'timestamp(s) > ts'],
    ['time zones', "li.all(x, ts.getHours('America/New_York') >= 0)"],
  ])('%s', (_what, expression) => {
    const { error } = run(expression);
    expect(error).toBeInstanceOf(CelBudgetError);
    expect(error?.message).toBe(CANCELLED);
  });

  test('nothing in an expression catches it', () => {
    expect(run('li.all(x, li.all(y, x + y >= 0)) || true').error).toBeInstanceOf(CelBudgetError);
    expect(run('li.exists(x, li.exists(y, x + y < 0)) || b', 100)).toMatchObject({ cost: 101 });
  });

  test('the limit itself is not too much', () => {
    const cost = run('li.all(x, x >= 0)').cost;
    expect(run('li.all(x, x >= 0)', cost)).toMatchObject({ value: true, cost });
    expect(run('li.all(x, x >= 0)', cost - 1).error).toBeInstanceOf(CelBudgetError);
  });
});

describe('carried through', () => {
  test.each([
    ['a long list, mapped and filtered', 'size(li.map(x, x).filter(x, true)) == 20000'],
    ['a long list, gathered', 'size(li.map(x, [x]).map(y, y + y)) == 20000'],
    ['a map of many entries', 'size(li.transformMap(k, v, v + 1)) == 20000'],
    ['items that all fail', "li.exists(x, int('z' + string(x)) == 1) || true"],
    ['the same long text in every round', 'li.filter(x, x < 100).all(x, size(s) > 0)'],
    ['a linear regular expression', "!s.matches('(x+x+)+y')"],
    ['one that is not counted', "!matches(s, '(a|b|c|d)*xxxxxz')"],
    ['lists in lists', `${'['.repeat(240)}${']'.repeat(240)} == ${'['.repeat(240)}${']'.repeat(240)}`],
    ['a long sum', `${Array.from({ length: 240 }, () => 'i').join(' + ')} == 1200`],
    ['a long conjunction', Array.from({ length: 5000 }, () => 'b').join(' && ')],
  ])('%s', (_what, expression) => {
    expect(run(expression)).toMatchObject({ value: true });
  });

  test('comprehensions in comprehensions', () => {
    let expression = 'i';
    for (let depth = 0; depth < 100; depth++) expression = `[i].map(x${depth}, ${expression})`;
    expect(run(expression).error).toBeUndefined();
  });
});

test('values nested too deeply to be compared are a failure, not a crash', () => {
  expect(run('dy == md').error).toBeInstanceOf(CelError);
});
