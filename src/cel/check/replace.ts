/** An expression with some of its nodes written differently; parts without such nodes stay as they are. */
import type { Expr } from '../ast.js';

export function replaceParts(expr: Expr, replacements: ReadonlyMap<number, Expr>): Expr {
  return replacements.size === 0 ? expr : replace(expr, replacements);
}

function replace(written: Expr, replacements: ReadonlyMap<number, Expr>): Expr {
  const expr = replacements.get(written.id) ?? written;
  const part = (inner: Expr) => replace(inner, replacements);
  switch (expr.type) {
    case 'literal':
    case 'ident':
      return expr;
    case 'select':
      return { ...expr, operand: part(expr.operand) };
    case 'call':
      return { ...expr, target: expr.target && part(expr.target), args: expr.args.map(part) };
    case 'list':
      return { ...expr, elements: expr.elements.map(part) };
    case 'map':
      return {
        ...expr,
        entries: expr.entries.map((entry) => ({ ...entry, key: part(entry.key), value: part(entry.value) })),
      };
    case 'struct':
      return { ...expr, fields: expr.fields.map((field) => ({ ...field, value: part(field.value) })) };
    case 'comprehension':
      return {
        ...expr,
        range: part(expr.range),
        accuInit: part(expr.accuInit),
        loopCondition: part(expr.loopCondition),
        loopStep: part(expr.loopStep),
        result: part(expr.result),
      };
  }
}

/** What an expression is made of, in the order in which it is written. */
export function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.type) {
    case 'literal':
    case 'ident':
      return [];
    case 'select':
      return [expr.operand];
    case 'call':
      return expr.target === undefined ? expr.args : [expr.target, ...expr.args];
    case 'list':
      return expr.elements;
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value]);
    case 'struct':
      return expr.fields.map(({ value }) => value);
    case 'comprehension':
      return [expr.range, expr.accuInit, expr.loopCondition, expr.loopStep, expr.result];
  }
}
