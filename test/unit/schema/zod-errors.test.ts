/** Validation of a body with zod, reported as field errors with the reference server's messages. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { printFieldError } from '../../../src/meta/field-error.js';
import { objectFromZod } from '../../../src/schema/from-zod.js';
import { bodyProblems } from '../../../src/schema/zod-errors.js';

/** What is wrong with an object, one text per problem. */
function problems(shape: z.ZodRawShape, object: Record<string, unknown>): string[] {
  return bodyProblems(shape, objectFromZod(shape, 'Widget'), object).map(printFieldError);
}

describe('an issue of zod', () => {
  test.each([
    ['a missing field', z.string(), undefined, 'field: Required value'],
    ['a missing enum', z.enum(['a']), undefined, 'field: Required value'],
    [
      'text for a number',
      z.number(),
      'x',
      'field: Invalid value: "string": field in body must be of type number: "string"',
    ],
    [
      'a fraction for an integer',
      z.int(),
      1.5,
      'field: Invalid value: "number": field in body must be of type integer: "number"',
    ],
    [
      'a number for text',
      z.string(),
      5,
      'field: Invalid value: "integer": field in body must be of type string: "integer"',
    ],
    ['a list for text', z.string(), [], 'field: Invalid value: "array": field in body must be of type string: "array"'],
    ['null for text', z.string(), null, 'field: Invalid value: "null": field in body must be of type string: "null"'],
    [
      'text for a map',
      z.record(z.string(), z.string()),
      'x',
      'field: Invalid value: "string": field in body must be of type object: "string"',
    ],
    [
      'text for an object',
      z.object({}),
      'x',
      'field: Invalid value: "string": field in body must be of type object: "string"',
    ],
    [
      'a string that is not in the enum',
      z.enum(['s', 'm']),
      'x',
      'field: Unsupported value: "x": supported values: "s", "m"',
    ],
    ['another literal', z.literal('only'), 'x', 'field: Unsupported value: "x": supported values: "only"'],
    [
      'a number too small',
      z.number().min(1),
      0,
      'field: Invalid value: 0: field in body should be greater than or equal to 1',
    ],
    [
      'a number that is not above the exclusive minimum',
      z.number().gt(1),
      1,
      'field: Invalid value: 1: field in body should be greater than 1',
    ],
    [
      'a number too large',
      z.number().max(1),
      2,
      'field: Invalid value: 2: field in body should be less than or equal to 1',
    ],
    [
      'a number that is not below the exclusive maximum',
      z.number().lt(1),
      1,
      'field: Invalid value: 1: field in body should be less than 1',
    ],
    [
      'a text too short',
      z.string().min(2),
      'x',
      'field: Invalid value: "x": field in body should be at least 2 chars long',
    ],
    ['a text too long', z.string().max(2), 'xyz', 'field: Too long: may not be more than 2 bytes'],
    [
      'a list too short',
      z.array(z.string()).min(2),
      ['x'],
      'field: Invalid value: 1: field in body should have at least 2 items',
    ],
    ['a list too long', z.array(z.string()).max(1), ['x', 'y'], 'field: Too many: 2: must have at most 1 items'],
    [
      'a text that does not match the pattern',
      z.string().regex(/^[a-z]+$/),
      'X',
      'field: Invalid value: "X": field in body should match \'^[a-z]+$\'',
    ],
    ['a text of another format', z.email(), 'x', 'field: Invalid value: "x": field in body must be of type email: "x"'],
    [
      'a value that a refinement rejects',
      z.string().refine((text) => text !== 'x', 'not x'),
      'x',
      'field: Invalid value: "x": not x',
    ],
  ])('reports %s', (_what, schema, value, expected) => {
    expect(problems({ field: schema }, value === undefined ? {} : { field: value })).toEqual([expected]);
  });
});

describe('the path', () => {
  test('prints fields with dots, and items and map keys in brackets', () => {
    const part = z.object({ name: z.string(), sizes: z.record(z.string(), z.number()) });
    const object = {
      spec: {
        parts: [
          { name: 'a', sizes: {} },
          { name: 5, sizes: { 'a.b': 'x' } },
        ],
      },
    };
    expect(problems({ spec: z.object({ parts: z.array(part) }) }, object)).toEqual([
      'spec.parts[1].name: Invalid value: "integer": spec.parts[1].name in body must be of type string: "integer"',
      'spec.parts[1].sizes[a.b]: Invalid value: "string": spec.parts[1].sizes[a.b] in body must be of type number: "string"',
    ]);
  });
});

describe('the path inside a union', () => {
  test('prints fields with dots', () => {
    const shape = z.discriminatedUnion('type', [
      z.object({ type: z.literal('box'), size: z.number() }),
      z.object({ type: z.literal('bag') }),
    ]);
    expect(problems({ shape }, { shape: { type: 'box', size: 'x' } })).toEqual([
      'shape.size: Invalid value: "string": shape.size in body must be of type number: "string"',
    ]);
  });
});

describe('all problems of an object', () => {
  test('reports all problems of an object together', () => {
    expect(problems({ a: z.string(), b: z.enum(['x']), c: z.number() }, { b: 'y', c: 1 })).toEqual([
      'a: Required value',
      'b: Unsupported value: "y": supported values: "x"',
    ]);
  });

  test('requires a field whose schema accepts undefined, and ignores an absent optional field', () => {
    expect(problems({ a: z.unknown(), b: z.exactOptional(z.string()), c: z.string().optional() }, {})).toEqual([
      'a: Required value',
    ]);
  });
});
