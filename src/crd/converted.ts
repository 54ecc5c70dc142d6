/**
 * Checks the result of a conversion: that the ConversionReview response is valid and that the converted objects still
 * have the same identity. The messages are those of the reference server, also for conversion functions of this
 * process.
 */

import { typeIn, unreadableReview } from '../kinds/review-answer.js';
import { annotationErrors } from '../kinds/shared/annotations.js';
import { errors, StatusError } from '../meta/errors.js';
import { printFieldError } from '../meta/field-error.js';
import { parseApiVersion, printGvk } from '../meta/gvk.js';
import { labelErrors } from '../meta/labels.js';
import type { ApiObject } from '../meta/object.js';
import { jsonType } from '../schema/decode-scalar.js';
import { quote } from '../text/go/go-text.js';
import { goType } from '../text/go/go-value.js';
import { cloneJson, copyJson, deepEqual, deepFreeze, isRecord, printJson } from '../util/json.js';
import { messageOf } from '../util/message-of.js';

/** The group, version and kind of an object as conversion errors print it. */
export function gvkOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return printGvk({ group: '', version: '', ...parseApiVersion(apiVersion), kind });
}

/**
 * Returns an error handler that rethrows a StatusError and wraps any other error as a failure of the conversion
 * webhook.
 */
export function failed(object: ApiObject): (error: unknown) => never {
  return (error) => {
    if (StatusError.is(error)) throw error;
    const why = messageOf(error);
    throw errors.plain(`conversion webhook for ${gvkOf(object)} failed: ${why}`);
  };
}

/** The request that a ConversionReview response answers. */
export interface Asked {
  readonly uid: string;
  /** Group and version of the ConversionReview. */
  readonly apiVersion: string;
  readonly first: ApiObject;
}

/**
 * Returns the converted objects of a ConversionReview response. Throws if the response is invalid or reports a failure.
 */
export function convertedIn(answer: unknown, asked: Asked): readonly unknown[] {
  const fail = (why: string): never => failed(asked.first)(new Error(why));
  const problem = problemOfReview(answer, asked);
  if (problem !== undefined) return fail(problem);
  const response = isRecord(answer) ? answer['response'] : undefined;
  if (response === undefined || response === null) return fail('no response provided');
  const isFirstVersion = asked.apiVersion.endsWith('/v1');
  if (!isRecord(response)) {
    const { version = '' } = parseApiVersion(asked.apiVersion) ?? {};
    const field = `Go struct field ConversionReview.response of type ${version}.ConversionResponse`;
    return fail(`json: cannot unmarshal ${jsonType(response)} into ${field}`);
  }
  const uid = typeof response['uid'] === 'string' ? response['uid'] : '';
  // Only v1 requires the response to repeat the UID; v1beta1 does not.
  if (isFirstVersion && uid !== asked.uid) return fail(`expected response.uid=${quote(asked.uid)}, got ${quote(uid)}`);
  const { result, convertedObjects } = response;
  const status = isRecord(result) ? result['status'] : undefined;
  if (status !== 'Success') {
    const message = isRecord(result) ? result['message'] : undefined;
    if (typeof message === 'string' && message !== '') return fail(message);
    return fail(`response.result.status was '${typeof status === 'string' ? status : ''}', not 'Success'`);
  }
  return Array.isArray(convertedObjects) ? cloneJson(convertedObjects) : [];
}

/** Returns a message if the response is not a ConversionReview of the requested version. */
function problemOfReview(answer: unknown, { apiVersion }: Asked): string | undefined {
  const expected = { apiVersion, kind: 'ConversionReview' };
  const unreadable = unreadableReview(answer, expected);
  if (unreadable !== undefined) return unreadable;
  const said = typeIn(answer);
  const isComplete = said.apiVersion === apiVersion && said.kind === expected.kind;
  if (isComplete || !apiVersion.endsWith('/v1')) return undefined;
  return `expected webhook response of ${gvkOf(expected)}, got ${gvkOf(said)}`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * Checks that a converted object has the expected type and unchanged identity, and restores all metadata that a
 * conversion must not change.
 */
export function checked(before: ApiObject, converted: unknown, apiVersion: string, index: number): ApiObject {
  const refuse = (why: string) => errors.plain(`conversion webhook for ${gvkOf(before)} returned ${why}`);
  const unread = unreadObject(converted);
  if (unread !== undefined) throw errors.plain(unread);
  const object = converted as Record<string, unknown>;
  const received = textOf(object['apiVersion']);
  const place = `invalid object at index ${index}`;
  if (received !== apiVersion) {
    throw refuse(`${place}: invalid groupVersion (expected ${apiVersion}, received ${received})`);
  }
  if (object['kind'] !== before.kind) {
    throw refuse(`${place}: invalid kind (expected ${before.kind}, received ${textOf(object['kind'])})`);
  }
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  for (const [field, word] of IDENTITY) {
    const [was, is] = [before.metadata[field] ?? '', textOf(metadata[field])];
    if (was !== is) throw refuse(`invalid object: must have the same ${word}: ${was} != ${is}`);
  }
  const kept: Record<string, unknown> = { ...before.metadata };
  for (const field of FREE_METADATA) {
    const value = metadata[field] ?? undefined;
    const problem = value === undefined ? undefined : problemOfMap(field, value, before.metadata[field] ?? {});
    if (problem !== undefined) throw refuse(`invalid metadata: ${problem}`);
    if (value === undefined) delete kept[field];
    else kept[field] = copyJson(value);
  }
  return deepFreeze({ ...copyJson(object), metadata: kept }) as unknown as ApiObject;
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** The metadata fields that a conversion may change. */
const FREE_METADATA = ['labels', 'annotations'] as const;

function unreadObject(converted: unknown): string | undefined {
  if (converted === null || converted === undefined) return 'unexpected end of JSON input';
  if (!isRecord(converted)) {
    return `json: cannot unmarshal ${jsonType(converted)} into Go value of type map[string]interface {}`;
  }
  const apiVersion = textOf(converted['apiVersion']);
  const isNamed = textOf(converted['kind']) !== '' && (apiVersion === '' || parseApiVersion(apiVersion) !== undefined);
  return isNamed ? undefined : `Object 'Kind' is missing in '${printJson(converted)}'`;
}

/** Validates converted labels or annotations. Unchanged maps are not validated again. */
function problemOfMap(
  field: (typeof FREE_METADATA)[number],
  value: unknown,
  before: Readonly<Record<string, string>>,
): string | undefined {
  if (!isRecord(value)) return `invalid metadata.${field} of type ${goType(value)} in converted object`;
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === 'string') continue;
    return `metadata.${field}[${key}] must be a string, but is ${goType(item)} in converted object`;
  }
  if (deepEqual(value, before)) return undefined;
  const map = value as Record<string, string>;
  const problems =
    field === 'labels' ? labelErrors(map, 'metadata.labels') : annotationErrors(map, 'metadata.annotation');
  const texts = [...new Set(problems.map(printFieldError))];
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
}
