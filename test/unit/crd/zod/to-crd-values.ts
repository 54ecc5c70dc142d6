/** Random values for zod schemas: valid, nearly valid and arbitrary ones. */
import type * as z from 'zod';
import fc from '../../../property/seeded.js';

const STRINGS = [
  '',
  'a',
  'b',
  'c',
  'aa',
  'ab',
  'abc',
  'abcd',
  'abcde',
  'A',
  'yes',
  'NO',
  'auto',
  'a.b',
  'axb',
  '(c)',
  'none',
  'disk',
  'memory',
  'null',
  'x-1',
  'ab-9',
  'a-z',
  'a z',
  '-ab',
  'ab cd',
  '5%',
  '50%',
  '5%x',
  '1',
  'v1.a',
  'v-2.b',
  'v1.c',
  '😀',
  'me@example.com',
  'me.too+x@mail.example.org',
  '.me@example.com',
  'me@localhost',
  'a..b@example.com',
  '123e4567-e89b-12d3-a456-426614174000',
  '123e4567-e89b-42d3-a456-426614174000',
  '123e4567e89b12d3a456426614174000',
  '00000000-0000-0000-0000-000000000000',
  '123E4567-E89B-F2D3-A456-42661417400G',
  '10.0.0.1',
  '010.0.0.1',
  '10.0.0',
  '256.0.0.1',
  '::1',
  'fe80::1',
  '::ffff:1.2.3.4',
  '1::2::3',
  'fe80::1%eth0',
  '10.0.0.0/8',
  '10.0.0.0/33',
  '10.0.0.0',
  'fd00::/8',
  'fd00::/129',
  '2024-02-29',
  '2023-02-29',
  '2024-13-01',
  '2024-01-01T00:00:00Z',
  '2024-01-01T00:00:00.123Z',
  '2024-01-01T00:00Z',
  '2024-01-01T00:00:00+02:00',
  '2024-01-01T00:00:00',
  '2024-01-01 00:00:00Z',
  '2024-01-01T24:00:00Z',
  '12:30',
  '12:30:15',
  '25:00',
  'YQ==',
  'YWI=',
  'YWJj',
  'YWJ',
  'YQ',
  'Y',
  'a_-b',
  '=',
  'example.com',
  'example.com.',
  'ex_ample.com',
  'dead',
  'BEEF',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  '81ARZ3NDEKTSV4RRFFQ69G5FAV',
  '00:1a:2b:3c:4d:5e',
  '00-1A-2B-3C-4D-5E',
  'P1D',
  'PT5M',
  'http://example.com/x',
  'bb',
  'true',
];
const NUMBERS = [
  0,
  1,
  2,
  3,
  4,
  6,
  9,
  10,
  11,
  -1,
  -2,
  -3,
  0.5,
  1.5,
  2.5,
  -0.5,
  -2.5,
  5,
  5.5,
  2 ** 31,
  2 ** 32,
  -(2 ** 31) - 1,
];

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...STRINGS),
  fc.constantFrom(...NUMBERS),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.constantFrom<unknown>(...STRINGS.slice(0, 9), ...NUMBERS), { maxLength: 3 }),
  fc.dictionary(
    fc.constantFrom('a', 'b', 'kind', 'size'),
    fc.constantFrom<unknown>(...STRINGS.slice(0, 9), ...NUMBERS),
    {
      maxKeys: 3,
    },
  ),
);

/**
 * Mostly valid values for a schema; undefined means an absent field. Objects sometimes have an unknown field,
 * but not inside unions, where a kind keeps it and a CRD drops it.
 */
export function valuesFor(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: shaped(schema, false) }, { weight: 1, arbitrary: junk });
}

function shaped(schema: z.core.$ZodType, inUnion: boolean): fc.Arbitrary<unknown> {
  const def = (schema as z.core.$ZodTypes)._zod.def;
  switch (def.type) {
    case 'string':
    case 'template_literal': {
      const fitting = STRINGS.filter((candidate) => (schema as z.ZodType).safeParse(candidate).success);
      return fc.oneof(fc.constantFrom(...STRINGS), fc.constantFrom(...(fitting.length === 0 ? STRINGS : fitting)));
    }
    case 'number':
      return fc.constantFrom(...NUMBERS);
    case 'boolean':
      return fc.boolean();
    case 'enum':
    case 'literal':
      return fc.constantFrom(...(schema._zod.values ?? []), 'a');
    case 'optional':
    case 'default':
    case 'prefault':
      return fc.oneof(
        { weight: 3, arbitrary: valuesFor(def.innerType) },
        { weight: 1, arbitrary: fc.constant(undefined) },
      );
    case 'nullable':
      return fc.oneof({ weight: 3, arbitrary: valuesFor(def.innerType) }, { weight: 1, arbitrary: fc.constant(null) });
    case 'object':
      return fc.record(
        {
          ...Object.fromEntries(Object.entries(def.shape).map(([name, field]) => [name, valuesFor(field)])),
          ...(inUnion ? {} : { more: fc.constant(1) }),
        },
        { requiredKeys: [] },
      );
    case 'record':
      return fc.dictionary(fc.constantFrom('a', 'b', 'bb', 'c'), valuesFor(def.valueType), { maxKeys: 3 });
    case 'array':
      return fc.array(valuesFor(def.element), { maxLength: 3 });
    case 'tuple':
      return fc.tuple(...def.items.map((item) => valuesFor(item)));
    case 'union':
      return fc.oneof(...def.options.map((option) => shaped(option, true)));
    case 'intersection':
      return fc.tuple(shaped(def.left, true), shaped(def.right, true)).map((both) => Object.assign({}, ...both));
    default:
      return junk;
  }
}
