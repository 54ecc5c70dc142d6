/**
 * The standard library: declarations of the standard functions with their implementations. The order of overloads
 * matters: calls whose types are known only at run time list their overload ids in this order.
 *
 * Overloads of one operator share a function that dispatches on runtime types. The evaluator calls the functions that
 * return failures; the library's own `call`s wrap them and throw, as all libraries do.
 */
import { celEquals } from '../equality.js';
import { orThrow, type Result } from '../failure.js';
import { declare, global, member } from '../library/declare.js';
import type { FunctionDeclaration, Library, Overload } from '../library.js';
import { STANDARD_MACROS } from '../parse/standard-macros.js';
import {
  BOOL,
  BYTES,
  type CelType,
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
import { CelTypeValue, type CelValue } from '../values.js';
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

const STANDARD_DECLARATIONS: readonly FunctionDeclaration[] = [
  // Logic. The evaluator implements these, because they do not evaluate all arguments.
  declare('_?_:_', global('conditional', [BOOL, A, A], A)),
  declare('_&&_', global('logical_and', [BOOL, BOOL], BOOL)),
  declare('_||_', global('logical_or', [BOOL, BOOL], BOOL)),
  declare('!_', global('logical_not', [BOOL], BOOL)),
  declare('@not_strictly_false', global('not_strictly_false', [BOOL], BOOL)),
  declare('_==_', global('equals', [A, A], BOOL)),
  declare('_!=_', global('not_equals', [A, A], BOOL)),

  // Arithmetic.
  declare(
    '_+_',
    global('add_bytes', [BYTES, BYTES], BYTES),
    global('add_double', [DOUBLE, DOUBLE], DOUBLE),
    global('add_duration_duration', [DURATION, DURATION], DURATION),
    global('add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP),
    global('add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    global('add_int64', [INT, INT], INT),
    global('add_list', [LIST, LIST], LIST),
    global('add_string', [STRING, STRING], STRING),
    global('add_uint64', [UINT, UINT], UINT),
  ),
  declare(
    '_/_',
    global('divide_double', [DOUBLE, DOUBLE], DOUBLE),
    global('divide_int64', [INT, INT], INT),
    global('divide_uint64', [UINT, UINT], UINT),
  ),
  declare('_%_', global('modulo_int64', [INT, INT], INT), global('modulo_uint64', [UINT, UINT], UINT)),
  declare(
    '_*_',
    global('multiply_double', [DOUBLE, DOUBLE], DOUBLE),
    global('multiply_int64', [INT, INT], INT),
    global('multiply_uint64', [UINT, UINT], UINT),
  ),
  declare('-_', global('negate_double', [DOUBLE], DOUBLE), global('negate_int64', [INT], INT)),
  declare(
    '_-_',
    global('subtract_double', [DOUBLE, DOUBLE], DOUBLE),
    global('subtract_duration_duration', [DURATION, DURATION], DURATION),
    global('subtract_int64', [INT, INT], INT),
    global('subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP),
    global('subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION),
    global('subtract_uint64', [UINT, UINT], UINT),
  ),

  // Order.
  declare('_<_', ...comparisons('less')),
  declare('_<=_', ...comparisons('less_equals')),
  declare('_>_', ...comparisons('greater')),
  declare('_>=_', ...comparisons('greater_equals')),

  // Lists and maps.
  declare('_[_]', global('index_list', [LIST, INT], A), global('index_map', [MAP, A], B)),
  declare('@in', global('in_list', [A, LIST], BOOL), global('in_map', [A, MAP], BOOL)),
  declare(
    'size',
    global('size_bytes', [BYTES], INT),
    member('bytes_size', [BYTES], INT),
    global('size_list', [LIST], INT),
    member('list_size', [LIST], INT),
    global('size_map', [MAP], INT),
    member('map_size', [MAP], INT),
    global('size_string', [STRING], INT),
    member('string_size', [STRING], INT),
  ),

  // Conversions.
  declare('type', global('type', [A], typeOf(A))),
  declare('bool', ...conversions('bool', BOOL, ['bool', 'string'])),
  declare('bytes', ...conversions('bytes', BYTES, ['bytes', 'string'])),
  declare('double', ...conversions('double', DOUBLE, ['double', 'int64', 'string', 'uint64'])),
  declare('duration', ...conversions('duration', DURATION, ['duration', 'int64', 'string'])),
  declare('dyn', global('to_dyn', [A], DYN)),
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
  declare('matches', global('matches', [STRING, STRING], BOOL), member('matches_string', [STRING, STRING], BOOL)),

  // Time.
  declare('getFullYear', ...ofTimestamp('year')),
  declare('getMonth', ...ofTimestamp('month')),
  declare('getDayOfYear', ...ofTimestamp('day_of_year')),
  declare('getDayOfMonth', ...ofTimestamp('day_of_month')),
  declare('getDate', ...ofTimestamp('day_of_month_1_based')),
  declare('getDayOfWeek', ...ofTimestamp('day_of_week')),
  declare('getHours', ...ofTimestamp('hours'), ofDuration('hours')),
  declare('getMinutes', ...ofTimestamp('minutes'), ofDuration('minutes')),
  // The id with a time zone is irregular.
  declare('getSeconds', ...ofTimestamp('seconds', 'timestamp_to_seconds_tz'), ofDuration('seconds')),
  declare('getMilliseconds', ...ofTimestamp('milliseconds'), ofDuration('milliseconds')),
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
    return global([relation, ...pair].join('_'), [typeInId(left), typeInId(right)], BOOL);
  });
}

/** `int64_to_string`, … */
function conversions(to: string, result: CelType, from: readonly string[]): readonly Overload[] {
  return from.map((word) => global(`${word}_to_${to}`, [typeInId(word)], result));
}

function ofTimestamp(part: string, withZone = `timestamp_to_${part}_with_tz`): readonly Overload[] {
  return [member(`timestamp_to_${part}`, [TIMESTAMP], INT), member(withZone, [TIMESTAMP, STRING], INT)];
}

function ofDuration(part: string): Overload {
  return member(`duration_to_${part}`, [DURATION], INT);
}
