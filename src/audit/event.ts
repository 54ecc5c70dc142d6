/**
 * Audit events as the reference server writes them, their log lines, and the values of requestURI and sourceIPs.
 * spec: Events
 */

import { type Ip, parseIpSloppy, printIp } from '../meta/ip.js';
import { type ApiRequest, percentEncode, queryText } from '../protocol/request.js';
import { escapeForPages, printJson } from '../util/json.js';
import { hasMoreCharacters } from '../util/json-bytes.js';
import { sortedRecord } from '../util/order.js';

/** How much is recorded, from nothing to everything. */
export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

/** The stages of a request at which an event may be recorded. */
export const AUDIT_STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type AuditStage = (typeof AUDIT_STAGES)[number];

export interface AuditUser {
  readonly username?: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The target of a request. Empty parts are absent. */
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

/** A Status without its kind; for other responses only the code. */
export interface AuditStatus {
  readonly metadata: object;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: object;
  readonly code?: number;
}

/** Frozen and shared by all readers. Keys are in wire order. */
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
  /** Absent for non-resource requests. */
  readonly objectRef?: AuditObjectReference;
  /** Absent before the response. */
  readonly responseStatus?: AuditStatus;
  /** At level Request and above. */
  readonly requestObject?: unknown;
  /** At the level RequestResponse. */
  readonly responseObject?: unknown;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A limit of our own: the reference server has one of 100 KiB, which applies only if it is told to truncate. */
const MAX_LINE_CHARACTERS = 10 * 1024 * 1024;

/**
 * An event as one line of a log, including the line break. Not JSON.stringify, because integers may be bigints. A line that
 * would be too long has no objects: the response to a list can be longer than any text.
 */
export function auditLine(event: AuditEvent): string {
  const written = hasMoreCharacters(event, MAX_LINE_CHARACTERS) ? withoutObjects(event) : event;
  return `${escapeForPages(printJson(written))}\n`;
}

/** upstream: apiserver/plugin/pkg/audit/truncate/truncate.go truncate */
function withoutObjects(event: AuditEvent): AuditEvent {
  const { requestObject: _request, responseObject: _response, annotations, ...rest } = event;
  const [group] = event.apiVersion.split('/');
  return { ...rest, annotations: sortedRecord(Object.entries({ ...annotations, [`${group}/truncated`]: 'true' })) };
}

/** The request URI of an in-process request: `/api/v1/namespaces/default/pods?limit=5`. spec: Path shapes */
export function requestUri(request: ApiRequest): string {
  return `${pathOf(request)}${queryText(request)}`;
}

function pathOf({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  const { group, version } = resource;
  let path =
    group === '' ? `/api/${percentEncode(version)}` : `/apis/${percentEncode(group)}/${percentEncode(version)}`;
  if (namespace) path += `/namespaces/${percentEncode(namespace)}`;
  path += `/${percentEncode(resource.resource)}`;
  // The name of a created object is in the body, except for subresources.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${percentEncode(name)}`;
  return subresource === undefined ? path : `${path}/${percentEncode(subresource)}`;
}

export interface RequestOrigin {
  /** The header X-Forwarded-For. Its content is untrusted; only valid addresses are used. */
  readonly forwardedFor?: string | null;
  /** The header X-Real-Ip. */
  readonly realIp?: string | null;
  /** The peer of the connection, with or without port; absent if there is no connection. */
  readonly remote?: string | undefined;
}

/** The addresses from the client to the server. Clients can forge all but the last one. */
export function sourceIPs({ forwardedFor, realIp, remote }: RequestOrigin): string[] {
  const found: string[] = [];
  for (const part of lastAddresses(forwardedFor ?? '').split(',')) {
    const ip = parseIpSloppy(part.trim());
    if (ip !== undefined) found.push(printIp(ip));
  }
  const real = realIp ? parseIpSloppy(realIp) : undefined;
  if (real !== undefined && !found.includes(printIp(real))) found.push(printIp(real));
  const other = remote === undefined ? undefined : remoteIp(remote);
  if (other !== undefined && found.at(-1) !== printIp(other)) found.push(printIp(other));
  return found;
}

const MAX_FORWARDED = 16 * 1024;

/** The end of a long header: proxies add addresses there, and the client may have sent a megabyte of others. */
function lastAddresses(header: string): string {
  const end = header.slice(-MAX_FORWARDED);
  if (end.length === header.length) return end;
  const comma = end.indexOf(',');
  return comma < 0 ? '' : end.slice(comma + 1);
}

/** `10.0.0.1:4711`, `[::1]:4711`, or the address alone. */
function remoteIp(remote: string): Ip | undefined {
  const [, inBrackets, plain] = /^(?:\[([^\]]*)\]|([^:]*)):[^:]*$/.exec(remote) ?? [];
  return parseIpSloppy(inBrackets ?? plain ?? remote) ?? parseIpSloppy(remote);
}
