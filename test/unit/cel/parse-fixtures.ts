/** Parses with the standard macros and formats nodes as short lists. */
import type { Expr, LiteralExpr } from '../../../src/cel/ast.js';
import { macroKey } from '../../../src/cel/parse/node-builder.js';
import { parse } from '../../../src/cel/parse/parse.js';
import { issuesText, TextSource } from '../../../src/cel/parse/source.js';
import { STANDARD_MACROS } from '../../../src/cel/parse/standard-macros.js';
import { CelBytes, CelUint } from '../../../src/cel/values.js';

export const macros = new Map(
  STANDARD_MACROS.map((macro) => [macroKey(macro.function, macro.args, macro.member), macro]),
);

export type ParseResult = { readonly ast: unknown } | { readonly errors: string };

export function answerTo(text: string): ParseResult {
  const parsed = parse(text, macros);
  if ('issues' in parsed) return { errors: issuesText(new TextSource(text), parsed.issues) };
  return { ast: dump(parsed.expr) };
}

/** A node as a list that starts with type, id and offset. */
export function dump(expr: Expr): unknown {
  const head = [expr.type, expr.id, expr.offset];
  switch (expr.type) {
    case 'literal':
      return [...head, dumpValue(expr.value)];
    case 'ident':
      return [...head, expr.name];
    case 'select':
      return [...head, dump(expr.operand), expr.field, expr.testOnly];
    case 'call':
      return [...head, expr.function, expr.target === undefined ? null : dump(expr.target), expr.args.map(dump)];
    case 'list':
      return [...head, expr.elements.map(dump), expr.optional];
    case 'map':
      return [
        ...head,
        expr.entries.map((entry) => [entry.id, entry.offset, dump(entry.key), dump(entry.value), entry.optional]),
      ];
    case 'struct':
      return [
        ...head,
        expr.name,
        expr.fields.map((field) => [field.id, field.offset, field.name, dump(field.value), field.optional]),
      ];
    case 'comprehension':
      return [
        ...head,
        dump(expr.range),
        expr.iterVar,
        expr.iterVar2 ?? '',
        expr.accuVar,
        ...[expr.accuInit, expr.loopCondition, expr.loopStep, expr.result].map(dump),
      ];
  }
}

function dumpValue(value: LiteralExpr['value']): unknown {
  if (value === null) return ['null'];
  if (value instanceof CelUint) return ['uint', String(value.value)];
  if (value instanceof CelBytes) {
    return ['bytes', Array.from(value.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')];
  }
  if (typeof value === 'bigint') return ['int', String(value)];
  if (typeof value === 'number') return ['double', value, value < 0 || Object.is(value, -0)];
  return [typeof value === 'boolean' ? 'bool' : 'string', value];
}
