/**
 * Checks of literals in a typed expression: durations, timestamps, regular expressions, format strings, and lists and
 * maps of mixed types. upstream: cel-go cel/validator.go ASTValidator
 */

import { re2Problem } from '../../text/re2/index.js';
import {
  type CallExpr,
  type CelIssue,
  childrenOf,
  type Expr,
  type ListExpr,
  type LiteralExpr,
  type MapExpr,
} from '../ast.js';
import type { CheckedExpression, Environment } from '../engine.js';
import { type CelType, DYN, formatType, typeName } from '../types.js';
import { CelBytes, CelError, CelUint } from '../values.js';
import { equivalentType, kindOf, optionalValue } from './relations.js';

/** The arguments of this function may be lists of mixed types. */
const MIXED_ALLOWED = 'format';

const FORMAT_OVERLOAD = 'string_format';

/** Returns the issues in reporting order: by kind of check, then from outer to inner expressions. */
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
    for (const part of childrenOf(expr)) visit(part, mixedInside);
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
      // For the global call `matches(text, pattern)` this checks the text, as cel-go does.
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

/** Whether a conversion accepts a literal; it calls the conversion. */
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

/** Reports the first item whose type differs from that of item 0. */
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

/** Reports all keys and values whose type differs from those of the first entry. */
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

type Kind = ReturnType<typeof kindOf>;

interface Clause {
  readonly kinds: readonly Kind[];
  readonly complaint: string;
}

const INTEGERS: readonly Kind[] = ['int', 'uint'];

const NUMBERS: readonly Kind[] = ['double', 'string'];

const PRINTABLE: readonly Kind[] = [
  'list',
  'map',
  'int',
  'uint',
  'double',
  'bool',
  'string',
  'timestamp',
  'bytes',
  'duration',
  'type',
  'null',
];

const HEX: Clause = {
  kinds: ['int', 'uint', 'string', 'bytes'],
  complaint: 'only integers, byte buffers, and strings can be formatted as hex',
};

const CLAUSES: ReadonlyMap<string, Clause> = new Map([
  [
    's',
    {
      kinds: PRINTABLE,
      complaint:
        'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
    },
  ],
  ['d', { kinds: INTEGERS, complaint: 'decimal clause can only be used on integers' }],
  ['f', { kinds: NUMBERS, complaint: 'fixed-point clause can only be used on doubles' }],
  ['e', { kinds: NUMBERS, complaint: 'scientific clause can only be used on doubles' }],
  ['b', { kinds: ['int', 'uint', 'bool'], complaint: 'only integers and bools can be formatted as binary' }],
  ['x', HEX],
  ['X', HEX],
  ['o', { kinds: INTEGERS, complaint: 'octal clause can only be used on integers' }],
]);

/** Checks a literal format string against a literal argument list. Returns at most one issue. */
function checkFormat(call: CallExpr, { types }: CheckedExpression): readonly CelIssue[] {
  const { target, args } = call;
  if (call.function !== 'format' || target?.type !== 'literal' || typeof target.value !== 'string') return [];
  const [list] = args;
  if (args.length !== 1 || list?.type !== 'list') return [];
  const typeOfExpr = (expr: Expr) => types.get(expr.id) ?? DYN;
  const issue = (message: string, at: Expr = call): readonly CelIssue[] => [
    { message, offset: at.offset, exprId: at.id },
  ];
  const text = byteText(target.value);
  let used = 0;
  for (let at = 0; at < text.length; ) {
    if (text[at] !== '%') at++;
    else if (text[at + 1] === '%') at += 2;
    else {
      if (at + 1 >= text.length) return issue('unexpected end of string');
      const item = list.elements[used];
      if (item === undefined) return issue(`index ${used} out of range`);
      used++;
      const clause = readClause(text, at + 1);
      if ('problem' in clause) return issue(`could not parse formatting clause: ${clause.problem}`);
      const bad = clause.letter === 's' ? unprintable(item, typeOfExpr) : unfit(item, clause, typeOfExpr);
      if (bad !== undefined) {
        const given = typeName(typeOfExpr(bad));
        return issue(`error during formatting: ${clause.complaint}, was given ${given}`, bad);
      }
      at = clause.end;
    }
  }
  const given = list.elements.length;
  if (given <= used) return [];
  return issue(`too many arguments supplied to string.format (expected ${used}, got ${given})`);
}

/** cel-go parses format strings by byte; messages show one byte of a multi-byte character as a character. */
export function byteText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

export interface ReadClause extends Clause {
  readonly letter: string;
  readonly end: number;
}

/** Reads a formatting clause after a percent sign: `.3f`, `s`. */
export function readClause(text: string, start: number): ReadClause | { readonly problem: string } {
  let at = start;
  if (text[at] === '.') {
    const digits = /^[0-9]*/.exec(text.slice(at + 1))?.[0] ?? '';
    at += 1 + digits.length;
    const problem = precisionProblem(digits, at >= text.length);
    if (problem !== undefined) return { problem: `error while parsing precision: ${problem}` };
  }
  const letter = text[at] ?? '';
  const clause = CLAUSES.get(letter);
  if (clause === undefined) return { problem: `unrecognized formatting clause "${letter}"` };
  return { ...clause, letter, end: at + 1 };
}

const MAX_INT = 2n ** 63n - 1n;

function precisionProblem(digits: string, atEnd: boolean): string | undefined {
  if (atEnd) return 'could not find end of precision specifier';
  const conversion = `error while converting precision to integer: strconv.Atoi: parsing "${digits}"`;
  if (digits === '') return `${conversion}: invalid syntax`;
  return BigInt(digits) > MAX_INT ? `${conversion}: value out of range` : undefined;
}

function unfit(item: Expr, { kinds }: Clause, typeOfExpr: (expr: Expr) => CelType): Expr | undefined {
  const type = typeOfExpr(item);
  return type.kind === 'dyn' || kinds.includes(kindOf(type)) ? undefined : item;
}

/** Finds the first nested literal that `%s` cannot format. */
function unprintable(item: Expr, typeOfExpr: (expr: Expr) => CelType): Expr | undefined {
  const type = typeOfExpr(item);
  if (type.kind !== 'dyn' && !PRINTABLE.includes(kindOf(type))) return item;
  const parts =
    item.type === 'list'
      ? item.elements
      : item.type === 'map'
        ? item.entries.flatMap(({ key, value }) => [key, value])
        : [];
  for (const part of parts) {
    const bad = unprintable(part, typeOfExpr);
    if (bad !== undefined) return bad;
  }
  return undefined;
}
