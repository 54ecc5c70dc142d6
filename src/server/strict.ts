/**
 * Strict mode: requests that depend on behaviour that the library does not model fail, or cause one warning, with a
 * reference to the documentation. The rules are in `strict-rules.ts`.
 */
import type { AdmissionPlugin, AdmissionRequest } from '../admission/types.js';
import { REFERENCE_RELEASE, type Release } from '../kinds/lifecycle.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { failure, StatusError } from '../meta/errors.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { getOrInsertComputed } from '../util/once.js';
import type { ServerContext } from './context.js';
import { dispatch } from './dispatch.js';
import {
  pointer,
  STRICT_LINES,
  STRICT_LOOKUPS,
  STRICT_RELEASE,
  STRICT_RULES,
  type StrictRule,
  type StrictSetting,
} from './strict-rules.js';
import { connectSubresourceOf } from './subresource.js';

/** Passed to clusters that support strict mode; `orchplane/core` leaves it out. */
export interface StrictMode {
  check(cluster: { readonly release: Release }): void;
  admission(setting: StrictSetting, warn: (warning: string) => void): AdmissionPlugin;
  dispatch(context: ServerContext, request: ApiRequest): MaybePromise<ApiResponse>;
}

/** Throws TypeError for options that strict mode does not support. */
function checkStrict({ release }: { readonly release: Release }): void {
  if (release === REFERENCE_RELEASE) return;
  throw new TypeError(
    `orchplane: strict: the behaviour of release ${release} is not modelled, only its versions and gates (${pointer(STRICT_RELEASE.anchor)})`,
  );
}

/** Checks every object that is about to be written. */
function strictAdmission(setting: StrictSetting, warn: (warning: string) => void): AdmissionPlugin {
  const told = new Set<StrictRule>();
  const rulesFor = new WeakMap<ServedKind, readonly StrictRule[]>();
  const selectRules = (served: ServedKind) =>
    STRICT_RULES.filter(({ kinds }) => kinds.includes(nameOf(served)) || kinds.includes('*'));
  return {
    name: 'Strict',
    isBuiltIn: true,
    validate(request) {
      const object = checkedObject(request);
      if (object === undefined) return;
      for (const rule of getOrInsertComputed(rulesFor, request.served, selectRules)) {
        if ((rule.on === 'DELETE') !== (request.operation === 'DELETE')) continue;
        if (rule.when?.(object, setting) === false) continue;
        if (rule.effect === 'refuse') throw notModelled(rule);
        if (told.has(rule)) continue;
        told.add(rule);
        warn(`${rule.what} (${pointer(rule.anchor)})`);
      }
    },
  };
}

/** The object to check; subresource writes contain nothing new. */
function checkedObject({ operation, subresource, object, oldObject }: AdmissionRequest): ApiObject | undefined {
  if (subresource !== '' || operation === 'CONNECT') return undefined;
  return operation === 'DELETE' ? oldObject : object;
}

/** As `dispatch`, except for requests whose real result the library cannot know. */
function dispatchStrictly(context: ServerContext, request: ApiRequest): MaybePromise<ApiResponse> {
  const served = context.registry.byResource(request.resource);
  if (served === undefined) return dispatch(context, request);
  const isConnect = connectSubresourceOf(served, request.subresource) !== undefined;
  if (isConnect && context.runtimeSlot.runtime === undefined) return dispatchConnect(context, request, served);
  const lookup = STRICT_LOOKUPS[nameOf(served)];
  if (lookup === undefined) return dispatch(context, request);
  // A denied user learns nothing else.
  return chain(dispatch(context, request), () => {
    throw notModelled(lookup);
  });
}

/** Requests that the reference server rejects itself (no such pod, no node) get its error. */
function dispatchConnect(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ApiResponse> {
  const what = `${qualifiedResource(served.gvr)}/${request.subresource ?? ''} is not modelled`;
  const refusal = notModelled({ what, anchor: STRICT_LINES.anchor });
  const answered = rescue(
    () => dispatch(context, request),
    (error) => {
      if (StatusError.is(error) && error.code < 500) throw error;
      throw refusal;
    },
  );
  return chain(answered, () => {
    throw refusal;
  });
}

/** Code 501 without a reason, because no reason of the API fits. */
function notModelled({ what, anchor }: Pick<StrictRule, 'what' | 'anchor'>): StatusError {
  return failure({ code: 501, message: `${what} (${pointer(anchor)})` });
}

/** The kind's name as in the rules. */
function nameOf({ kind: { group, kind } }: ServedKind): string {
  return group === '' ? kind : `${group}/${kind}`;
}

export const strictMode: StrictMode = { check: checkStrict, admission: strictAdmission, dispatch: dispatchStrictly };
