/**
 * What is looked at once an expression has types: durations, times, regular expressions and format texts that are
 * written as they are, and lists and maps whose values are not all of one type.
 */

import { re2Problem } from '../../text/re2/index.js';
import type { CallExpr, CelIssue, Expr, ListExpr, LiteralExpr, MapExpr } from '../ast.js';
import type { CheckedExpression, Environment } from '../engine.js';
import type { CelType } from '../types.js';
import { DYN } from '../types.js';
import { CelBytes, CelError, CelUint } from '../values.js';
import { formatType } from './format.js';
import { checkFormat } from './format-text.js';
import { equivalentType, optionalValue } from './relations.js';
import { partsOf } from './replace.js';

/** Lists that are handed to this function may hold anything. */
const MIXED_ALLOWED = 'format';
const FORMAT_OVERLOAD = 'string_format';

/** In the order in which they are reported: kind of check first, then from outside to inside. */
export function checkLiterals(checked: CheckedExpression, environment: Environment): readonly CelIssue[] {
  const formats = environment.overloads.has(FORMAT_OVERLOAD);
  const calls: CallExpr[] = [];
  const lists: ListExpr[] = [];
  const maps: MapExpr[] = [];
  const visit = (expr: Expr, mixed: boolean): void => {
    if (expr.type === 'call') calls.push(expr);
    if (expr.type === 'list' && !mixed) lists.push(expr);
    if (expr.type === 'map' && !mixed) maps.push(expr);
    const mixedInside = mixed || (formats && expr.type === 'call' && expr.function === MIXED_ALLOWED);
    for (const part of partsOf(expr)) visit(part, mixedInside);
  };
  visit(checked.expr, false);
  const issues: CelIssue[] = [];
  if (environment.options.homogeneousLiterals) {
    for (const list of lists) issues.push(...mixedList(list, checked));
    for (const map of maps) issues.push(...mixedMap(map, checked));
  }
  if (environment.options.literalChecks) {
    issues.push(
      ...literalArguments(calls, 'duration', (value) => converts(environment, 'duration', value)),
      ...literalArguments(calls, 'timestamp', (value) => converts(environment, 'timestamp', value)),
      // Of `matches(text, pattern)` this is the text; that is how the reference has it.
      ...literalArguments(calls, 'matches', (value) => typeof value !== 'string' || re2Problem(value) === undefined),
    );
  }
  if (formats) for (const call of calls) issues.push(...checkFormat(call, checked));
  return issues;
}

function literalArguments(
  calls: readonly CallExpr[],
  name: string,
  isRight: (value: LiteralExpr['value']) => boolean,
): readonly CelIssue[] {
  return calls.flatMap(({ function: called, args: [first] }) =>
    called !== name || first?.type !== 'literal' || isRight(first.value)
      ? []
      : [issueAt(first, `invalid ${name} argument`)],
  );
}

/** Whether a conversion takes a value; it is tried. */
function converts(environment: Environment, name: string, value: LiteralExpr['value']): boolean {
  const kind = literalKind(value);
  const overload = environment.functions.get(name)?.overloads.find(({ params: [param] }) => param?.kind === kind);
  if (overload === undefined) return false;
  try {
    overload.call?.(value);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

function literalKind(value: LiteralExpr['value']): CelType['kind'] {
  if (value === null) return 'null';
  if (value instanceof CelUint) return 'uint';
  if (value instanceof CelBytes) return 'bytes';
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'int' : 'double';
}

/** The first item that differs from the first one. */
function mixedList(list: ListExpr, { types }: CheckedExpression): readonly CelIssue[] {
  const optional = new Set(list.optional);
  const typed = list.elements.map((item, index) => {
    const type = types.get(item.id) ?? DYN;
    return { item, type: optional.has(index) ? (optionalValue(type) ?? type) : type };
  });
  const [first] = typed;
  const other = first && typed.find(({ type }) => !equivalentType(first.type, type));
  return first === undefined || other === undefined ? [] : [mismatch(other.item, first.type, other.type)];
}

/** All keys and values that differ from the first ones. */
function mixedMap(map: MapExpr, { types }: CheckedExpression): readonly CelIssue[] {
  const typeOfExpr = (expr: Expr) => types.get(expr.id) ?? DYN;
  const [first] = map.entries;
  if (first === undefined) return [];
  const valueType = (entry: MapExpr['entries'][number]) => {
    const type = typeOfExpr(entry.value);
    return entry.optional ? (optionalValue(type) ?? type) : type;
  };
  const keys = typeOfExpr(first.key);
  const values = valueType(first);
  return map.entries.flatMap((entry) => [
    ...(equivalentType(keys, typeOfExpr(entry.key)) ? [] : [mismatch(entry.key, keys, typeOfExpr(entry.key))]),
    ...(equivalentType(values, valueType(entry)) ? [] : [mismatch(entry.value, values, valueType(entry))]),
  ]);
}

function mismatch(at: Expr, expected: CelType, found: CelType): CelIssue {
  return issueAt(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
}

function issueAt({ id, offset }: Expr, message: string): CelIssue {
  return { message, offset, exprId: id };
}
