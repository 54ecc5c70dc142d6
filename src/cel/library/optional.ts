/**
 * Optional values: `optional.of`, `a.?b`, `l[?0]` and their functions. The evaluator implements selection and indexing,
 * and `or` and `orValue`, which may not evaluate their second operand.
 */
import type { Expr } from '../ast.js';
import { ArrayList, itemsOf } from '../evaluate/views.js';
import type { Library, Macro, MacroContext } from '../library.js';
import { BOOL, DYN, INT, listOf, mapOf, opaqueType, optionalOf, STRING, typeOf, typeParam } from '../types.js';
import {
  CelBytes,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../values.js';
import { binding } from './bind.js';
import { declare, global, globalFunction, memberFunction } from './declare.js';
import { printValue } from './print-value.js';

const KEY = typeParam('K');
const VALUE = typeParam('V');
const OPTIONAL = optionalOf(VALUE);
const LIST = listOf(VALUE);
const MAP = mapOf(KEY, VALUE);
const OPTIONALS = listOf(OPTIONAL);

/** The type that expressions refer to as `optional_type`. */
const OPTIONAL_TYPE = opaqueType('optional_type');

export const OPTIONALS_LIBRARY: Library = {
  name: 'optional',
  macros: [optionalMacro('optMap', wrapped), optionalMacro('optFlatMap', (_, result) => result)],
  variables: { optional_type: { type: typeOf(OPTIONAL_TYPE), value: new CelTypeValue(OPTIONAL_TYPE) } },
  functions: [
    globalFunction('optional.of', 'optional_of', [VALUE], OPTIONAL, (value) => new CelOptional(value)),
    globalFunction('optional.ofNonZeroValue', 'optional_ofNonZeroValue', [VALUE], OPTIONAL, (value) =>
      isZero(value) ? CelOptional.NONE : new CelOptional(value),
    ),
    globalFunction('optional.none', 'optional_none', [], OPTIONAL, () => CelOptional.NONE),
    memberFunction('value', 'optional_value', [OPTIONAL], VALUE, requireValue),
    memberFunction('hasValue', 'optional_hasValue', [OPTIONAL], BOOL, ({ value }) => value !== undefined),
    memberFunction('or', 'optional_or_optional', [OPTIONAL, OPTIONAL], OPTIONAL),
    memberFunction('orValue', 'optional_orValue_value', [OPTIONAL, VALUE], VALUE),
    globalFunction('_?._', 'select_optional_field', [DYN, STRING], OPTIONAL),
    declare(
      '_[?_]',
      global('list_optindex_optional_int', [LIST, INT], OPTIONAL),
      global('optional_list_optindex_optional_int', [optionalOf(LIST), INT], OPTIONAL),
      global('map_optindex_optional_value', [MAP, KEY], OPTIONAL),
      global('optional_map_optindex_optional_value', [optionalOf(MAP), KEY], OPTIONAL),
    ),
    declare(
      '_[_]',
      global('optional_list_index_int', [optionalOf(LIST), INT], OPTIONAL),
      global('optional_map_index_value', [optionalOf(MAP), KEY], OPTIONAL),
    ),
    memberFunction('last', 'list_last', [LIST], OPTIONAL, (list) => itemFrom(list, 'last')),
    memberFunction('first', 'list_first', [LIST], OPTIONAL, (list) => itemFrom(list, 'first')),
    globalFunction('optional.unwrap', 'optional_unwrap', [OPTIONALS], LIST, unwrapped),
    memberFunction('unwrapOpt', 'optional_unwrapOpt', [OPTIONALS], LIST, unwrapped),
  ],
};

/** The zero time of Go: year 1, not the epoch. */
const ZERO_TIME = -62_135_596_800_000_000_000n;

/** Whether a value is a zero value for `optional.ofNonZeroValue`. */
function isZero(value: CelValue): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof CelUint) return value.value === 0n;
  if (value instanceof CelBytes) return value.bytes.length === 0;
  if (value instanceof CelDuration) return value.nanos === 0n;
  if (value instanceof CelTimestamp) return value.nanos === ZERO_TIME;
  return (value instanceof CelList || value instanceof CelMap) && value.size === 0 && value.isStored !== true;
}

function requireValue({ value }: CelOptional): CelValue {
  if (value === undefined) throw new CelError('optional.none() dereference');
  return value;
}

function itemFrom(list: CelList, end: 'first' | 'last'): CelOptional {
  if (list.size === 0) return CelOptional.NONE;
  return new CelOptional(list.at(end === 'first' ? 0 : list.size - 1));
}

function unwrapped(list: CelList): CelList {
  const values: CelValue[] = [];
  for (const item of itemsOf(list)) {
    if (!(item instanceof CelOptional)) throw new CelError(`value ${printValue(item)} is not optional`);
    if (item.value !== undefined) values.push(item.value);
  }
  return new ArrayList(values);
}

/** `x.optMap(v, expression)`: evaluates the expression with the value of `x`, if there is one. */
function optionalMacro(name: string, made: (context: MacroContext, result: Expr) => Expr): Macro {
  return {
    function: name,
    member: true,
    args: 2,
    expand: (context, target, [variable, result]) => {
      if (target === undefined || variable === undefined || result === undefined) return undefined;
      if (variable.type !== 'ident') {
        context.report(`${name}() variable name must be a simple identifier`, variable);
        return undefined;
      }
      const value = context.memberCall('value', context.copy(target));
      return context.call(
        '_?_:_',
        context.memberCall('hasValue', target),
        made(context, binding(context, { name: variable.name, value, result })),
        context.call('optional.none'),
      );
    },
  };
}

function wrapped(context: MacroContext, result: Expr): Expr {
  return context.call('optional.of', result);
}
