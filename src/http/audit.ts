/**
 * Audit records of HTTP requests.
 */

import { sourceIPs } from '../audit/event.js';
import type { AuditRecord } from '../audit/record.js';
import { ADMINISTRATOR } from '../auth/identity.js';
import type { StatusError } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { HttpRequest } from '../protocol/http.js';
import type { AuditNotes, User } from '../protocol/request.js';
import type { ActingUser, Identity } from './access.js';
import type { Exchange } from './exchange.js';

/**
 * Opens the audit record of an authenticated request. Everything after this is recorded, including rejected
 * impersonation.
 */
export function beginAuditRecord(exchange: Exchange, attributes: AccessAttributes, identity: Identity): void {
  const record = openAuditRecord(exchange, attributes, identity.user ?? ADMINISTRATOR);
  if (record === undefined) return;
  exchange.record = record;
  for (const [key, value] of Object.entries(identity.annotations ?? {})) record.annotate(key, value);
  record.received();
}

/** Adds the impersonated user, which is known only after the record is opened. */
export function recordImpersonation({ record }: Exchange, acting: Extract<ActingUser, { type: 'as' }>): void {
  if (acting.by !== undefined && acting.user !== undefined) record?.impersonated(acting.user);
}

/** Records a request whose authentication failed. */
export function recordUnauthenticated(exchange: Exchange, attributes: AccessAttributes, refusal: StatusError): void {
  openAuditRecord(exchange, attributes, undefined)?.unauthenticated({ code: refusal.code, object: refusal.status });
}

function openAuditRecord(
  exchange: Exchange,
  attributes: AccessAttributes,
  user: User | undefined,
): AuditRecord | undefined {
  const { request, auditId, userAgent, settings } = exchange;
  const { dialect, clock, audit } = settings.target;
  return audit?.begin(
    {
      attributes,
      user,
      auditId: () => auditId,
      requestURI: () => requestUriOf(request.url),
      sourceIPs: () => sourceIPsOf(request),
      userAgent,
    },
    { dialect, now: () => clock.now() },
  );
}

/**
 * The audit sink to pass to the cluster. When the policy does not record this request, a no-op sink prevents the
 * cluster from evaluating the policy again.
 */
export function auditNotesOf({ record, settings }: Exchange): AuditNotes | undefined {
  return record ?? (settings.target.audit === undefined ? undefined : NO_NOTES);
}

const NO_NOTES: AuditNotes = Object.freeze({ annotate: () => undefined });

/** The path and query of a URL. */
export function requestUriOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? '/' : url.slice(start);
}

function sourceIPsOf({ headers, remote }: HttpRequest): string[] {
  return sourceIPs({ forwardedFor: headers.get('x-forwarded-for'), realIp: headers.get('x-real-ip'), remote });
}
