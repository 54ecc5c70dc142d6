/**
 * The question that a webhook is asked: an AdmissionReview, field by field in the order of the reference server.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { GroupVersionKind, GroupVersionResource } from '../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { shownUser } from '../../protocol/user-info.js';
import type { WireObject } from '../match/form.js';
import type { Match } from '../match/types.js';
import type { AdmissionRequest } from '../types.js';

/** A review that a webhook can read. */
export interface Review {
  readonly uid: string;
  readonly apiVersion: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The versions of a review that there are; a webhook is asked in the first one that it lists and we know. */
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
  const { subresource, sentName, namespace, options } = request;
  const below = subresource === '' ? {} : { subResource: match.subresource };
  const belowRequested = subresource === '' ? {} : { requestSubResource: subresource };
  const body = {
    kind: 'AdmissionReview',
    apiVersion,
    request: {
      uid,
      kind: kindOf(match.kind),
      resource: resourceOf(match.resource),
      ...below,
      requestKind: kindOf(request.objectKind),
      requestResource: resourceOf(request.served.gvr),
      ...belowRequested,
      ...(sentName === '' ? {} : { name: sentName }),
      ...(namespace === '' ? {} : { namespace }),
      operation: request.operation,
      userInfo: shownUser(request.user),
      object: object ?? null,
      oldObject: oldObject ?? null,
      dryRun: request.dryRun,
      // A line has none.
      options: Object.keys(options).length === 0 ? null : options,
    },
  };
  return { uid, apiVersion, body };
}

function kindOf({ group, version, kind }: GroupVersionKind): GroupVersionKind {
  return { group, version, kind };
}

function resourceOf({ group, version, resource }: GroupVersionResource): GroupVersionResource {
  return { group, version, resource };
}
