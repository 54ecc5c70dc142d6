/**
 * From one version of a custom kind to another: by nothing but the name of the version, by a function of this process,
 * or by a webhook. spec: Conversion
 */
import type { Dialect } from '../../meta/dialect.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import { quote } from '../../meta/go-text.js';
import { parseApiVersion, printGvk } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson, deepEqual, deepFreeze, isRecord } from '../../util/json.js';
import { isPromise, type MaybePromise } from '../../util/maybe-promise.js';
import type { ConvertObject, Outside, WebhookAddress } from '../attendant.js';

export interface Converter {
  /** Objects of one kind, of whatever versions, in the version that is asked for. */
  convert(objects: readonly ApiObject[], apiVersion: string): MaybePromise<readonly ApiObject[]>;
  readonly mayWait: boolean;
}

/** How the definition wants it done. */
export interface ConversionWish {
  readonly definition: string;
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookAddress;
    readonly conversionReviewVersions: readonly string[];
  };
}

export function converterFor(wish: ConversionWish, outside: Outside, dialect: Dialect): Converter {
  const own = Object.hasOwn(outside.conversions, wish.definition) ? outside.conversions[wish.definition] : undefined;
  if (own !== undefined) return byFunction(own);
  if (wish.strategy === 'Webhook' && wish.webhook?.clientConfig !== undefined) {
    return byWebhook(wish.webhook.clientConfig, wish.webhook.conversionReviewVersions, { outside, dialect });
  }
  return BY_NAME;
}

const BY_NAME: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => relabelled(object, apiVersion)),
  mayWait: false,
};

/** The same in another version, as if both had the same fields. */
export function relabelled(object: ApiObject, apiVersion: string): ApiObject {
  return object.apiVersion === apiVersion ? object : Object.freeze({ ...object, apiVersion });
}

function byFunction(convert: ConvertObject): Converter {
  const one = (object: ApiObject, apiVersion: string): MaybePromise<ApiObject> => {
    if (object.apiVersion === apiVersion) return object;
    const finish = (converted: DraftObject) => checked(object, converted, apiVersion, 0);
    try {
      const version = parseApiVersion(apiVersion)?.version ?? '';
      const made = convert(copyJson(object) as unknown as DraftObject, version);
      return made instanceof Promise ? made.then(finish, failed(object)) : finish(made);
    } catch (error) {
      return failed(object)(error);
    }
  };
  return {
    convert(objects, apiVersion) {
      const made = objects.map((object) => one(object, apiVersion));
      return made.some(isPromise) ? Promise.all(made) : (made as ApiObject[]);
    },
    mayWait: true,
  };
}

const TIMEOUT_SECONDS = 30;
const KNOWN_REVIEWS: readonly string[] = ['v1', 'v1beta1'];

function byWebhook(
  address: WebhookAddress,
  reviewVersions: readonly string[],
  about: { readonly outside: Outside; readonly dialect: Dialect },
): Converter {
  const group = about.dialect.group(serviceGroup('apiextensions'));
  const version = reviewVersions.find((name) => KNOWN_REVIEWS.includes(name)) ?? 'v1';
  const apiVersion = `${group}/${version}`;
  return {
    mayWait: true,
    convert(objects, desired) {
      const others = objects.filter((object) => object.apiVersion !== desired);
      const [first] = others;
      if (first === undefined) return objects;
      const uid = globalThis.crypto.randomUUID();
      const review = {
        kind: 'ConversionReview',
        apiVersion,
        request: { uid, desiredAPIVersion: desired, objects: others },
        response: { uid: '', convertedObjects: null, result: { metadata: {} } },
      };
      const answered = about.outside.webhooks(address, review, TIMEOUT_SECONDS);
      return answered.then((answer) => {
        const converted = convertedIn(answer, { uid, apiVersion, first });
        if (converted.length !== others.length) {
          const counts = `returned ${converted.length} objects, expected ${others.length}`;
          throw errors.plain(`conversion webhook for ${gvkOf(first)} ${counts}`);
        }
        let next = 0;
        return objects.map((object) =>
          object.apiVersion === desired ? object : checked(object, converted[next], desired, next++),
        );
      }, failed(first));
    },
  };
}

function gvkOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  return printGvk({ group: '', version: '', ...parseApiVersion(apiVersion), kind });
}

function failed(object: ApiObject): (error: unknown) => never {
  return (error) => {
    if (StatusError.is(error)) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw errors.plain(`conversion webhook for ${gvkOf(object)} failed: ${why}`);
  };
}

/** What a review came back with. */
function convertedIn(
  answer: unknown,
  { uid, apiVersion, first }: { readonly uid: string; readonly apiVersion: string; readonly first: ApiObject },
): readonly unknown[] {
  const fail = (why: string): never => failed(first)(new Error(why));
  if (!isRecord(answer) || answer['kind'] !== 'ConversionReview' || answer['apiVersion'] !== apiVersion) {
    const found = isRecord(answer) ? `${String(answer['apiVersion'])}, Kind=${String(answer['kind'])}` : typeof answer;
    return fail(`expected webhook response of ${apiVersion}, Kind=ConversionReview, got ${found}`);
  }
  const { response } = answer;
  if (!isRecord(response)) return fail('no response provided');
  if (response['uid'] !== uid) {
    return fail(`expected response.uid=${quote(uid)}, got ${quote(String(response['uid'] ?? ''))}`);
  }
  const { result, convertedObjects } = response;
  const status = isRecord(result) ? result['status'] : undefined;
  if (status !== 'Success') {
    const message = isRecord(result) ? result['message'] : undefined;
    if (typeof message === 'string' && message !== '') return fail(message);
    return fail(`response.result.status was '${typeof status === 'string' ? status : ''}', not 'Success'`);
  }
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

/** What of an object's metadata a conversion may change. */
const FREE_METADATA = ['labels', 'annotations'] as const;

/** Whether a converted object is still the same, with the metadata that is nobody's to change put back. */
function checked(before: ApiObject, converted: unknown, apiVersion: string, index: number): ApiObject {
  const refuse = (why: string) => errors.plain(`conversion webhook for ${gvkOf(before)} returned ${why}`);
  const invalidAt = (why: string) => refuse(`invalid object at index ${index}: ${why}`);
  if (!isRecord(converted)) throw invalidAt('no object');
  if (converted['apiVersion'] !== apiVersion) {
    const received = String(converted['apiVersion'] ?? '');
    throw invalidAt(`invalid groupVersion (expected ${apiVersion}, received ${received})`);
  }
  if (converted['kind'] !== before.kind) {
    throw invalidAt(`invalid kind (expected ${before.kind}, received ${String(converted['kind'] ?? '')})`);
  }
  const { metadata } = converted;
  if (!isRecord(metadata)) throw refuse('invalid metadata: metadata must be an object');
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if (deepEqual(metadata[field] ?? '', before.metadata[field] ?? '')) continue;
    throw refuse(`invalid metadata: metadata.${field} has been changed`);
  }
  const kept: Record<string, unknown> = { ...before.metadata };
  for (const field of FREE_METADATA) {
    const value = metadata[field];
    if (value === undefined || value === null) delete kept[field];
    else kept[field] = value;
  }
  return deepFreeze({ ...copyJson(converted as object), metadata: kept }) as unknown as ApiObject;
}
