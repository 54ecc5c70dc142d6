/**
 * How somebody is told no.
 */

import { errors, failure, type StatusError } from '../meta/errors.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { ApiRequest, User } from '../protocol/request.js';
import { quote } from '../text/go/go-text.js';

/** Requests that were asked about before they came to the server: over HTTP that is done before anything is looked up. */
const asked = new WeakSet<ApiRequest>();

/** Says that somebody was allowed to send this request, so that nobody is asked a second time. */
export function markAuthorized(request: ApiRequest): void {
  asked.add(request);
}

export function isAuthorized(request: ApiRequest): boolean {
  return asked.has(request);
}

const refusals = new WeakSet<StatusError>();

/** Whether somebody was refused for who they are, not for what they sent: such an answer has a header more. */
export function isAccessRefusal(error: StatusError): boolean {
  return refusals.has(error);
}

export function accessRefusal(user: User, attributes: AccessAttributes, decision: AccessDecision): StatusError {
  const text = withoutMarkup(refusalText(user, attributes));
  const why = decision.reason === '' ? text : `${text}: ${decision.reason}`;
  const error =
    attributes.type === 'path'
      ? failure({ reason: 'Forbidden', message: `forbidden: ${why}`, details: {} })
      : errors.forbidden({ group: attributes.group, resource: attributes.resource }, attributes.name, why);
  refusals.add(error);
  return error;
}

function refusalText({ user }: User, attributes: AccessAttributes): string {
  if (attributes.type === 'path') return `User ${quote(user)} cannot ${attributes.verb} path ${quote(attributes.path)}`;
  const { verb, group, resource, subresource, namespace } = attributes;
  const what = quote(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`;
  return `User ${quote(user)} cannot ${verb} resource ${what} in API group ${quote(group)} ${where}`;
}

const MARKUP: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** A name that somebody chose for himself may end up in somebody's browser. */
export function withoutMarkup(text: string): string {
  return text.replace(/[&<>]/g, (character) => MARKUP[character] ?? character);
}
