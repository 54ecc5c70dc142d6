/** Format texts that are written as they are, against the items of a list that is written as it is. */
import type { CallExpr, CelIssue, Expr } from '../ast.js';
import type { CheckedExpression } from '../engine.js';
import type { CelType } from '../types.js';
import { DYN } from '../types.js';
import { typeName } from './format.js';
import { kindOf } from './relations.js';

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

/** At most one issue: the text is read until something is wrong. */
export function checkFormat(call: CallExpr, { types }: CheckedExpression): readonly CelIssue[] {
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

/** The reference reads bytes, and shows one of many that make up a character as a character of its own. */
export function byteText(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

export interface ReadClause extends Clause {
  readonly letter: string;
  readonly end: number;
}

/** What follows a percent sign: `.3f`, `s`. */
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

/** Lists and maps that are written as they are, are looked into. */
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
