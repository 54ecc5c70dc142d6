/** The language libraries, compared with cel-go. */
import { describe, expect, test } from 'vitest';
import { compile, createEnvironment, EntryMap, plan } from '../../../src/cel/index.js';
import { BIND } from '../../../src/cel/library/bind.js';
import { LANGUAGE_LIBRARIES, VALUE_LIBRARIES } from '../../../src/cel/library/environments.js';
import { GrowingMap } from '../../../src/cel/library/two-variables.js';
import { CelCostLimitError, CelError, CelUint } from '../../../src/cel/values.js';
import { readCases } from './check-fixtures.js';
import { show } from './library-fixtures.js';

const environment = createEnvironment({ libraries: [...LANGUAGE_LIBRARIES, ...VALUE_LIBRARIES, BIND] });

type LibraryCase =
  | readonly [expression: string, kind: 'issues', messages: readonly string[]]
  /** The expression compiles, but has no program. */
  | readonly [expression: string, kind: 'program', message: string]
  | readonly [expression: string, kind: 'value' | 'error', text: string, cost: number];

function result(expression: string): LibraryCase {
  const compiled = compile(expression, environment);
  if (compiled.checked === undefined) {
    const messages = compiled.text.split('\n').flatMap((line) => /^ERROR: <input>:(.*)$/.exec(line)?.[1] ?? []);
    return [expression, 'issues', messages];
  }
  try {
    const outcome = plan(compiled.checked, environment).evaluate(new Map());
    if (outcome.error !== undefined) return [expression, 'error', outcome.error.message, outcome.cost];
    return [expression, 'value', show(outcome.value), outcome.cost];
  } catch (error) {
    if (error instanceof CelError) return [expression, 'program', error.message];
    throw error;
  }
}

describe('language libraries', () => {
  const cases = readCases<LibraryCase>('./library-cases.jsonl');

  test.each(['issues', 'program', 'value', 'error'])(
    'returns the results of cel-go for cases with result %s',
    (kind) => {
      const own = cases.filter(([, what]) => what === kind);
      expect(own.length).toBeGreaterThan(5);
      expect(own.map(([expression]) => result(expression))).toEqual(own);
    },
  );
});

describe('formatting of numbers', () => {
  test.each([
    ["'%e'.format([1234.5])", '1.234500×10⁰³'],
    ["'%f'.format([1234567.891])", '1,234,567.891000'],
    ["'%.0f %.0f %.0f'.format([0.5, 1.5, 2.5])", '0 2 2'],
    ["'%.2f'.format([-0.001])", '-0.00'],
    ["'%.300f'.format([1.5])", `1.5${'0'.repeat(43)}`],
    // The precision is interpreted as a width.
    ["'%.20e'.format([1e300])", '      1.000000×10³⁰⁰'],
    ["'%s'.format([1e6])", '1e+06'],
    ["'%s'.format([[1.0]])", '[1.000000]'],
  ])('evaluates %s', (expression, text) => {
    expect(result(expression)).toMatchObject([expression, 'value', JSON.stringify(text), expect.any(Number)]);
  });
});

test('limits the width in format like cel-go', () => {
  expect(result("'%.10000009e'.format([1.5]).size()")).toMatchObject({ 2: String(10_000_009 % 65_536) });
  expect(result("'%.10000010e'.format([1.5])")).toMatchObject({ 2: '"%!(NOVERB)"' });
});

test('stops an evaluation that repeatedly searches a long string', () => {
  const variables = environment.extend({ variables: { text: { kind: 'string' } } });
  const long = compile("text.findAll('(?:a|ba)*c|a').size() > 0", variables);
  if (long.checked === undefined) expect.fail(long.text);
  const outcome = plan(long.checked, variables).evaluate(new Map([['text', 'a'.repeat(200_000)]]));
  expect(outcome.error).toBeInstanceOf(CelCostLimitError);
});

describe('GrowingMap', () => {
  const start = GrowingMap.from(new EntryMap([]));

  test('does not change a map by adding an entry', () => {
    const one = start.with('a', 1n);
    const two = one.with('b', 2n);
    const other = one.with('c', 3n);
    expect([one, two, other].map(show)).toEqual(['{"a": 1}', '{"a": 1, "b": 2}', '{"a": 1, "c": 3}']);
    expect(one.get('b')).toBeUndefined();
    expect(two.get('c')).toBeUndefined();
  });

  test('finds equal whole numbers of all types under one key', () => {
    const map = start.with(1n, 'int').with(new CelUint(2n), 'uint');
    expect([map.get(new CelUint(1n)), map.get(1), map.get(2n), map.get(1.5)]).toEqual([
      'int',
      'int',
      'uint',
      undefined,
    ]);
  });
});
