/**
 * Validates the body of a user-defined kind with its zod schemas. zod's issues (types, enums, ranges) get the messages
 * of the same violation in a CRD schema.
 */
import type * as z from 'zod';
import type { FieldError } from '../meta/field-error.js';
import { fieldError, invalid, keyPath, notSupported, required, tooMany } from '../meta/field-error.js';
import { verbatim } from '../text/go/go-text.js';
import { own } from '../util/json.js';
import type { ZodShape } from './hints.js';
import type { ObjectNode, SchemaNode } from './schema-node.js';

/** Validates the body of an object of a user-defined kind, whose types have already been decoded. */
export function bodyProblems(
  body: ZodShape,
  schema: ObjectNode,
  object: Readonly<Record<string, unknown>>,
): readonly FieldError[] {
  const problems: FieldError[] = [];
  for (const [field, type] of Object.entries(body)) {
    const value = own(object, field);
    const { optin, optout } = type._zod;
    // As in a z.object: an absent optional field has no issues, and every other field is required.
    if (value === undefined && optin !== undefined && optout === 'optional') continue;
    const result = (type as z.ZodType).safeParse(value, PARSING);
    if (result.success) {
      if (value === undefined && optin === undefined) problems.push(required(field));
      continue;
    }
    for (const issue of result.error.issues) {
      problems.push(...fromIssue({ ...issue, path: [field, ...issue.path] }, schema));
    }
  }
  return problems;
}

// zod copies the context and sets `async`; with the key present the copy is about 1 µs faster.
const PARSING: z.core.ParseContextInternal<z.core.$ZodIssue> = { reportInput: true, async: false };

function fromIssue(issue: z.core.$ZodIssue, schema: ObjectNode): FieldError[] {
  const field = printPath(schema, issue.path);
  switch (issue.code) {
    case 'invalid_type': {
      if (issue.input === undefined) return [required(field)];
      const expected = issue.expected === 'int' ? 'integer' : issue.expected === 'record' ? 'object' : issue.expected;
      const actual = jsonTypeOf(issue.input);
      const detail = `${field} in body must be of type ${expected}: "${actual}"`;
      return [fieldError('typeInvalid', field, { value: actual, detail })];
    }
    case 'invalid_value':
      if (issue.input === undefined) return [required(field)];
      return [notSupported(field, issue.input, issue.values.map(String))];
    case 'too_big':
      if (issue.origin === 'array' || issue.origin === 'set') {
        return [tooMany(field, Array.isArray(issue.input) ? issue.input.length : -1, Number(issue.maximum))];
      }
      if (issue.origin === 'string') {
        return [fieldError('tooLong', field, { detail: `may not be more than ${issue.maximum} bytes` })];
      }
      return [bodyProblem(field, issue.input, `should be less than ${orEqual(issue)}${issue.maximum}`)];
    case 'too_small':
      if (issue.origin === 'array' || issue.origin === 'set') {
        return [bodyProblem(field, countOf(issue.input), `should have at least ${issue.minimum} items`)];
      }
      if (issue.origin === 'string') {
        return [bodyProblem(field, issue.input, `should be at least ${issue.minimum} chars long`)];
      }
      return [bodyProblem(field, issue.input, `should be greater than ${orEqual(issue)}${issue.minimum}`)];
    case 'invalid_format':
      if (issue.format === 'regex' && issue.pattern !== undefined) {
        const pattern = issue.pattern.replace(/^\/|\/[a-z]*$/g, '');
        return [bodyProblem(field, issue.input, `should match '${pattern}'`)];
      }
      return [bodyProblem(field, issue.input, `must be of type ${issue.format}: ${JSON.stringify(issue.input)}`)];
    default:
      return [invalid(field, issue.input, issue.message)];
  }
}

function bodyProblem(field: string, value: unknown, detail: string): FieldError {
  return invalid(field, value, `${field} in body ${detail}`);
}

function orEqual({ inclusive }: { readonly inclusive?: boolean | undefined }): string {
  return inclusive ? 'or equal to ' : '';
}

function countOf(input: unknown): unknown {
  return Array.isArray(input) ? verbatim(String(input.length)) : input;
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'bigint' ? 'integer' : typeof value;
}

/** `spec.parts[0].name`, `data[my.key]`: fields with a dot, map keys and indexes in brackets. */
function printPath(schema: ObjectNode, path: readonly PropertyKey[]): string {
  let printed = '';
  let node: SchemaNode | undefined = schema;
  for (const step of path) {
    const name = String(step);
    if (node?.type === 'object') {
      printed = printed === '' ? name : `${printed}.${name}`;
      node = node.fields.get(name)?.node;
    } else {
      // Without a known structure (inside a union) a string is a field and a number an index.
      const isField = typeof step === 'string' && (node === undefined || node.type === 'any');
      printed = isField ? `${printed}.${name}` : keyPath(printed, name);
      node = node?.type === 'map' ? node.values : node?.type === 'list' ? node.items : undefined;
    }
  }
  return printed;
}
