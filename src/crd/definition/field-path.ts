/**
 * Resolves field paths in a schema, as validation rules and selectable fields use them: `.spec.replicas`,
 * `.spec['a.b']`.
 */
import { additionalSchema, type StructuralSchema } from '../structural-schema.js';

/** A field of a schema and the names that lead to it. */
export interface FoundField {
  readonly schema: StructuralSchema;
  readonly names: readonly string[];
}

const INVALID_FIELD = 'does not refer to a valid field';
const UNEXPECTED_END = 'unexpected end of JSON path';

/** Returns the field at a path, or the reason why the path is invalid. */
export function findField(root: StructuralSchema, path: string, options: { brackets: boolean }): FoundField | string {
  const tokens = path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g) ?? [];
  const names: string[] = [];
  let schema = root;
  for (let at = 0; at < tokens.length; ) {
    const token = tokens[at] ?? '';
    if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`;
    if (token === '[' && !options.brackets) return 'array notation is not allowed';
    const next = tokens[at + 1];
    if (next === undefined) return UNEXPECTED_END;
    const step = token === '.' ? { name: next, length: 2 } : bracketed(next, tokens[at + 2]);
    if (typeof step === 'string') return step;
    const inner = schema.properties.size > 0 ? schema.properties.get(step.name) : additionalSchema(schema);
    if (inner === undefined) return INVALID_FIELD;
    names.push(step.name);
    schema = inner;
    at += step.length;
  }
  return { schema, names };
}

function bracketed(text: string, end: string | undefined): { name: string; length: number } | string {
  if (!/^'.*'$/s.test(text) || text.length < 2) return `expected single quoted string but got ${text}`;
  if (end === undefined) return UNEXPECTED_END;
  if (end !== ']') return `expected ] but got ${end}`;
  return { name: text.slice(1, -1).replace(/\\(.)/gs, '$1'), length: 3 };
}
