/**
 * Conversion between the versions of a CRD: by changing only the apiVersion (strategy None), by a function of this
 * process, or by a webhook. The result is checked: the ConversionReview response must be valid, and the objects must
 * keep their identity. The messages are those of the reference server, also for functions.
 * spec: CustomResourceDefinition
 * upstream: apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go webhookConverter.Convert
 */

import type { ConvertObject, ReconcilerHost, WebhookAddress, WebhookCaller } from '../kinds/reconciler.js';
import { reviewTypeProblem, typeMetaOf } from '../kinds/review-answer.js';
import { annotationErrors } from '../kinds/shared/annotations.js';
import type { Dialect } from '../meta/dialect.js';
import { serviceGroup } from '../meta/dialect.js';
import { errors, StatusError } from '../meta/errors.js';
import { aggregateText, printFieldError } from '../meta/field-error.js';
import { parseApiVersion, printGvk } from '../meta/gvk.js';
import { labelErrors } from '../meta/labels.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { MAX_OBJECT_CONTAINERS, TOO_MANY_CONTAINERS } from '../protocol/value-limits.js';
import { jsonType } from '../schema/decode-scalar.js';
import { quote } from '../text/go/go-text.js';
import { goType } from '../text/go/go-value.js';
import { cloneJson, copyJson, deepEqual, deepFreeze, isRecord, printJson } from '../util/json.js';
import { hasMoreContainers } from '../util/json-bytes.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { createWebhookCaller } from '../webhook/caller.js';

/** Converts objects between versions of one CRD. */
export interface Converter {
  /** Converts objects of one kind, of any versions, to the given apiVersion. */
  convert(objects: readonly ApiObject[], apiVersion: string): MaybePromise<readonly ApiObject[]>;
  readonly mayBeAsynchronous: boolean;
}

/** The conversion settings of a CRD. */
export interface ConversionSettings {
  readonly crdName: string;
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookAddress;
    readonly conversionReviewVersions: readonly string[];
  };
}

/** Returns the converter for a CRD. A function that was registered for the CRD takes precedence over its webhook. */
export function createConverter(
  settings: ConversionSettings,
  { external, dialect, clock, objects }: Pick<ReconcilerHost, 'external' | 'dialect' | 'clock' | 'objects'>,
): Converter {
  const registered = Object.hasOwn(external.conversions, settings.crdName)
    ? external.conversions[settings.crdName]
    : undefined;
  if (registered !== undefined) return functionConverter(registered);
  if (settings.strategy === 'Webhook' && settings.webhook?.clientConfig !== undefined) {
    const { clientConfig, conversionReviewVersions } = settings.webhook;
    const { webhooks, runtimeSlot } = external;
    const call = createWebhookCaller(webhooks, { clock, objects, dialect, runtimeSlot });
    return webhookConverter(clientConfig, conversionReviewVersions, { call, uid: () => external.uid(), dialect });
  }
  return NO_CONVERSION;
}

const NO_CONVERSION: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => withApiVersion(object, apiVersion)),
  mayBeAsynchronous: false,
};

/** Returns the object with another apiVersion and otherwise unchanged (strategy None). */
function withApiVersion(object: ApiObject, apiVersion: string): ApiObject {
  return object.apiVersion === apiVersion ? object : Object.freeze({ ...object, apiVersion });
}

function functionConverter(convert: ConvertObject): Converter {
  const convertOne = (object: ApiObject, apiVersion: string): MaybePromise<ApiObject> => {
    if (object.apiVersion === apiVersion) return object;
    const finish = (converted: unknown) => {
      if (!isRecord(converted)) throw new TypeError(`the function returned ${describeValue(converted)}, not an object`);
      return checkConvertedObject(object, cloneJson(converted), apiVersion, 0);
    };
    try {
      const version = parseApiVersion(apiVersion)?.version ?? '';
      const converted = convert(copyJson(object) as DraftObject, version);
      // A promise of another realm is not an instance of this realm's Promise.
      return isThenable(converted)
        ? Promise.resolve(converted).then(finish).catch(conversionFailure(object))
        : finish(converted);
    } catch (error) {
      return conversionFailure(object)(error);
    }
  };
  return {
    // One after the other.
    convert(objects, apiVersion) {
      const converted: ApiObject[] = [];
      let done: MaybePromise<unknown>;
      for (const object of objects) {
        done = chain(done, () => chain(convertOne(object, apiVersion), (result) => converted.push(result)));
      }
      return chain(done, () => converted);
    },
    mayBeAsynchronous: true,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function describeValue(value: unknown): string {
  return Array.isArray(value) ? 'a list' : value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

const TIMEOUT_SECONDS = 30;
const SUPPORTED_REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];

function webhookConverter(
  address: WebhookAddress,
  reviewVersions: readonly string[],
  context: { readonly call: WebhookCaller; readonly uid: () => string; readonly dialect: Dialect },
): Converter {
  const group = context.dialect.group(serviceGroup('apiextensions'));
  const version = reviewVersions.find((name) => SUPPORTED_REVIEW_VERSIONS.includes(name)) ?? 'v1';
  const apiVersion = `${group}/${version}`;
  return {
    mayBeAsynchronous: true,
    convert(objects, desired) {
      const others = objects.filter((object) => object.apiVersion !== desired);
      const [first] = others;
      if (first === undefined) return objects;
      const uid = context.uid();
      const review = {
        kind: 'ConversionReview',
        apiVersion,
        request: { uid, desiredAPIVersion: desired, objects: others },
        response: { uid: '', convertedObjects: null, result: { metadata: {} } },
      };
      const finish = (review: unknown): readonly ApiObject[] => {
        const converted = convertedObjects(review, { uid, apiVersion, first });
        if (converted.length !== others.length) {
          const counts = `returned ${converted.length} objects, expected ${others.length}`;
          throw errors.plain(`conversion webhook for ${gvkOf(first)} ${counts}`);
        }
        let next = 0;
        return objects.map((object) =>
          object.apiVersion === desired ? object : checkConvertedObject(object, converted[next], desired, next++),
        );
      };
      const call = async () => finish(await context.call(address, review, TIMEOUT_SECONDS));
      return call().catch(conversionFailure(first));
    },
  };
}

/** The request that a ConversionReview response answers. */
interface ConversionRequest {
  readonly uid: string;
  /** Group and version of the ConversionReview. */
  readonly apiVersion: string;
  readonly first: ApiObject;
}

/**
 * Returns the converted objects of a ConversionReview response. Throws if the response is invalid or reports a failure.
 */
function convertedObjects(review: unknown, request: ConversionRequest): readonly unknown[] {
  const fail = (why: string): never => conversionFailure(request.first)(new Error(why));
  const problem = reviewProblem(review, request);
  if (problem !== undefined) return fail(problem);
  const response = isRecord(review) ? review['response'] : undefined;
  if (response === undefined || response === null) return fail('no response provided');
  const isV1 = request.apiVersion.endsWith('/v1');
  if (!isRecord(response)) {
    const { version = '' } = parseApiVersion(request.apiVersion) ?? {};
    const field = `Go struct field ConversionReview.response of type ${version}.ConversionResponse`;
    return fail(`json: cannot unmarshal ${jsonType(response)} into ${field}`);
  }
  const uid = typeof response['uid'] === 'string' ? response['uid'] : '';
  // Only v1 requires the response to repeat the UID; v1beta1 does not.
  if (isV1 && uid !== request.uid) return fail(`expected response.uid=${quote(request.uid)}, got ${quote(uid)}`);
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
function reviewProblem(review: unknown, { apiVersion }: ConversionRequest): string | undefined {
  const expected = { apiVersion, kind: 'ConversionReview' };
  const unreadable = reviewTypeProblem(review, expected);
  if (unreadable !== undefined) return unreadable;
  const actual = typeMetaOf(review);
  const isComplete = actual.apiVersion === apiVersion && actual.kind === expected.kind;
  if (isComplete || !apiVersion.endsWith('/v1')) return undefined;
  return `expected webhook response of ${gvkOf(expected)}, got ${gvkOf(actual)}`;
}

/**
 * Checks that a converted object has the expected type and unchanged identity, and restores all metadata that a
 * conversion must not change.
 */
function checkConvertedObject(before: ApiObject, converted: unknown, apiVersion: string, index: number): ApiObject {
  const reject = (why: string) => errors.plain(`conversion webhook for ${gvkOf(before)} returned ${why}`);
  const problem = decodeProblem(converted);
  if (problem !== undefined) throw errors.plain(problem);
  const object = converted as Record<string, unknown>;
  const received = textOf(object['apiVersion']);
  const location = `invalid object at index ${index}`;
  if (hasMoreContainers(object, MAX_OBJECT_CONTAINERS)) throw reject(`${location}: ${TOO_MANY_CONTAINERS}`);
  if (received !== apiVersion) {
    throw reject(`${location}: invalid groupVersion (expected ${apiVersion}, received ${received})`);
  }
  if (object['kind'] !== before.kind) {
    throw reject(`${location}: invalid kind (expected ${before.kind}, received ${textOf(object['kind'])})`);
  }
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  for (const [field, label] of IDENTITY_FIELDS) {
    const [was, is] = [before.metadata[field] ?? '', textOf(metadata[field])];
    if (was !== is) throw reject(`invalid object: must have the same ${label}: ${was} != ${is}`);
  }
  const merged: Record<string, unknown> = { ...before.metadata };
  for (const field of MUTABLE_METADATA) {
    const value = metadata[field] ?? undefined;
    const problem = value === undefined ? undefined : metadataMapProblem(field, value, before.metadata[field] ?? {});
    if (problem !== undefined) throw reject(`invalid metadata: ${problem}`);
    if (value === undefined) delete merged[field];
    else merged[field] = copyJson(value);
  }
  return deepFreeze({ ...copyJson(object), metadata: merged }) as ApiObject;
}

const IDENTITY_FIELDS = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const;

/** The metadata fields that a conversion may change. */
const MUTABLE_METADATA = ['labels', 'annotations'] as const;

function decodeProblem(converted: unknown): string | undefined {
  if (converted === null || converted === undefined) return 'unexpected end of JSON input';
  if (!isRecord(converted)) {
    return `json: cannot unmarshal ${jsonType(converted)} into Go value of type map[string]interface {}`;
  }
  const apiVersion = textOf(converted['apiVersion']);
  const isNamed = textOf(converted['kind']) !== '' && (apiVersion === '' || parseApiVersion(apiVersion) !== undefined);
  return isNamed ? undefined : `Object 'Kind' is missing in '${printJson(converted)}'`;
}

/** Validates converted labels or annotations. Unchanged maps are not validated again. */
function metadataMapProblem(
  field: (typeof MUTABLE_METADATA)[number],
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
  return problems.length === 0 ? undefined : aggregateText(problems.map(printFieldError));
}

/** The group, version and kind of an object as conversion errors print it. */
function gvkOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return printGvk({ group: '', version: '', ...parseApiVersion(apiVersion), kind });
}

/**
 * Returns an error handler that rethrows a StatusError and wraps any other error as a failure of the conversion
 * webhook.
 */
function conversionFailure(object: ApiObject): (error: unknown) => never {
  return (error) => {
    if (StatusError.is(error)) throw error;
    const why = messageOf(error);
    throw errors.plain(`conversion webhook for ${gvkOf(object)} failed: ${why}`);
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
