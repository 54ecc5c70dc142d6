/**
 * Builds the AdmissionReview request for a webhook, with the fields in the reference server's order.
 * upstream: apiserver/pkg/admission/plugin/webhook/request/admissionreview.go CreateV1AdmissionReview
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { shownUser } from '../../protocol/request.js';
import type { Match } from '../match/types.js';
import type { WireObject } from '../match/wire-object.js';
import type { AdmissionRequest } from '../types.js';

/** An AdmissionReview to send. */
export interface Review {
  readonly uid: string;
  readonly apiVersion: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The supported versions; a webhook gets the first of its own list that is supported. */
const VERSIONS: readonly string[] = ['v1', 'v1beta1'];

export function reviewVersionOf(accepted: readonly string[], dialect: Dialect): string | undefined {
  const version = accepted.find((name) => VERSIONS.includes(name));
  return version === undefined ? undefined : `${dialect.group(serviceGroup('admission'))}/${version}`;
}

export interface Reviewed {
  readonly request: AdmissionRequest<DraftObject | ApiObject>;
  readonly match: Match;
  readonly object: WireObject | undefined;
  readonly oldObject: WireObject | undefined;
}

export function reviewOf({ request, match, object, oldObject }: Reviewed, apiVersion: string, uid: string): Review {
  const sent = requestInReview(request, match, { uid, object, oldObject });
  return { uid, apiVersion, body: { kind: 'AdmissionReview', apiVersion, request: sent } };
}

/** The `request` of an AdmissionReview; empty fields are omitted. CEL expressions see it without uid and objects. */
export function requestInReview(
  request: Reviewed['request'],
  match: Pick<Match, 'kind' | 'resource'>,
  parts: { readonly uid?: string } & Partial<Pick<Reviewed, 'object' | 'oldObject'>> = {},
): Readonly<Record<string, unknown>> {
  const { subresource, sentName, namespace, options } = request;
  return {
    uid: parts.uid ?? '',
    kind: kindOf(match.kind),
    resource: resourceOf(match.resource),
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: kindOf(request.objectKind),
    requestResource: resourceOf(request.served.gvr),
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(sentName === '' ? {} : { name: sentName }),
    ...(namespace === '' ? {} : { namespace }),
    operation: request.operation,
    userInfo: shownUser(request.user),
    object: parts.object ?? null,
    oldObject: parts.oldObject ?? null,
    dryRun: request.dryRun,
    // CONNECT requests have none.
    options: Object.keys(options).length === 0 ? null : options,
  };
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

function resourceOf({ group, version, resource }: GroupVersionResource): GroupVersionResource {
  return { group, version, resource };
}
