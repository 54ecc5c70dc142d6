/**
 * Requests over HTTP, written down where the cluster keeps a log.
 */

import { sourceIPs } from '../audit/event.js';
import type { AuditRecord } from '../audit/record.js';
import { ADMINISTRATOR } from '../auth/identity.js';
import type { StatusError } from '../meta/errors.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { AuditNotes, User } from '../protocol/request.js';
import type { Acting, Identity } from './access.js';
import type { HttpRequest } from './answer.js';
import type { Exchange } from './exchange.js';

/** Who asks for what. From here on whatever becomes of the request is written down, refusals to impersonate included. */
export function beginRecord(exchange: Exchange, attributes: AccessAttributes, identity: Identity): void {
  const record = openRecord(exchange, attributes, identity.user ?? ADMINISTRATOR);
  if (record === undefined) return;
  exchange.record = record;
  for (const [key, value] of Object.entries(identity.annotations ?? {})) record.annotate(key, value);
  record.received();
}

/** On whose behalf, which is known a little later. */
export function recordActing({ record }: Exchange, acting: Extract<Acting, { type: 'as' }>): void {
  if (acting.by !== undefined && acting.user !== undefined) record?.impersonated(acting.user);
}

/** Nobody could tell who asks. */
export function recordStranger(exchange: Exchange, attributes: AccessAttributes, refusal: StatusError): void {
  openRecord(exchange, attributes, undefined)?.unauthenticated({ code: refusal.code, object: refusal.status });
}

function openRecord(exchange: Exchange, attributes: AccessAttributes, user: User | undefined): AuditRecord | undefined {
  const { request, auditId, userAgent, setting } = exchange;
  const { dialect, clock, audit } = setting.target;
  return audit?.begin(
    {
      attributes,
      user,
      auditId: () => auditId,
      requestURI: () => uriOf(request.url),
      sourceIPs: () => originOf(request),
      userAgent,
    },
    { dialect, now: () => clock.now() },
  );
}

/** What goes with the request to the cluster: a log that wants nothing of it is not asked again there. */
export function notesOf({ record, setting }: Exchange): AuditNotes | undefined {
  return record ?? (setting.target.audit === undefined ? undefined : NOTHING_IS_NOTED);
}

const NOTHING_IS_NOTED: AuditNotes = Object.freeze({ annotate: () => undefined });

/** From the path on. */
export function uriOf(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  return start === -1 ? '/' : url.slice(start);
}

function originOf({ headers, remote }: HttpRequest): string[] {
  return sourceIPs({ forwardedFor: headers.get('x-forwarded-for'), realIp: headers.get('x-real-ip'), remote });
}
