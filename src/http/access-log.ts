/**
 * Reads the access checks of a log of requests: audit events, or the exchanges that `orchplane record` writes, one JSON
 * object in each line.
 */
import type { AccessCheck } from '../auth/access-report.js';
import { resourceAttributes } from '../auth/attributes.js';
import { dialects, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes } from '../protocol/access.js';
import { isRecord } from '../util/json.js';
import { attributesOfRoute } from './access.js';
import { parsePath } from './path.js';
import { isWatchRequested, parseQuery } from './query.js';
import { parseRecording, RECORDING_HEADER, type RecordedExchange, RecordingError } from './recording.js';

/** The log is not one of the supported formats. The message names the line. */
export class AccessLogError extends Error {
  override readonly name = 'AccessLogError';
}

/** The user of recorded exchanges, which do not contain the user. */
export const UNKNOWN_USER = 'unknown';

/**
 * The checks of a log, in its order. The source of a check is the user agent. Throws {@link AccessLogError} for the first
 * line that is not part of such a log. An incomplete line is left out after a call of `onTorn`: the program that writes it may
 * still run, or was killed and started again.
 */
export function readAccessLog(text: string, onTorn: () => void): AccessCheck[] {
  return text.startsWith(RECORDING_HEADER) ? readRecording(text, onTorn) : readAuditLog(text, onTorn);
}

function readRecording(text: string, onTorn: () => void): AccessCheck[] {
  try {
    return parseRecording(text, onTorn).flatMap(exchangeCheck);
  } catch (error) {
    if (error instanceof RecordingError) throw new AccessLogError(error.message);
    throw error;
  }
}

function readAuditLog(text: string, onTorn: () => void): AccessCheck[] {
  const lines = text.split('\n');
  const events = new Map<string, Json>();
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    const value = parseLine(line, index);
    if (value === undefined) {
      onTorn();
      return;
    }
    if (!isAuditEvent(value)) {
      throw new AccessLogError(`line ${index + 1} is neither an audit event nor a recording of "orchplane record"`);
    }
    rememberEvent(events, value);
  });
  return [...events.values()].flatMap(eventCheck);
}

type Json = Readonly<Record<string, unknown>>;

function parseLine(line: string, index: number): Json | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    // Another first line is no log.
    if (index > 0) return undefined;
    throw new AccessLogError(`line ${index + 1} is not JSON: ${error.message}`);
  }
  if (!isRecord(value)) throw new AccessLogError(`line ${index + 1} is not an object`);
  return value;
}

function isAuditEvent({ kind, apiVersion }: Json): boolean {
  const isAudit = dialects.some(({ group }) => String(apiVersion).startsWith(`${group(serviceGroup('audit'))}/`));
  return kind === 'Event' && isAudit;
}

/**
 * Keeps the last stage of each request: it has the response. The client chooses the ID, so requests of several users may share
 * one; the other parts are the same in all stages of a request.
 */
function rememberEvent(events: Map<string, Json>, event: Json): void {
  const { auditID, user, requestReceivedTimestamp, verb, requestURI } = event;
  const isIdentified = typeof auditID === 'string';
  const parts = [isIdentified ? auditID : events.size, user, requestReceivedTimestamp, verb, requestURI];
  events.set(JSON.stringify(parts), event);
}

function eventCheck(event: Json): AccessCheck[] {
  const { verb, requestURI, objectRef, user, impersonatedUser, userAgent, requestReceivedTimestamp } = event;
  const acting = isRecord(impersonatedUser) ? impersonatedUser : isRecord(user) ? user : {};
  if (typeof verb !== 'string' || typeof requestURI !== 'string') return [];
  return [
    {
      user: textOf(acting['username']) || 'system:anonymous',
      source: textOf(userAgent),
      attributes: isRecord(objectRef) ? objectAttributes(verb, objectRef) : pathAttributes(verb, requestURI),
      time: timeOf(requestReceivedTimestamp),
      allowed: !isRefused(event),
    },
  ];
}

/** The authorizer's decision. Admission plugins also answer 403, to requests that the authorizer allowed. */
function isRefused({ annotations, responseStatus }: Json): boolean {
  const given = isRecord(annotations) ? annotations : {};
  for (const { group } of dialects) {
    const decision = given[`${group(serviceGroup('authorization'))}/decision`];
    if (decision !== undefined) return decision === 'forbid';
  }
  return isRecord(responseStatus) && responseStatus['code'] === 403;
}

function objectAttributes(verb: string, reference: Json): AccessAttributes {
  const { apiGroup, apiVersion, resource, subresource, namespace, name } = reference;
  return resourceAttributes({
    verb,
    group: textOf(apiGroup),
    version: textOf(apiVersion),
    resource: textOf(resource),
    subresource: textOf(subresource),
    namespace: textOf(namespace),
    name: textOf(name),
  });
}

function exchangeCheck(exchange: RecordedExchange): AccessCheck[] {
  const { time, method, path: uri, requestHeaders, status, responseBody } = exchange;
  const [path = '', search = ''] = uri.split('?', 2);
  const route = parsePath(path);
  if (route.type === 'malformed') return [];
  const query = parseQuery(search);
  return [
    {
      user: UNKNOWN_USER,
      source: requestHeaders['user-agent'] ?? '',
      attributes: attributesOfRoute(route, { path, query, call: { method, watch: isWatchRequested(query) } }),
      time: timeOf(time),
      allowed: status !== 403 || !isRefusal(textOf(responseBody)),
    },
  ];
}

/** Whether the body of a 403 is the authorizer's. Admission plugins do not name the user. */
function isRefusal(body: string): boolean {
  return body === '' || /forbidden: User \\?"/.test(body);
}

function pathAttributes(verb: string, uri: string): AccessAttributes {
  return { type: 'path', verb, path: pathOf(uri) };
}

function pathOf(uri: string): string {
  return uri.split('?', 1)[0] ?? uri;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** In milliseconds; zero for an entry without a time. */
function timeOf(text: unknown): number {
  return Date.parse(textOf(text)) || 0;
}
