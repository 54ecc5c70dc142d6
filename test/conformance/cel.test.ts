/**
 * Runs the conformance suite of CEL. Sections about functions that the reference server does not have, and cases about
 * protobuf messages, are counted but not run. All others pass, except the cases listed here: for each of them the engine of the
 * reference server gives the same result as ours.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { Program } from '../../src/cel/engine.js';
import { celEquals, check, createEnvironment, parse, plan, planParsed } from '../../src/cel/index.js';
import { BIND } from '../../src/cel/library/bind.js';
import { LANGUAGE_LIBRARIES } from '../../src/cel/library/environments.js';
import { typeNameOf } from '../../src/cel/runtime-type.js';
import { formatType } from '../../src/cel/types.js';
import { CelError, CelList, CelMap, type CelValue } from '../../src/cel/values.js';
import { type Case, readSuite } from './cel-suite.js';

/** Sections about functions that the reference server does not have. */
const NOT_OFFERED: ReadonlySet<string> = new Set(['block_ext', 'encoders_ext', 'math_ext']);

/** Cases for which the reference server differs from the suite. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  fields: [
    // The checker rejects a literal key of the wrong type.
    'map_bad_key_type_or_true',
    'map_bad_key_type_and_false',
    // Identifiers in backticks are disabled.
    'field_access_slash',
    'field_access_dash',
    'field_access_dot',
    'has_field_slash',
    'has_field_dash',
    'has_field_dot',
    // The last of several equal keys wins.
    'map_key_float',
    'map_value_repeat_key',
    'map_value_repeat_key_heterogeneous',
  ],
  // Optional selection on a value without fields gives none instead of an error.
  optionals: ['map_null_entry_no_such_key', 'map_present_key_invalid_field'],
  // An older version of these functions: different exponents, quotes in lists and maps, and index bounds.
  string_ext: [
    'empty_string',
    'scientific notation formatting clause',
    'default precision for scientific notation',
    'NaN support for scientific notation',
    'positive infinity support for scientific notation',
    'negative infinity support for scientific notation',
    'NaN support for decimal',
    'positive infinity support for decimal',
    'negative infinity support for decimal',
    'positive infinity support for fixed-point',
    'negative infinity support for fixed-point',
    'list support for string',
    'map support for string',
    'map support (all key types)',
    'dyntype support for scientific notation',
    'dyntype NaN/infinity support',
    'dyntype support for lists',
    'dyntype support for maps',
    'scientific notation formatting clause in a string variable',
    'indexof_out_of_range',
    'lastindexof_out_of_range',
  ],
  // All milliseconds of a duration instead of those after the last full second.
  timestamps: ['get_milliseconds'],
  // Null is not assignable to an optional.
  type_deductions: ['null_assignable_to_abstract_parameter_candidate'],
};

/** The least number of cases that run per section, so that a suite reader that loses cases fails. */
const FLOORS: Readonly<Record<string, number>> = {
  basic: 43,
  bindings_ext: 5,
  comparisons: 362,
  conversions: 109,
  dynamic: 54,
  fields: 60,
  fp_math: 30,
  integer_math: 64,
  lists: 39,
  logic: 30,
  macros: 44,
  macros2: 46,
  namespace: 3,
  optionals: 59,
  parse: 193,
  plumbing: 5,
  proto2: 12,
  string: 51,
  string_ext: 206,
  timestamps: 76,
  type_deductions: 26,
};

const { cases, messages } = readSuite();
const base = createEnvironment({
  libraries: [...LANGUAGE_LIBRARIES, BIND],
  homogeneousLiterals: false,
  literalChecks: false,
});

describe('CEL conformance suite', () => {
  const shares: string[] = [];
  afterAll(() => {
    const withMessages = [...messages].map(([section, names]) => `${section} ${names.length}`);
    const notOffered = [...NOT_OFFERED].map((section) => `${section} ${casesOf(section).length}`);
    console.log(
      [
        ...shares,
        `not run, need protobuf messages: ${withMessages.join(', ')}`,
        `not run, functions that the server does not have: ${notOffered.join(', ')}`,
      ].join('\n'),
    );
  });

  test.each(Object.entries(FLOORS))('passes section %s except for listed cases', (section, floor) => {
    const all = casesOf(section);
    const different = DIFFERENT[section] ?? [];
    const problems = all.flatMap((one) => {
      const problem = problemOf(one);
      return problem === undefined ? [] : [{ name: one.name, expr: one.expr, problem }];
    });
    const passed = all.length - problems.length;
    shares.push(`${section}: ${passed} of ${all.length} (${((100 * passed) / all.length).toFixed(1)} %)`);
    expect(problems.filter(({ name }) => !different.includes(name))).toEqual([]);
    expect(all.length).toBeGreaterThanOrEqual(floor);
    // A listed case that passes must be removed from the list.
    expect(different.filter((name) => !problems.some((problem) => problem.name === name))).toEqual([]);
  });

  test('has no section that is neither run nor listed', () => {
    const listed = new Set([...Object.keys(FLOORS), ...NOT_OFFERED]);
    expect([...new Set(cases.map(({ section }) => section))].filter((section) => !listed.has(section))).toEqual([]);
  });
});

function casesOf(section: string): readonly Case[] {
  return cases.filter((one) => one.section === section);
}

/** The reason why a case fails; undefined if it passes. */
function problemOf(one: Case): string | undefined {
  const { expected } = one;
  const program = programOf(one);
  if (program === 'checked') return undefined;
  if ('problem' in program) return program.problem;
  const fails = 'fails' in expected && expected.fails;
  if ('unplanned' in program) return fails ? undefined : program.unplanned;
  const { value, error } = program.evaluate(one.bindings);
  if (error !== undefined) return fails ? undefined : `fails: ${error.message}`;
  if (expected.value === undefined) return 'gives a value instead of an error';
  return isSame(value, expected.value) ? undefined : 'gives a different value';
}

type Outcome = Program | 'checked' | { readonly problem: string } | { readonly unplanned: string };

function programOf(one: Case): Outcome {
  const environment = base.extend({
    container: one.container,
    variables: one.variables,
    libraries: one.functions.length === 0 ? [] : [{ name: 'declared', functions: one.functions }],
  });
  const parsed = parse(one.expr, environment.macros);
  if ('issues' in parsed) return { problem: `does not parse: ${parsed.issues[0]?.message}` };
  try {
    if (!one.checked) return planParsed(parsed, environment);
    const checked = check(parsed, environment);
    if ('issues' in checked) return { problem: `does not check: ${checked.issues[0]?.message}` };
    const { type } = one.expected;
    if (type !== undefined && formatType(checked.resultType) !== formatType(type)) {
      return { problem: `type ${formatType(checked.resultType)}, wanted ${formatType(type)}` };
    }
    return one.checkOnly ? 'checked' : plan(checked, environment);
  } catch (error) {
    if (error instanceof CelError) return { unplanned: `cannot be planned: ${error.message}` };
    throw error;
  }
}

/** Whether values and their types are deeply equal. NaN equals NaN. */
function isSame(left: CelValue, right: CelValue): boolean {
  if (typeof left === 'number' && typeof right === 'number') return Object.is(left, right) || left === right;
  if (typeNameOf(left) !== typeNameOf(right)) return false;
  if (left instanceof CelList && right instanceof CelList) {
    const indexes = Array.from({ length: left.size }, (_, index) => index);
    return left.size === right.size && indexes.every((index) => isSame(left.at(index), right.at(index)));
  }
  if (left instanceof CelMap && right instanceof CelMap) {
    const keys = [...left.keys()];
    return left.size === right.size && keys.every((key) => isSame(left.get(key) ?? null, right.get(key) ?? null));
  }
  return celEquals(left, right);
}
