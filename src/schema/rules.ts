/**
 * Value rules: checks on zod schemas, reported as field errors with the reference server's messages.
 *
 * `rule` attaches a check to a schema; `bodyProblems` validates a body and converts zod's issues. Rules of built-in
 * kinds have their own messages; zod's issues (types, enums, ranges) get the messages of the same violation in a CRD
 * schema.
 */
import type * as z from 'zod';
import type { FieldError, FieldErrorDetail, FieldErrorType } from '../meta/field-error.js';
import { fieldError, invalid, keyPath, notSupported, required, tooMany } from '../meta/field-error.js';
import { verbatim } from '../text/go/go-text.js';
import type { ObjectNode, SchemaNode } from './schema-node.js';

/** A violation found by a rule, relative to the value of its schema. */
export interface RuleProblem extends FieldErrorDetail {
  readonly type: FieldErrorType;
  /** Steps below the value: a map key, an index. */
  readonly path?: readonly (string | number)[];
}

/**
 * Adds a value rule to a schema.
 *
 * @example
 * rule(z.number(), (n) => (n > 0 ? [] : [{ type: 'invalid', value: n, detail: 'must be greater than 0' }]))
 */
export function rule<Schema extends z.ZodType>(
  schema: Schema,
  check: (value: z.output<Schema>) => readonly RuleProblem[],
): Schema {
  const checked = schema.check((context) => {
    for (const problem of check(context.value as z.output<Schema>)) {
      const path = [...(problem.path ?? [])];
      context.issues.push({ code: 'custom', input: context.value, path, params: { problem } });
    }
  });
  return checked as Schema;
}

/** Validates the body of an object whose types have already been decoded. */
export function bodyProblems(body: z.ZodObject, schema: ObjectNode, object: unknown): readonly FieldError[] {
  if (!schema.checked) return NONE;
  const result = body.safeParse(object, PARSING);
  if (result.success) return NONE;
  return result.error.issues.flatMap((issue) => fromIssue(issue, schema));
}

// zod copies the context and sets `async`; with the key present the copy is about 1 µs faster.
const PARSING: z.core.ParseContextInternal<z.core.$ZodIssue> = { reportInput: true, async: false };

const NONE: readonly FieldError[] = Object.freeze([]);

function fromIssue(issue: z.core.$ZodIssue, schema: ObjectNode): FieldError[] {
  const field = printPath(schema, issue.path);
  switch (issue.code) {
    case 'custom': {
      const problem = issue.params?.['problem'] as RuleProblem | undefined;
      if (problem !== undefined) return [fieldError(problem.type, field, problem)];
      return [invalid(field, issue.input, issue.message)];
    }
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
      return [
        boundProblem(
          field,
          issue.input,
          `should be ${issue.inclusive ? 'less than or equal to' : 'less than'} ${issue.maximum}`,
        ),
      ];
    case 'too_small':
      if (issue.origin === 'array' || issue.origin === 'set') {
        return [boundProblem(field, countOf(issue.input), `should have at least ${issue.minimum} items`)];
      }
      if (issue.origin === 'string') {
        return [invalid(field, issue.input, `${field} in body should be at least ${issue.minimum} chars long`)];
      }
      return [
        boundProblem(
          field,
          issue.input,
          `should be ${issue.inclusive ? 'greater than or equal to' : 'greater than'} ${issue.minimum}`,
        ),
      ];
    case 'invalid_format':
      if (issue.format === 'regex' && issue.pattern !== undefined) {
        const pattern = issue.pattern.replace(/^\/|\/[a-z]*$/g, '');
        return [invalid(field, issue.input, `${field} in body should match '${pattern}'`)];
      }
      return [
        invalid(field, issue.input, `${field} in body must be of type ${issue.format}: ${JSON.stringify(issue.input)}`),
      ];
    default:
      return [invalid(field, issue.input, issue.message)];
  }
}

function boundProblem(field: string, value: unknown, detail: string): FieldError {
  return invalid(field, value, `${field} in body ${detail}`);
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
