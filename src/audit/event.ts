/**
 * Audit events as the reference server writes them, and the line that one is in a log. spec: Events
 */

import { type Ip, parseIpSloppy, printIp } from '../meta/ip.js';
import { percentEncode, queryText } from '../protocol/query-text.js';
import type { ApiRequest } from '../protocol/request.js';
import { escapeForPages, printJson } from '../util/json.js';

/** How much is written down, from nothing to everything. */
export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

/** The moments of a request at which an event may be written. */
export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

export interface AuditUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a request was about. Parts that are empty are absent. */
export interface AuditObjectReference {
  readonly resource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly apiGroup?: string;
  readonly apiVersion?: string;
  readonly resourceVersion?: string;
  readonly subresource?: string;
}

/** A Status without its kind; of an answer that is no Status it has the code alone. */
export interface AuditStatus {
  readonly metadata: object;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
  readonly code?: number;
}

/** Frozen, and the same for every reader. Keys stand in wire order. */
export interface AuditEvent {
  readonly kind: 'Event';
  readonly apiVersion: string;
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditUser;
  readonly impersonatedUser?: AuditUser;
  readonly sourceIPs?: readonly string[];
  readonly userAgent?: string;
  /** Absent for pages of the server's own. */
  readonly objectRef?: AuditObjectReference;
  /** Absent as long as there is no answer. */
  readonly responseStatus?: AuditStatus;
  /** From the level Request on. */
  readonly requestObject?: unknown;
  /** At the level RequestResponse. */
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * An event as one line of a log, with the break at its end. Not JSON.stringify: integers may be larger than that can
 * print.
 */
export function auditLine(event: AuditEvent): string {
  return `${escapeForPages(printJson(event))}\n`;
}

/** The path and the query: `/api/v1/namespaces/default/pods?limit=5`. */
export function requestUri(request: ApiRequest): string {
  return `${pathOf(request)}${queryText(request)}`;
}

function pathOf({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  const { group, version } = resource;
  let path =
    group === '' ? `/api/${percentEncode(version)}` : `/apis/${percentEncode(group)}/${percentEncode(version)}`;
  if (namespace) path += `/namespaces/${percentEncode(namespace)}`;
  path += `/${percentEncode(resource.resource)}`;
  // The name of what is created stands in the body, except below an object.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${percentEncode(name)}`;
  return subresource === undefined ? path : `${path}/${percentEncode(subresource)}`;
}

interface RequestOrigin {
  /** The header X-Forwarded-For. Anybody can write anything in it, so only its addresses are taken. */
  readonly forwardedFor?: string | null;
  /** The header X-Real-Ip. */
  readonly realIp?: string | null;
  /** The other end of the connection, with its port or without; absent where there is no connection. */
  readonly remote?: string | undefined;
}

/** Addresses from the client on. The last one alone cannot be made up by the client. */
export function sourceIPs({ forwardedFor, realIp, remote }: RequestOrigin): string[] {
  const found: string[] = [];
  for (const part of forwardedFor?.split(',') ?? []) {
    const ip = parseIpSloppy(part.trim());
    if (ip !== undefined) found.push(printIp(ip));
  }
  const real = realIp ? parseIpSloppy(realIp) : undefined;
  if (real !== undefined && !found.includes(printIp(real))) found.push(printIp(real));
  const other = remote === undefined ? undefined : remoteIp(remote);
  if (other !== undefined && found.at(-1) !== printIp(other)) found.push(printIp(other));
  return found;
}

/** `10.0.0.1:4711`, `[::1]:4711`, or the address alone. */
function remoteIp(remote: string): Ip | undefined {
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\]|([^:]*)):[^:]*$/.exec(remote) ?? [];
  return parseIpSloppy(inBrackets ?? plain ?? remote) ?? parseIpSloppy(remote);
}
