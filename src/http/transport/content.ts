/**
 * A request → its body as text, and what that text is called.
 */
import { encodeJson } from '../../codec/json-encoder.js';
import { errors } from '../../meta/errors.js';
import { BodyError, type ParsedBody, type RequestBody } from '../../protocol/body.js';
import type { ApiRequest, PatchType, RequestOptions } from '../../protocol/request.js';
import { isPlainJson, isRecord, jsonView, NotJsonError, NumberText, requireJson } from '../../util/json.js';

export interface Content {
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = 'application/json';

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** The body; undefined when the request has none. Throws BadRequest for what is no JSON. */
export function contentOf({ verb, body, patchType, options }: ApiRequest): Content | undefined {
  if (body !== undefined) {
    const text = encodeBody(body);
    if (patchType === 'apply') return { type: PATCH_TYPES.apply, text: escapeForYaml(text) };
    return { type: patchType === undefined ? JSON_TYPE : PATCH_TYPES[patchType], text };
  }
  if (verb !== 'delete' && verb !== 'deletecollection') return undefined;
  const text = deleteOptions(options);
  return text === undefined ? undefined : { type: JSON_TYPE, text };
}

/**
 * How to delete. In a body, because in a query the version that is a precondition and the version that a collection
 * is read at would have one name.
 */
function deleteOptions(options: RequestOptions): string | undefined {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  const parts = { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun };
  if (Object.values(parts).every((part) => part === undefined)) return undefined;
  return encodeJson({ kind: 'DeleteOptions', apiVersion: 'v1', ...parts });
}

function encodeBody(body: RequestBody): string {
  try {
    const document = body.read();
    const { value, duplicates } = document;
    return duplicates === undefined && isPlainJson(value) ? encodeJson(value) : encodeValue(value, document);
  } catch (error) {
    if (error instanceof NotJsonError || error instanceof BodyError)
      throw errors.badRequest(`the body of the request is no JSON: ${error.message}`);
    throw error;
  }
}

const MAX_DEPTH = 1_000;

/**
 * Text of what is no plain JSON: objects that know their own JSON (a Date, a Quantity), and bodies that are handed on,
 * whose spelling of numbers and repeated keys the other end is to see as they came.
 */
function encodeValue(given: unknown, document: ParsedBody, depth = 0): string {
  if (given instanceof NumberText) return given.text;
  if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
  const value = jsonView(given);
  // Loops and no callbacks: each level of depth costs one call frame.
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(encodeValue(item ?? null, document, depth + 1));
    return `[${parts.join(',')}]`;
  }
  if (!isRecord(value)) {
    requireJson(value);
    return encodeJson(value);
  }
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const earlier = document.duplicates?.get(value)?.get(key) ?? [];
    for (const each of [...earlier, field]) parts.push(`${encodeJson(key)}:${encodeValue(each, document, depth + 1)}`);
  }
  return `{${parts.join(',')}}`;
}

/** Characters that break a line in YAML, or that it refuses unless they are escaped. */
const UNSAFE_IN_YAML = /[\x7f-\x9f\ufeff\ufffe\uffff]/g;

/** A configuration is read as YAML. In JSON these characters occur only inside strings. */
function escapeForYaml(json: string): string {
  return json.replace(UNSAFE_IN_YAML, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
