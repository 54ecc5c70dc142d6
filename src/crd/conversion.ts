/**
 * Conversion between the versions of a CRD: by changing only the apiVersion (strategy None), by a function of this
 * process, or by a webhook. spec: Conversion
 */

import type { ConvertObject, ReconcilerHost, WebhookAddress, WebhookCaller } from '../kinds/reconciler.js';
import type { Dialect } from '../meta/dialect.js';
import { serviceGroup } from '../meta/dialect.js';
import { errors } from '../meta/errors.js';
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { cloneJson, copyJson, isRecord } from '../util/json.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { webhookCaller } from '../webhook/caller.js';
import { checked, convertedIn, failed, gvkOf } from './converted.js';

/** Converts objects between versions of one CRD. */
export interface Converter {
  /** Converts objects of one kind, of any versions, to the given apiVersion. */
  convert(objects: readonly ApiObject[], apiVersion: string): MaybePromise<readonly ApiObject[]>;
  readonly mayWait: boolean;
}

/** The conversion settings of a CRD. */
export interface ConversionWish {
  readonly definition: string;
  readonly strategy: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookAddress;
    readonly conversionReviewVersions: readonly string[];
  };
}

/** Returns the converter for a CRD. A function that was registered for the CRD takes precedence over its webhook. */
export function converterFor(
  wish: ConversionWish,
  { external: outside, dialect, clock, objects }: Pick<ReconcilerHost, 'external' | 'dialect' | 'clock' | 'objects'>,
): Converter {
  const own = Object.hasOwn(outside.conversions, wish.definition) ? outside.conversions[wish.definition] : undefined;
  if (own !== undefined) return byFunction(own);
  if (wish.strategy === 'Webhook' && wish.webhook?.clientConfig !== undefined) {
    const { clientConfig, conversionReviewVersions } = wish.webhook;
    const call = webhookCaller(outside.webhooks, {
      clock,
      service: (namespace, name) => objects.get({ group: '', resource: 'services', namespace, name }),
    });
    return byWebhook(clientConfig, conversionReviewVersions, { call, uid: () => outside.uid(), dialect });
  }
  return BY_NAME;
}

const BY_NAME: Converter = {
  convert: (objects, apiVersion) => objects.map((object) => relabelled(object, apiVersion)),
  mayWait: false,
};

/** Returns the object with another apiVersion and otherwise unchanged (strategy None). */
export function relabelled(object: ApiObject, apiVersion: string): ApiObject {
  return object.apiVersion === apiVersion ? object : Object.freeze({ ...object, apiVersion });
}

function byFunction(convert: ConvertObject): Converter {
  const one = (object: ApiObject, apiVersion: string): MaybePromise<ApiObject> => {
    if (object.apiVersion === apiVersion) return object;
    const finish = (converted: unknown) => {
      if (!isRecord(converted)) throw new TypeError(`the function returned ${describe(converted)}, no object`);
      return checked(object, cloneJson(converted), apiVersion, 0);
    };
    try {
      const version = parseApiVersion(apiVersion)?.version ?? '';
      const made = convert(copyJson(object) as unknown as DraftObject, version);
      // A promise of another realm is not an instance of this realm's Promise.
      return isThenable(made) ? Promise.resolve(made).then(finish).catch(failed(object)) : finish(made);
    } catch (error) {
      return failed(object)(error);
    }
  };
  return {
    convert(objects, apiVersion) {
      const made: MaybePromise<ApiObject>[] = [];
      try {
        for (const object of objects) made.push(one(object, apiVersion));
      } catch (error) {
        // The first error fails the conversion. Later rejections are handled here so that they are not reported as
        // unhandled.
        for (const other of made) if (isPromise(other)) other.catch(() => undefined);
        throw error;
      }
      return made.some(isPromise) ? Promise.all(made) : (made as ApiObject[]);
    },
    mayWait: true,
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

function describe(value: unknown): string {
  return Array.isArray(value) ? 'a list' : value === null || value === undefined ? String(value) : `a ${typeof value}`;
}

const TIMEOUT_SECONDS = 30;
const KNOWN_REVIEWS: readonly string[] = ['v1', 'v1beta1'];

function byWebhook(
  address: WebhookAddress,
  reviewVersions: readonly string[],
  about: { readonly call: WebhookCaller; readonly uid: () => string; readonly dialect: Dialect },
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
      const uid = about.uid();
      const review = {
        kind: 'ConversionReview',
        apiVersion,
        request: { uid, desiredAPIVersion: desired, objects: others },
        response: { uid: '', convertedObjects: null, result: { metadata: {} } },
      };
      const finish = (answer: unknown): readonly ApiObject[] => {
        const converted = convertedIn(answer, { uid, apiVersion, first });
        if (converted.length !== others.length) {
          const counts = `returned ${converted.length} objects, expected ${others.length}`;
          throw errors.plain(`conversion webhook for ${gvkOf(first)} ${counts}`);
        }
        let next = 0;
        return objects.map((object) =>
          object.apiVersion === desired ? object : checked(object, converted[next], desired, next++),
        );
      };
      const call = async () => finish(await about.call(address, review, TIMEOUT_SECONDS));
      return call().catch(failed(first));
    },
  };
}
