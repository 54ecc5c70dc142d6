/**
 * Limits the size of the values that a request can make the server process. Each object and each list needs about 1 KB in
 * several steps of a write, so a body of 3 MiB that contains a million empty ones would need gigabytes.
 */
import { errors, type StatusError } from '../meta/errors.js';
import { isRecord, MAX_DEPTH } from '../util/json.js';
import type { ParsedBody, RequestBody } from './body.js';

/** The maximum length of a body: 3 MiB. spec: Limits */
export const MAX_BODY_BYTES = 3 * 1024 * 1024;
/** The maximum number of objects and lists in a body. */
export const MAX_CONTAINERS = 250_000;
/** The same for an object after a patch or a conversion, which has defaults. */
export const MAX_OBJECT_CONTAINERS = 2 * MAX_CONTAINERS;
export const TOO_MANY_CONTAINERS = `more than ${MAX_OBJECT_CONTAINERS} objects and lists`;
/** The maximum number of characters: more than any body has, except YAML with aliases. */
export const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Throws 413 if the result of a patch exceeds the limits. The server computes its managedFields, which do not count. */
export function requireObjectLimits(value: unknown): void {
  const count = { containers: 0, characters: 0, maxContainers: MAX_OBJECT_CONTAINERS };
  if (!isRecord(value)) return;
  for (const key in value) {
    const part = value[key];
    addCharacters(key, count);
    if (key !== 'metadata' || !isRecord(part)) measure(part, count, 1);
    else for (const name in part) if (name !== 'managedFields') measure(part[name], count, 2);
  }
}

interface ValueCount {
  containers: number;
  characters: number;
  readonly maxContainers: number;
}

/** Decoding rejects deeper values. */
function measure(value: unknown, count: ValueCount, depth: number): void {
  if (typeof value === 'string') {
    addCharacters(value, count);
    return;
  }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  if (++count.containers > count.maxContainers) throw tooLarge(`${count.maxContainers} objects and lists`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) measure(value[index], count, depth + 1);
    return;
  }
  const record = value as Readonly<Record<string, unknown>>;
  for (const key in record) {
    addCharacters(key, count);
    measure(record[key], count, depth + 1);
  }
}

function addCharacters(text: string, count: ValueCount): void {
  count.characters += text.length;
  if (count.characters > MAX_CHARACTERS) throw tooLarge(`${MAX_CHARACTERS} characters`);
}

function tooLarge(limit: string): StatusError {
  return errors.requestTooLarge(`limit is ${limit}`);
}

/** For a body of more than `MAX_BODY_BYTES`. */
export function bodyTooLarge(): StatusError {
  return tooLarge(String(MAX_BODY_BYTES));
}

/** A body whose `read` throws 413 if the document exceeds the limits. `byteCount` is the length of its encoding. */
export function limitedBody(body: RequestBody, byteCount: number): RequestBody {
  // An object or list has at least one byte. Aliases can make a short YAML document long.
  if (byteCount < MAX_CONTAINERS && body.repeatedKeys === undefined) return body;
  let checked: ParsedBody | undefined;
  const { detach } = body;
  return {
    ...body,
    read(expected) {
      const parsed = body.read(expected);
      if (parsed !== checked) measure(parsed.value, { containers: 0, characters: 0, maxContainers: MAX_CONTAINERS }, 0);
      checked = parsed;
      return parsed;
    },
    ...(detach === undefined ? {} : { detach: () => limitedBody(detach(), byteCount) }),
  };
}
