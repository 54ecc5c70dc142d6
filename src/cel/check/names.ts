/** How a name is looked up: within a container, and behind dots. */
import type { Expr } from '../ast.js';

/**
 * Where a name may be found, nearest first: in the container `a.b`, `c.d` may be `a.b.c.d`, `a.c.d` or `c.d`. With a
 * leading dot it is a whole name.
 */
export function candidateNames(container: string, name: string): readonly string[] {
  if (name.startsWith('.')) return [name.slice(1)];
  if (container === '') return [name];
  const names: string[] = [];
  for (let space = container; space !== ''; space = space.slice(0, Math.max(space.lastIndexOf('.'), 0))) {
    names.push(`${space}.${name}`);
  }
  return [...names, name];
}

/** `a.b.c` when an expression is nothing but names behind dots. */
export function qualifiedName(expr: Expr): string | undefined {
  const fields: string[] = [];
  let rest = expr;
  while (rest.type === 'select') {
    if (rest.testOnly) return undefined;
    fields.push(rest.field);
    rest = rest.operand;
  }
  return rest.type === 'ident' ? [rest.name, ...fields.reverse()].join('.') : undefined;
}
