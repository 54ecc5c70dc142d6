/**
 * Validation errors of single fields, as values. Validators return lists of them; `errors.invalid` converts a list to a
 * 422 Status. Nothing here throws.
 */
import { quote, renderValue } from '../text/go/go-text.js';

export type FieldErrorType =
  | 'required'
  | 'invalid'
  | 'typeInvalid'
  | 'notSupported'
  | 'duplicate'
  | 'forbidden'
  | 'tooLong'
  | 'tooMany'
  | 'notFound'
  | 'internal';

export interface FieldError {
  readonly type: FieldErrorType;
  /** `spec.containers[0].name`, `data[my.key]`. */
  readonly field: string;
  /** The text after the path: `Invalid value: "x": must be …`. */
  readonly message: string;
  /** An object that was stored with this error may keep it: the rule is newer than the object may be. */
  readonly isKeptOnUpdate?: true;
}

const HEADLINE: Readonly<Record<FieldErrorType, string>> = {
  required: 'Required value',
  invalid: 'Invalid value',
  typeInvalid: 'Invalid value',
  notSupported: 'Unsupported value',
  duplicate: 'Duplicate value',
  forbidden: 'Forbidden',
  tooLong: 'Too long',
  tooMany: 'Too many',
  notFound: 'Not found',
  internal: 'Internal error',
};

const CAUSE_REASON: Readonly<Record<FieldErrorType, string>> = {
  required: 'FieldValueRequired',
  invalid: 'FieldValueInvalid',
  typeInvalid: 'FieldValueTypeInvalid',
  notSupported: 'FieldValueNotSupported',
  duplicate: 'FieldValueDuplicate',
  forbidden: 'FieldValueForbidden',
  tooLong: 'FieldValueTooLong',
  tooMany: 'FieldValueTooMany',
  notFound: 'FieldValueNotFound',
  internal: 'InternalError',
};

// These types do not print the value: it is absent, secret or large.
const HIDES_VALUE: ReadonlySet<FieldErrorType> = new Set(['required', 'forbidden', 'tooLong', 'internal']);

/** A Status lists at most this many errors. */
export const MAX_REPORTED_ERRORS = 10_000;

/** The optional parts of a field error. */
export interface FieldErrorDetail {
  /** The offending value; printed for the types that print one. */
  readonly value?: unknown;
  readonly detail?: string;
}

/**
 * Creates a field error.
 *
 * @example
 * fieldError('invalid', 'spec.size', { value: 0, detail: 'must be greater than 0' })
 */
export function fieldError(type: FieldErrorType, field: string, options: FieldErrorDetail = {}): FieldError {
  let message = HEADLINE[type];
  if (!HIDES_VALUE.has(type)) message += `: ${shortened(renderValue(options.value))}`;
  if (options.detail !== undefined && options.detail !== '') message += `: ${options.detail}`;
  return counted({ type, field, message });
}

/** The part of a printed value that a message contains. Go prints an empty struct in hundreds of characters. */
const MAX_PRINTED_CHARACTERS = 4 * 1024 * 1024;

function shortened(text: string): string {
  return text.length > MAX_PRINTED_CHARACTERS ? `${text.slice(0, MAX_PRINTED_CHARACTERS)}...` : text;
}

/** The limits of one validation. A hostile object can have several errors for each of its items. */
const MAX_ERRORS = 100_000;
const MAX_ERROR_CHARACTERS = 32 * 1024 * 1024;

/** Ends a validation that has found too many errors. */
export class TooManyFieldErrors extends Error {
  override readonly name = 'TooManyFieldErrors';

  constructor(readonly first: readonly FieldError[]) {
    super('too many field errors');
  }
}

interface ErrorCount {
  errors: number;
  characters: number;
  readonly first: FieldError[];
}

/** The count of the validation that runs. A validation is synchronous. */
let running: ErrorCount | undefined;

function counted(error: FieldError): FieldError {
  if (running === undefined) return error;
  running.errors++;
  running.characters += error.field.length + error.message.length;
  if (running.errors <= MAX_REPORTED_ERRORS) running.first.push(error);
  if (running.errors > MAX_ERRORS || running.characters > MAX_ERROR_CHARACTERS) {
    throw new TooManyFieldErrors(running.first);
  }
  return error;
}

/** Runs a validation. Throws {@link TooManyFieldErrors} when it has found more errors than a server can hold in memory. */
export function countingFieldErrors<Result>(validate: () => Result): Result {
  const outer = running;
  running = { errors: 0, characters: 0, first: [] };
  try {
    return validate();
  } finally {
    running = outer;
  }
}

export function required(field: string, detail = ''): FieldError {
  return fieldError('required', field, { detail });
}

export function invalid(field: string, value: unknown, detail: string): FieldError {
  return fieldError('invalid', field, { value, detail });
}

export function forbidden(field: string, detail: string): FieldError {
  return fieldError('forbidden', field, { detail });
}

export function duplicate(field: string, value: unknown): FieldError {
  return fieldError('duplicate', field, { value });
}

/** `supported` is listed in the order given; an empty list leaves that part out. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? '' : `supported values: ${supported.map(quote).join(', ')}`;
  return fieldError('notSupported', field, { value, detail });
}

export function tooLong(field: string, maxBytes: number): FieldError {
  const detail = maxBytes < 0 ? 'value is too long' : `may not be more than ${maxBytes} bytes`;
  return fieldError('tooLong', field, { detail });
}

/** A negative `actual` is not printed. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  const detail = max < 0 ? 'has too many items' : `must have at most ${max} items`;
  return counted({ type: 'tooMany', field, message: `Too many: ${actual < 0 ? '' : `${actual}: `}${detail}` });
}

/** Marks an error as one that stored objects may keep. */
export function keptOnUpdate(error: FieldError): FieldError {
  return { ...error, isKeptOnUpdate: true };
}

/** `<path>: <message>`, as in the message of a Status. */
export function printFieldError(error: FieldError): string {
  return `${error.field}: ${error.message}`;
}

/** The `reason` of a Status cause. */
export function causeReason(type: FieldErrorType): string {
  return CAUSE_REASON[type];
}

/** `parent.name`, or `name` at the top level. */
export function childPath(parent: string, name: string): string {
  return parent === '' ? name : `${parent}.${name}`;
}

/** `parent[key]`: a list index or a map key, without quotes. */
export function keyPath(parent: string, key: string | number): string {
  return `${parent}[${key}]`;
}

/** Formats distinct texts like Go's aggregate errors: one alone, several in brackets. */
export function aggregateText(texts: Iterable<string>): string {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct.join() : `[${distinct.join(', ')}]`;
}
