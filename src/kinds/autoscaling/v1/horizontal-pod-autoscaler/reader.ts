/**
 * Decodes JSON annotations. Clients can write them too, so an invalid annotation counts as absent.
 */
import { Quantity, QuantityError } from '../../../../meta/quantity.js';
import { JsonSyntaxError, parseJson } from '../../../../text/json/parse-json.js';
import { isRecord, own } from '../../../../util/json.js';

class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Decodes a JSON text with `read`; undefined if the text is absent or invalid. */
export function readAnnotation<Result>(text: string | undefined, read: (value: unknown) => Result): Result | undefined {
  if (text === undefined) return undefined;
  try {
    return read(parseJson(text).value);
  } catch (error) {
    const expected = [UnreadableError, JsonSyntaxError, QuantityError].some((type) => error instanceof type);
    if (expected) return undefined;
    throw error;
  }
}

/** Decodes a list of objects. */
export function list<Item>(value: unknown, read: (fields: Fields) => Item): Item[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new UnreadableError('not a list');
  return value.map((item: unknown) => read(record(item)));
}

/** Decodes an object; absent and null are empty. */
export function record(value: unknown): Fields {
  if (value === null || value === undefined) return {};
  if (!isRecord(value)) throw new UnreadableError('not an object');
  return value;
}

/** Decodes an optional object; absent and null are undefined. */
export function optionalRecord<Result>(value: unknown, read: (fields: Fields) => Result): Result | undefined {
  return value === null || value === undefined ? undefined : read(record(value));
}

/** Decodes a string field; absent and null are empty. */
export function text(fields: Fields, name: string): string {
  const value = own(fields, name) ?? '';
  if (typeof value !== 'string') throw new UnreadableError(`${name} is no text`);
  return value;
}

/** Decodes an integer field. */
export function whole(fields: Fields, name: string): number | undefined {
  const value = own(fields, name) ?? undefined;
  if (value !== undefined && !Number.isInteger(value)) throw new UnreadableError(`${name} is no whole number`);
  return value as number | undefined;
}

/** Decodes a quantity field to its canonical form. */
export function amount(fields: Fields, name: string): string | undefined {
  const value = own(fields, name) ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string' && typeof value !== 'number') throw new UnreadableError(`${name} is no quantity`);
  return Quantity.parse(String(value).trim()).toString();
}

/** Removes undefined fields. */
export function present<Value extends object>(value: Value): { [Key in keyof Value]: Exclude<Value[Key], undefined> } {
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]: Exclude<Value[Key], undefined> };
}
