/**
 * The standard library: declarations of the standard functions with their implementations. The order of overloads
 * matters: calls whose types are known only at run time list their overload ids in this order.
 *
 * Overloads of one operator share a function that dispatches on runtime types. The evaluator calls the functions that
 * return failures; the library's own `call`s wrap them and throw, as all libraries do.
 */
import { celEquals } from '../equality.js';
import { orThrow, type Result } from '../failure.js';
import type { FunctionDeclaration, Library, Overload } from '../library.js';
import { STANDARD_MACROS } from '../parse/standard-macros.js';
import type { CelType } from '../types.js';
import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  TIMESTAMP,
  TYPE,
  typeOf,
  typeParam,
  UINT,
} from '../types.js';
import type { CelValue } from '../values.js';
import { CelTypeValue } from '../values.js';
import { CONVERSION_FUNCTIONS } from './conversions.js';
import { BINARY_OPERATORS, UNARY_OPERATORS } from './operators.js';
import { TIME_FUNCTIONS } from './time.js';

const A = typeParam('A');

const B = typeParam('B');

const LIST = listOf(A);

const MAP = mapOf(A, B);

/** Type names that every environment declares. */
const STANDARD_TYPES: Readonly<Record<string, { readonly type: CelType; readonly value: CelTypeValue }>> =
  Object.fromEntries(
    (
      [
        ['bool', BOOL],
        ['bytes', BYTES],
        ['double', DOUBLE],
        ['google.protobuf.Duration', DURATION],
        ['int', INT],
        ['list', LIST],
        ['map', MAP],
        ['null_type', NULL],
        ['string', STRING],
        ['google.protobuf.Timestamp', TIMESTAMP],
        ['type', TYPE],
        ['uint', UINT],
      ] as const
    ).map(([name, type]) => [name, { type: typeOf(type), value: new CelTypeValue(type) }]),
  );

const TIME_DECLARATIONS: readonly FunctionDeclaration[] = [
  { name: 'getFullYear', overloads: ofTimestamp('year') },
  { name: 'getMonth', overloads: ofTimestamp('month') },
  { name: 'getDayOfYear', overloads: ofTimestamp('day_of_year') },
  { name: 'getDayOfMonth', overloads: ofTimestamp('day_of_month') },
  { name: 'getDate', overloads: ofTimestamp('day_of_month_1_based') },
  { name: 'getDayOfWeek', overloads: ofTimestamp('day_of_week') },
  { name: 'getHours', overloads: [...ofTimestamp('hours'), ofDuration('hours')] },
  { name: 'getMinutes', overloads: [...ofTimestamp('minutes'), ofDuration('minutes')] },
  // The id with a time zone is irregular.
  {
    name: 'getSeconds',
    overloads: [...ofTimestamp('seconds', 'timestamp_to_seconds_tz'), ofDuration('seconds')],
  },
  { name: 'getMilliseconds', overloads: [...ofTimestamp('milliseconds'), ofDuration('milliseconds')] },
];

const STANDARD_DECLARATIONS: readonly FunctionDeclaration[] = [
  // Logic. The evaluator implements these, because they do not evaluate all arguments.
  declare('_?_:_', overload('conditional', [BOOL, A, A], A)),
  declare('_&&_', overload('logical_and', [BOOL, BOOL], BOOL)),
  declare('_||_', overload('logical_or', [BOOL, BOOL], BOOL)),
  declare('!_', overload('logical_not', [BOOL], BOOL)),
  declare('@not_strictly_false', overload('not_strictly_false', [BOOL], BOOL)),
  declare('_==_', overload('equals', [A, A], BOOL)),
  declare('_!=_', overload('not_equals', [A, A], BOOL)),

  // Arithmetic.
  declare(
    '_+_',
    overload('add_bytes', [BYTES, BYTES], BYTES),
    overload('add_double', [DOUBLE, DOUBLE], DOUBLE),
    overload('add_duration_duration', [DURATION, DURATION], DURATION),
    overload('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
    overload('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    overload('add_int64', [INT, INT], INT),
    overload('add_list', [LIST, LIST], LIST),
    overload('add_string', [STRING, STRING], STRING),
    overload('add_uint64', [UINT, UINT], UINT),
  ),
  declare(
    '_/_',
    overload('divide_double', [DOUBLE, DOUBLE], DOUBLE),
    overload('divide_int64', [INT, INT], INT),
    overload('divide_uint64', [UINT, UINT], UINT),
  ),
  declare('_%_', overload('modulo_int64', [INT, INT], INT), overload('modulo_uint64', [UINT, UINT], UINT)),
  declare(
    '_*_',
    overload('multiply_double', [DOUBLE, DOUBLE], DOUBLE),
    overload('multiply_int64', [INT, INT], INT),
    overload('multiply_uint64', [UINT, UINT], UINT),
  ),
  declare('-_', overload('negate_double', [DOUBLE], DOUBLE), overload('negate_int64', [INT], INT)),
  declare(
    '_-_',
    overload('subtract_double', [DOUBLE, DOUBLE], DOUBLE),
    overload('subtract_duration_duration', [DURATION, DURATION], DURATION),
    overload('subtract_int64', [INT, INT], INT),
    overload('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    overload('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
    overload('subtract_uint64', [UINT, UINT], UINT),
  ),

  // Order.
  declare('_<_', ...comparisons('less')),
  declare('_<=_', ...comparisons('less_equals')),
  declare('_>_', ...comparisons('greater')),
  declare('_>=_', ...comparisons('greater_equals')),

  // Lists and maps.
  declare('_[_]', overload('index_list', [LIST, INT], A), overload('index_map', [MAP, A], B)),
  declare('@in', overload('in_list', [A, LIST], BOOL), overload('in_map', [A, MAP], BOOL)),
  declare(
    'size',
    overload('size_bytes', [BYTES], INT),
    member('bytes_size', [BYTES], INT),
    overload('size_list', [LIST], INT),
    member('list_size', [LIST], INT),
    overload('size_map', [MAP], INT),
    member('map_size', [MAP], INT),
    overload('size_string', [STRING], INT),
    member('string_size', [STRING], INT),
  ),

  // Conversions.
  declare('type', overload('type', [A], typeOf(A))),
  declare('bool', ...conversions('bool', BOOL, ['bool', 'string'])),
  declare('bytes', ...conversions('bytes', BYTES, ['bytes', 'string'])),
  declare('double', ...conversions('double', DOUBLE, ['double', 'int64', 'string', 'uint64'])),
  declare('duration', ...conversions('duration', DURATION, ['duration', 'int64', 'string'])),
  declare('dyn', overload('to_dyn', [A], DYN)),
  declare('int', ...conversions('int64', INT, ['int64', 'double', 'duration', 'string', 'timestamp', 'uint64'])),
  declare(
    'string',
    ...conversions('string', STRING, ['string', 'bool', 'bytes', 'double', 'duration', 'int64', 'timestamp', 'uint64']),
  ),
  declare('timestamp', ...conversions('timestamp', TIMESTAMP, ['timestamp', 'int64', 'string'])),
  declare('uint', ...conversions('uint64', UINT, ['uint64', 'double', 'int64', 'string'])),

  // Strings.
  declare('contains', member('contains_string', [STRING, STRING], BOOL)),
  declare('endsWith', member('ends_with_string', [STRING, STRING], BOOL)),
  declare('startsWith', member('starts_with_string', [STRING, STRING], BOOL)),
  declare('matches', overload('matches', [STRING, STRING], BOOL), member('matches_string', [STRING, STRING], BOOL)),

  ...TIME_DECLARATIONS,
];

/** Comparisons of numbers of different types, which an environment may disable. */
export const CROSS_TYPE_COMPARISONS: ReadonlySet<string> = new Set(
  ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((relation) =>
    comparisons(relation)
      .filter(({ params: [left, right] }) => left !== right)
      .map(({ id }) => id),
  ),
);

/** Functions by overload id. Their arguments match the declared types. */
export const STANDARD_FUNCTIONS: ReadonlyMap<string, (...args: CelValue[]) => Result> = new Map([
  ...CONVERSION_FUNCTIONS,
  ...TIME_FUNCTIONS,
]);

export const STANDARD_LIBRARY: Library = {
  name: 'standard',
  functions: STANDARD_DECLARATIONS.map(({ name, overloads }) => ({
    name,
    overloads: overloads.map((overload) => withCall(name, overload)),
  })),
  macros: STANDARD_MACROS,
  variables: STANDARD_TYPES,
};

function withCall(name: FunctionDeclaration['name'], overload: Overload): Overload {
  const run = functionOf(name, overload.id);
  return run === undefined ? overload : { ...overload, call: (...args) => orThrow(run(...args)) };
}

/**
 * Undefined for functions that the evaluator implements: logic and the conditional, which do not evaluate all
 * arguments, and `[]`.
 */
function functionOf(name: string, id: string): ((...args: CelValue[]) => Result) | undefined {
  if (id === 'equals') return (left, right) => celEquals(left as CelValue, right as CelValue);
  if (id === 'not_equals') return (left, right) => !celEquals(left as CelValue, right as CelValue);
  const run = STANDARD_FUNCTIONS.get(id) ?? UNARY_OPERATORS.get(name) ?? BINARY_OPERATORS.get(name);
  return run as ((...args: CelValue[]) => Result) | undefined;
}

function declare(name: string, ...overloads: Overload[]): FunctionDeclaration {
  return { name, overloads };
}

function overload(id: string, params: readonly CelType[], result: CelType): Overload {
  return { id, member: false, params, result };
}

function member(id: string, params: readonly CelType[], result: CelType): Overload {
  return { id, member: true, params, result };
}

/** The type of a type name in overload ids. */
function typeInId(word: string): CelType {
  const types: Readonly<Record<string, CelType>> = {
    bool: BOOL,
    int64: INT,
    uint64: UINT,
    double: DOUBLE,
    string: STRING,
    bytes: BYTES,
    timestamp: TIMESTAMP,
    duration: DURATION,
  };
  return types[word] as CelType;
}

/** `less_bool`, `less_int64`, `less_int64_double`, … */
function comparisons(relation: string): readonly Overload[] {
  const pairs = [
    ['bool'],
    ['int64'],
    ['int64', 'double'],
    ['int64', 'uint64'],
    ['uint64'],
    ['uint64', 'double'],
    ['uint64', 'int64'],
    ['double'],
    ['double', 'int64'],
    ['double', 'uint64'],
    ['string'],
    ['bytes'],
    ['timestamp'],
    ['duration'],
  ] as const;
  return pairs.map((pair) => {
    const [left, right = left] = pair;
    return overload([relation, ...pair].join('_'), [typeInId(left), typeInId(right)], BOOL);
  });
}

/** `int64_to_string`, … */
function conversions(to: string, result: CelType, from: readonly string[]): readonly Overload[] {
  return from.map((word) => overload(`${word}_to_${to}`, [typeInId(word)], result));
}

function ofTimestamp(part: string, withZone = `timestamp_to_${part}_with_tz`): readonly Overload[] {
  return [
    { id: `timestamp_to_${part}`, member: true, params: [TIMESTAMP], result: INT },
    { id: withZone, member: true, params: [TIMESTAMP, STRING], result: INT },
  ];
}

function ofDuration(part: string): Overload {
  return { id: `duration_to_${part}`, member: true, params: [DURATION], result: INT };
}
