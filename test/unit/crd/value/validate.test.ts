/**
 * Schema validation. The cases are random and contain the errors of the reference server's validator, whose order of
 * fields is random, so the comparison ignores the order.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { structuralSchemaOf } from '../../../../src/crd/structural-schema.js';
import { type ValueOptions, validateValue } from '../../../../src/crd/value/validate.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { printFieldError } from '../../../../src/meta/field-error.js';
import type { JSONSchemaProps } from '../../../../src/schema/json-schema.js';
import { NumberText } from '../../../../src/util/json.js';
import { cpuMs, cpuTimer } from '../../../fixtures/cpu-time.js';

interface Case {
  readonly schema: JSONSchemaProps;
  readonly value: unknown;
  readonly old?: unknown;
  readonly errors: readonly (readonly [type: string, field: string, message: string])[];
}

const cases: readonly Case[] = JSON.parse(readFileSync(new URL('./cases/validate.json', import.meta.url), 'utf8'));

function inOrder(errors: readonly unknown[]): readonly string[] {
  return errors.map((error) => JSON.stringify(error)).sort();
}

/** Errors of a value, as they are printed. */
function errorsOf(schema: JSONSchemaProps, value: unknown, options: ValueOptions = {}): string[] {
  return validateValue(structuralSchemaOf(schema, kubernetesDialect), value, options).map(printFieldError);
}

test('reports all violations with the messages of the reference server', () => {
  const wrong = cases.flatMap(({ schema, value, old, errors }, index) => {
    const view = structuralSchemaOf(schema, kubernetesDialect);
    const found = validateValue(view, value, old === undefined ? {} : { old });
    const got = inOrder(found.map(({ type, field, message }) => [type, field, message]));
    return JSON.stringify(got) === JSON.stringify(inOrder(errors)) ? [] : [{ index, got, want: inOrder(errors) }];
  });
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThan(200);
});

describe('paths', () => {
  const schema = {
    type: 'object',
    required: ['spec'],
    properties: { spec: { type: 'object', required: ['a'], properties: { a: { type: 'string' } } } },
  };

  test('prints <nil> as the path of a whole object and no leading dot', () => {
    expect(errorsOf(schema, 'x')).toEqual([
      '<nil>: Invalid value: "string":  in body must be of type object: "string"',
    ]);
    expect(errorsOf(schema, {})).toEqual(['spec: Required value']);
    expect(errorsOf(schema, { spec: {} })).toEqual(['spec.a: Required value']);
  });

  test('starts paths at the base of a part of an object', () => {
    expect(errorsOf(schema, { spec: { a: 1 } }, { base: 'status' })).toEqual([
      'status.spec.a: Invalid value: "integer": spec.a in body must be of type string: "integer"',
    ]);
    expect(errorsOf({ type: 'array', items: { type: 'string' } }, [1], { base: 'x' })).toEqual([
      'x.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"',
    ]);
  });

  test('keeps the dot of map fields at the top in the text only', () => {
    expect(errorsOf({ type: 'object', additionalProperties: { type: 'string' } }, { a: 1 })).toEqual([
      'a: Invalid value: "integer": .a in body must be of type string: "integer"',
    ]);
  });
});

describe('numbers', () => {
  test('compares numbers exactly', () => {
    const schema = { type: 'integer', maximum: 9007199254740992 };
    expect(errorsOf(schema, 9007199254740993n)).toEqual([
      '<nil>: Invalid value: 9007199254740993:  in body should be less than or equal to 9007199254740992',
    ]);
    expect(errorsOf(schema, 9007199254740991)).toEqual([]);
    expect(errorsOf({ type: 'integer', multipleOf: 2 }, 9007199254740994n)).toEqual([]);
  });

  test('does not accept numbers outside of the int64 range as integers', () => {
    expect(errorsOf({ type: 'integer' }, 9223372036854775807n)).toEqual([]);
    expect(errorsOf({ type: 'integer' }, 9223372036854775808n)).toEqual([
      '<nil>: Invalid value: "number":  in body must be of type integer: "number"',
    ]);
  });

  test('distinguishes integers and floats by their spelling', () => {
    expect(errorsOf({ type: 'integer' }, new NumberText('3.0'))).toEqual([]);
    expect(errorsOf({ type: 'string' }, new NumberText('3.0'))).toEqual([
      '<nil>: Invalid value: "number":  in body must be of type string: "number"',
    ]);
    expect(errorsOf({ type: 'number', maximum: 2 }, new NumberText('1e6'))).toEqual([
      '<nil>: Invalid value: 1e+06:  in body should be less than or equal to 2',
    ]);
  });

  test('compares integers with truncated bounds', () => {
    expect(errorsOf({ type: 'number', maximum: 2.5 }, 3)).toEqual([
      '<nil>: Invalid value: 3:  in body should be less than or equal to 2',
    ]);
    expect(errorsOf({ type: 'number', maximum: 2.5 }, 2.75)).toEqual([
      '<nil>: Invalid value: 2.75:  in body should be less than or equal to 2.5',
    ]);
  });
});

describe('ratcheting on update', () => {
  const item = { type: 'object', properties: { name: { type: 'string' }, size: { type: 'integer', maximum: 5 } } };
  const byName = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };
  const schema = {
    type: 'object',
    properties: {
      kind: { type: 'string', maxLength: 1 },
      a: { type: 'string', maxLength: 1 },
      b: { type: 'string' },
      keyed: { type: 'array', items: item, ...byName },
      plain: { type: 'array', items: item },
      open: { ...item, 'x-kubernetes-preserve-unknown-fields': true },
    },
  };
  const updated = (value: object, old: object) => errorsOf(schema, value, { old });

  test('ignores violations in unchanged parts on update', () => {
    expect(updated({ a: 'long', b: 'new' }, { a: 'long', b: 'old' })).toEqual([]);
    expect(updated({ a: 'other' }, { a: 'long' })).toEqual(['a: Too long: may not be more than 1 bytes']);
  });

  test('correlates old and new items by their keys', () => {
    const big = { name: 'x', size: 9 };
    const small = { name: 'y', size: 1 };
    expect(updated({ keyed: [small, big] }, { keyed: [big] })).toEqual([]);
    expect(updated({ plain: [small, big] }, { plain: [big] })).toEqual([
      'plain[1].size: Invalid value: 9: plain[1].size in body should be less than or equal to 5',
    ]);
  });

  test('reports unchanged violations of kind and of objects with unspecified fields', () => {
    expect(updated({ kind: 'long', b: 'new' }, { kind: 'long', b: 'old' })).toEqual([
      'kind: Too long: may not be more than 1 bytes',
    ]);
    const limited = { type: 'object', maxProperties: 1, properties: { open: schema.properties.open } };
    const value = { open: { size: 1, other: 2 }, x: 1 };
    expect(errorsOf(limited, value, { old: value })).toEqual(['<nil>: Too many: 2: must have at most 1 items']);
  });
});

test('reports equal findings once, and those of the best alternative', () => {
  const twice = { allOf: [{ minLength: 3 }, { minLength: 3 }] };
  expect(errorsOf({ type: 'string', ...twice }, 'a')).toEqual([
    '<nil>: Invalid value: "a":  in body should be at least 3 chars long',
    '<nil>: Invalid value: "": "" must validate all the schemas (allOf). None validated',
  ]);
  const best = { anyOf: [{ required: ['x'] }, { required: ['y'], properties: { a: { minimum: 1 } } }] };
  expect(errorsOf({ type: 'object', ...best }, { a: 1 })).toEqual([
    '<nil>: Invalid value: "": "" must validate at least one schema (anyOf)',
    'y: Required value',
  ]);
});

test('prints a long enum only a limited number of times', () => {
  const schema = { type: 'array', items: { type: 'string', enum: ['a', 'b'] } };
  const errors = errorsOf(schema, new Array(150).fill('c'));
  expect(errors).toHaveLength(150);
  expect(errors.filter((text) => text.includes('supported values'))).toHaveLength(100);
});

test('validates a small object within microseconds', () => {
  const schema = structuralSchemaOf(
    {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          required: ['size'],
          properties: {
            size: { type: 'string', enum: ['s', 'm'] },
            replicas: { type: 'integer', minimum: 0, maximum: 10 },
            tags: { type: 'array', items: { type: 'string', maxLength: 10 } },
          },
        },
      },
    },
    kubernetesDialect,
  );
  const object = { spec: { size: 's', replicas: 3, tags: ['a', 'b'] } };
  const rounds = 20_000;
  const spentMs = cpuTimer();
  for (let round = 0; round < rounds; round++) validateValue(schema, object);
  expect(spentMs() / rounds).toBeLessThan(0.1);
});

test('ends with 504 when it takes longer than a request may', () => {
  const anyOf = Array.from({ length: 50 }, (_, n) => ({ pattern: `^a{${n + 1}}b$` }));
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: { list: { type: 'array', items: { type: 'string', anyOf } } },
  };
  const value = { list: Array.from({ length: 100 }, () => 'c') };
  expect(errorsOf(schema, value).length).toBeGreaterThan(0);
  let now = 0;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 20_000));
  try {
    expect(() => errorsOf(schema, value)).toThrow(/request did not complete within requested timeout/);
  } finally {
    clock.mockRestore();
  }
});

test('ends with 504 when a pattern takes too many steps for one text', () => {
  const schema: JSONSchemaProps = { type: 'string', pattern: '(a{1,500}){1,2}b' };
  expect(errorsOf(schema, 'a'.repeat(5_000))).toHaveLength(1);
  const cpuTime = (run: () => void): number => {
    const before = cpuMs();
    run();
    return cpuMs() - before;
  };
  // Without a limit, the long text takes 145 times as long as the short one.
  const short = cpuTime(() => expect(errorsOf(schema, 'a'.repeat(20_000))).toHaveLength(1));
  const long = cpuTime(() =>
    expect(() => errorsOf(schema, 'a'.repeat(2_900_000))).toThrow(/request did not complete within requested timeout/),
  );
  expect(long / short).toBeLessThan(50);
}, 120_000);
