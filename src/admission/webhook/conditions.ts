/**
 * The match conditions of a webhook: expressions that all have to hold, or it is not asked.
 */
import { errors } from '../../meta/errors.js';
import { webhookConditions } from '../cel/match-conditions.js';
import type { ClusterView } from '../types.js';
import type { Hook } from './hooks.js';
import type { Reviewed } from './review.js';

/** Throws 403 where that cannot be told, unless the webhook is one that may fail. */
export function conditionsHold({ webhook }: Hook, reviewed: Reviewed, view: ClusterView): boolean {
  const { matchConditions, failurePolicy } = webhook;
  if (matchConditions === undefined || matchConditions.length === 0) return true;
  const { request, match, object, oldObject } = reviewed;
  // The kind is the one that the webhook sees; the resource is the one that was asked for.
  const { gvr } = request.served;
  const input = { request, kind: match.kind, resource: gvr, object, oldObject, view };
  const verdict = webhookConditions(matchConditions, failurePolicy, input);
  if (verdict.error === undefined) return verdict.matches;
  throw errors.forbidden({ group: gvr.group, resource: gvr.resource }, request.sentName, verdict.error);
}
