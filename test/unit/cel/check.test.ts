import { describe, expect, test } from 'vitest';
import { createEnvironment } from '../../../src/cel/environment.js';
import { LANGUAGE_LIBRARIES, VALUE_LIBRARIES } from '../../../src/cel/library/environments.js';
import type { CelType } from '../../../src/cel/types.js';
import { BOOL, DYN, describeType, formatType, INT, listOf, mapOf, objectType, STRING } from '../../../src/cel/types.js';
import { readGroup, type Scenario } from '../../conformance/recordings.mjs';
import { compile, ENVIRONMENTS, readCases } from './check-fixtures.js';

/**
 * Environment, expression, and either the messages with their locations or the type (with its other format, if that
 * differs).
 */
type CheckCase = readonly [string, string, string | readonly string[]];

const environment = (name: string) => ENVIRONMENTS[name] ?? createEnvironment();

describe('check', () => {
  const cases = readCases<CheckCase>('./check-cases.jsonl');

  test.each(Object.keys(ENVIRONMENTS))('returns the results of cel-go in the environment %s', (name) => {
    const own = cases.filter(([where]) => where === name);
    expect(own.length).toBeGreaterThan(20);
    const answered = own.map(([where, expression]) => [where, expression, result(expression, name)]);
    expect(answered).toEqual(own);
  });

  function result(expression: string, name: string): string | readonly string[] {
    const compiled = compile(expression, environment(name));
    if (typeof compiled === 'string') {
      return compiled.split('\n').flatMap((line) => {
        const [, message] = /^(?:ERROR: <input>:)(.*)$/.exec(line) ?? [];
        if (message !== undefined) return [message.replace(': ', ' ')];
        return /^\d+ more errors/.test(line) ? [line] : [];
      });
    }
    const types = [formatType(compiled.resultType), describeType(compiled.resultType)];
    return [...new Set(types)].join(' ');
  }
});

test('formats an issue with its location in the text', () => {
  expect(compile('1 + 1u', environment('server'))).toBe(
    ["ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, uint)'", ' | 1 + 1u', ' | ..^'].join(
      '\n',
    ),
  );
});

test('reports the number of issues beyond one hundred', () => {
  const text = compile(`[${Array.from({ length: 130 }, () => 'nope').join(', ')}]`, environment('server'));
  expect(text).toMatch(/\n30 more errors were truncated$/);
});

describe('CheckedExpression', () => {
  test('has qualified names of variables and functions with their original ids', () => {
    const checked = compile('v == .a.b.fun(b.c)', environment('loose'));
    if (typeof checked === 'string') expect.fail(checked);
    const call = { type: 'call', function: 'a.b.fun', target: undefined, args: [{ type: 'ident', name: 'a.b.c' }] };
    expect(checked.expr).toMatchObject({ args: [{ type: 'ident', name: 'a.b.v' }, call] });
    const names = [...checked.references.values()].map((it) => (it.type === 'variable' ? it.name : it.overloads));
    expect(names).toEqual(['a.b.v', 'a.b.c', ['a_b_fun'], ['equals']]);
  });

  test('has constant values for type names', () => {
    const checked = compile('int', environment('server'));
    if (typeof checked === 'string') expect.fail(checked);
    expect(checked.references.get(checked.expr.id)).toMatchObject({
      type: 'variable',
      name: 'int',
      value: { type: INT },
    });
  });

  test('lists all matching overloads of a call whose types are known only at run time', () => {
    const checked = compile('dy + dy', environment('server'));
    if (typeof checked === 'string') expect.fail(checked);
    expect(checked.references.get(checked.expr.id)).toEqual({
      type: 'function',
      overloads: [
        'add_bytes',
        'add_double',
        'add_duration_duration',
        'add_duration_timestamp',
        'add_timestamp_duration',
        'add_int64',
        'add_list',
        'add_string',
        'add_uint64',
      ],
    });
    expect(checked.resultType).toEqual(DYN);
  });

  test('replaces unbound type parameters with dyn', () => {
    const checked = compile('[[], {}]', environment('loose'));
    if (typeof checked === 'string') expect.fail(checked);
    expect(new Set([...checked.types.values()].map(formatType))).toEqual(new Set(['list(dyn)', 'map(dyn, dyn)']));
  });
});

/** The schema of all CRDs in the recording. */
const SPEC: Readonly<Record<string, CelType>> = {
  a: INT,
  s: STRING,
  b: BOOL,
  l: listOf(INT),
  sl: listOf(STRING),
  m: mapOf(STRING, STRING),
  n: STRING,
  o: objectType('o'),
};

describe('checking recorded validation rules', () => {
  test('rejects rules with the messages of the recorded server', () => {
    const types = createEnvironment({
      libraries: [...LANGUAGE_LIBRARIES, ...VALUE_LIBRARIES],
      variables: { self: objectType('spec') },
      provider: {
        hasType: (name) => name === 'spec' || name === 'o',
        fieldType: (name, field) => (name === 'spec' ? SPEC[field] : field === 'x' ? INT : undefined),
        fieldNames: () => [],
      },
    });
    const pairs = recordedRefusals(readGroup('crd-cel-compile'));
    expect(pairs.length).toBeGreaterThan(20);
    for (const [rule, message] of pairs) expect([rule, compile(rule, types)]).toEqual([rule, message]);
  });
});

/** Rejected rules for that schema with the reason. */
function recordedRefusals(scenarios: readonly Scenario[]): readonly (readonly [string, string])[] {
  const expected = ['cel-compile-syntax', 'cel-compile-references', 'cel-compile-macros'];
  return scenarios
    .filter(({ name }) => expected.includes(name))
    .flatMap(({ steps, expect: results }) =>
      steps.flatMap(({ body }, index) => {
        const [, rule] =
          /"x-kubernetes-validations":\[\{"rule":("(?:[^"\\]|\\.)*")\}\]/.exec(JSON.stringify(body)) ?? [];
        const [, message] =
          /: compilation failed: ((?:[^"\\]|\\.)*)","field"/.exec(JSON.stringify(results[index])) ?? [];
        return rule === undefined || message === undefined
          ? []
          : [[JSON.parse(rule) as string, JSON.parse(`"${message}"`) as string] as const];
      }),
    );
}
