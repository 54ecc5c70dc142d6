/** Values, failures and costs of expressions, compared with cel-go with the API server's libraries and options. */
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/cel/engine.js';
import { compile, jsonValue, parse, plan, planParsed } from '../../../src/cel/index.js';
import { CelError, type CelValue } from '../../../src/cel/values.js';
import { readCases } from './check-fixtures.js';
import { environment, show, variables } from './evaluate-fixtures.js';

/**
 * `how`: `p` for an unchecked expression, and the cost limit. `!` marks a failure, `!!` an expression without a
 * program.
 */
type EvaluateCase = readonly [expression: string, how: string, outcome: string, cost: number];

function programOf(expression: string, isChecked = true) {
  if (!isChecked) {
    const parsed = parse(expression, environment.macros);
    if ('issues' in parsed) throw new Error(`${expression} does not parse`);
    return planParsed(parsed, environment);
  }
  const { checked, issues } = compile(expression, environment);
  if (checked === undefined) throw new Error(`${expression}: ${issues[0]?.message}`);
  return plan(checked, environment);
}

function run(expression: string, options?: { readonly costLimit: number }): Outcome {
  return programOf(expression).evaluate(variables, options);
}

describe('plan and evaluate', () => {
  const cases = readCases<EvaluateCase>('./evaluate-cases.jsonl');

  function result([expression, how]: EvaluateCase): EvaluateCase {
    const isChecked = !how.startsWith('p');
    const limit = Number(isChecked ? how : how.slice(1)) || 1_000_000;
    try {
      const { value, error, cost } = programOf(expression, isChecked).evaluate(variables, { costLimit: limit });
      return [expression, how, error === undefined ? show(value) : `!${error.message}`, cost];
    } catch (error) {
      if (error instanceof CelError) return [expression, how, `!!${error.message}`, 0];
      throw error;
    }
  }

  test('returns the values and costs of cel-go', () => {
    const own = cases.filter(([, , outcome]) => !outcome.startsWith('!'));
    expect(own.length).toBeGreaterThan(1000);
    expect(own.map(result)).toEqual(own);
  });

  test('returns the failures and costs of cel-go', () => {
    const own = cases.filter(([, , outcome]) => /^![^!]/.test(outcome));
    expect(own.length).toBeGreaterThan(400);
    expect(own.map(result)).toEqual(own);
  });

  test('rejects expressions for which cel-go cannot create a program', () => {
    const own = cases.filter(([, , outcome]) => outcome.startsWith('!!'));
    expect(own.length).toBeGreaterThan(20);
    expect(own.map(result)).toEqual(own);
  });
});

describe('variables of an evaluation', () => {
  test('calls a function value once and only if it is needed', () => {
    let calls = 0;
    const lazy = new Map<string, CelValue | (() => CelValue)>([
      ...variables,
      [
        'i',
        () => {
          calls++;
          return 2n;
        },
      ],
    ]);
    expect(programOf('b || i == 1').evaluate(lazy)).toMatchObject({ value: true });
    expect(calls).toBe(0);
    expect(programOf('i + i * i').evaluate(lazy)).toMatchObject({ value: 6n });
    expect(calls).toBe(1);
  });

  test('reports the failure of a function value where it is used', () => {
    const failing = new Map<string, CelValue | (() => CelValue)>([
      ...variables,
      [
        'i',
        () => {
          throw new CelError('not today');
        },
      ],
    ]);
    expect(programOf('i == 1 || b').evaluate(failing)).toMatchObject({ value: true });
    expect(programOf('i == 1').evaluate(failing).error?.message).toBe('not today');
  });

  test('treats a comprehension variable with the name of a type as that type', () => {
    expect(run('[int].exists(string, string == int)')).toMatchObject({ value: false });
    expect(() => run('[int].exists(t, t == int)')).toThrow('reference to undefined type: t');
  });

  test('treats null as a value', () => {
    expect(programOf('dy == null').evaluate(new Map([['dy', null]]))).toMatchObject({ value: true });
    expect(programOf('dl.map(x, x == null)').evaluate(new Map([['dl', jsonValue([null, 1])]])).error).toBeUndefined();
  });
});

describe('names of JavaScript properties', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'size', 'get'])(
    'does not expose %s as a property of a value',
    (name) => {
      expect(run(`has(dy.${name}) || '${name}' in m || '${name}' in {'a': 1}`)).toMatchObject({ value: false });
      expect(run(`dy.${name}`).error?.message).toBe(`no such key: ${name}`);
      expect(run(`{'a': 1}.${name}`).error?.message).toBe(`no such key: ${name}`);
      expect(run(`{'${name}': i}.${name}`)).toMatchObject({ value: 5n });
      const stored = new Map([['dy', jsonValue(JSON.parse(`{"${name}": 7}`))]]);
      expect(programOf(`dy.${name}`).evaluate(stored)).toMatchObject({ value: 7n });
    },
  );
});

describe('ArrayList', () => {
  test('does not change other lists when it appends to a list', () => {
    expect(show(run('cel.bind(x, li + [9], [x + [1], x + [2], x])').value ?? null)).toBe(
      '[[int:3,int:1,int:2,int:9,int:1],[int:3,int:1,int:2,int:9,int:2],[int:3,int:1,int:2,int:9]]',
    );
  });

  test('returns the same result of a program every time', () => {
    const program = programOf('li.map(x, x + 1) + [i]');
    const first = show(program.evaluate(variables).value ?? null);
    expect(first).toBe('[int:4,int:2,int:3,int:5]');
    expect(show(program.evaluate(variables).value ?? null)).toBe(first);
  });
});
