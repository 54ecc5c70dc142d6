/**
 * The audit record of one request. The server reports what happens to the request; each event contains what is known at
 * its stage.
 */

import type { Deprecation } from '../kinds/lifecycle.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import { type AuditNotes, shownUser, type User } from '../protocol/request.js';
import { MAX_CHARACTERS } from '../protocol/value-limits.js';
import { formatDuration } from '../text/time/duration.js';
import { formatMicroTime } from '../text/time/time.js';
import { copyJson, deepFreeze, isRecord, MAX_DEPTH, type MutableRecord, NumberText, setOwn } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import type { AuditEvent, AuditLevel, AuditObjectReference, AuditStage, AuditStatus, AuditUser } from './event.js';
import type { AuditConfig } from './policy.js';

/** The request as known on arrival. The functions are called only if an event is recorded. */
export interface AuditedRequest {
  readonly attributes: AccessAttributes;
  /** Absent if authentication failed. */
  readonly user?: User | undefined;
  readonly auditId: () => string;
  /** The path and query as the client sent them; see `requestUri` for in-process requests. */
  readonly requestURI: () => string;
  /** See `sourceIPs`. */
  readonly sourceIPs?: () => readonly string[];
  readonly userAgent?: string | undefined;
  /** The arrival time in milliseconds since the epoch. Default: now. */
  readonly receivedMs?: number;
}

/** What records need of their cluster. */
export interface AuditContext {
  readonly dialect: Dialect;
  /** Milliseconds since the epoch by the cluster's clock. */
  readonly now: () => number;
}

export interface AuditResponse {
  readonly code: number;
  /** The response body; absent for streams and empty responses. */
  readonly object?: unknown;
}

/** Methods may be called in any order and repeatedly; calls after the end are ignored, and annotations beyond a limit. */
export interface AuditRecord extends AuditNotes {
  readonly auditId: string;
  readonly level: AuditLevel;
  /** Processing of the request begins. */
  received(): void;
  decision(decision: AccessDecision): void;
  deprecated(deprecation: Pick<Deprecation, 'removedRelease'>): void;
  impersonated(user: User): void;
  /** The decoded object of the request, or its patch. It is copied. */
  requestObject(object: unknown): void;
  /** The headers of the response are sent. Only long-running requests have an event for it. */
  responseStarted(code: number): void;
  /** The response is finished. Without an argument: a started response ended, or nothing was sent. */
  complete(answer?: AuditResponse): void;
  /** Authentication failed: the only event of such a request. */
  unauthenticated(answer: AuditResponse): void;
  panic(error: unknown): void;
}

/** Longer user agents are truncated. */
const MAX_USER_AGENT = 1024;
/** Slower requests get a latency annotation. */
const SLOW_MS = 500;

const LONG_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

export class RequestRecord implements AuditRecord {
  readonly auditId: string;
  readonly #request: AuditedRequest;
  readonly #config: AuditConfig;
  readonly #context: AuditContext;
  readonly #write: (event: AuditEvent) => void;
  readonly #receivedMs: number;
  readonly #annotations: Record<string, string> = {};
  #annotationCharacters = 0;
  #head: CommonFields | undefined;
  #impersonated: AuditUser | undefined;
  #objectRef: AuditObjectReference | undefined;
  #requestObject: unknown;
  #responseObject: unknown;
  #status: AuditStatus | undefined;
  #deprecation: Pick<Deprecation, 'removedRelease'> | undefined;
  #started = false;
  #ended = false;

  constructor(
    request: AuditedRequest,
    config: AuditConfig,
    sink: { readonly context: AuditContext; readonly write: (event: AuditEvent) => void },
  ) {
    this.auditId = request.auditId();
    this.#request = request;
    this.#config = config;
    this.#context = sink.context;
    this.#write = sink.write;
    this.#receivedMs = request.receivedMs ?? sink.context.now();
    this.#objectRef = referenceTo(request.attributes);
  }

  get level(): AuditLevel {
    return this.#config.level;
  }

  received(): void {
    if (!this.#ended && !this.#started) this.#emit('RequestReceived', this.#receivedMs);
  }

  annotate(key: string, value: string, contains?: 'body'): void {
    if (contains === 'body' && this.level === 'Metadata') return;
    if (Object.hasOwn(this.#annotations, key)) return;
    const characters = this.#annotationCharacters + key.length + value.length;
    if (characters > MAX_CHARACTERS) return;
    this.#annotationCharacters = characters;
    setOwn(this.#annotations, key, value);
  }

  decision({ allowed, reason, error }: AccessDecision): void {
    const group = this.#context.dialect.group(serviceGroup('authorization'));
    // An authorizer that failed without a reason did not decide.
    const failed = !allowed && error !== undefined && reason === '';
    if (!failed) this.annotate(`${group}/decision`, allowed ? 'allow' : 'forbid');
    this.annotate(`${group}/reason`, failed ? 'internal error' : reason);
  }

  deprecated(deprecation: Pick<Deprecation, 'removedRelease'>): void {
    this.#deprecation = deprecation;
  }

  impersonated(user: User): void {
    this.#impersonated = shownUser(user);
  }

  requestObject(object: unknown): void {
    // A patch contains no metadata that the path does not.
    if (this.#request.attributes.verb !== 'patch') this.#objectRef = referenceWith(this.#objectRef, object);
    if (this.#config.level === 'Metadata') return;
    this.#requestObject = recordedObject(object, this.#config);
  }

  responseStarted(code: number): void {
    if (this.#ended || this.#started) return;
    this.#started = true;
    this.#status = { ...(this.#status ?? { metadata: {} }), code };
    if (isLongRunning(this.#request.attributes)) this.#emit('ResponseStarted');
  }

  complete(answer?: AuditResponse): void {
    if (this.#ended) return;
    if (answer !== undefined) this.#recordResponse(answer);
    else if (!this.#started) this.#status ??= CLOSED_EARLY;
    // A long-running request always has a ResponseStarted event.
    if (!this.#started) this.responseStarted(this.#status?.code ?? 200);
    this.#finish('ResponseComplete');
  }

  unauthenticated(answer: AuditResponse): void {
    if (this.#ended) return;
    this.#recordResponse(answer);
    this.#finish('ResponseStarted');
  }

  panic(error: unknown): void {
    if (this.#ended) return;
    const message = `APIServer panic'd: ${messageOf(error)}`;
    this.#status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
    this.#finish('Panic');
  }

  #recordResponse({ code, object }: AuditResponse): void {
    this.#status = { ...statusOf(object), code };
    if (object !== undefined && this.#config.level === 'RequestResponse') {
      this.#responseObject = recordedObject(object, this.#config);
    }
  }

  #finish(stage: AuditStage): void {
    this.#ended = true;
    const nowMs = this.#context.now();
    if (stage === 'ResponseComplete') this.#annotateEnd(nowMs - this.#receivedMs);
    this.#emit(stage, nowMs);
  }

  /** Annotations of the last event only. */
  #annotateEnd(tookMs: number): void {
    const { dialect } = this.#context;
    if (this.#deprecation !== undefined) {
      const { removedRelease } = this.#deprecation;
      this.annotate(dialect.systemKey('deprecated'), 'true');
      if (removedRelease !== '') this.annotate(dialect.systemKey('removed-release'), removedRelease);
    }
    if (tookMs > SLOW_MS) {
      const group = dialect.group(serviceGroup('apiserver.latency'));
      this.annotate(`${group}/total`, formatDuration(BigInt(Math.round(tookMs * 1e6))));
    }
  }

  #emit(stage: AuditStage, atMs = this.#context.now()): void {
    if (!this.#config.omitStages.has(stage)) this.#write(deepFreeze(this.#event(stage, atMs)));
  }

  #event(stage: AuditStage, atMs: number): AuditEvent {
    const head = this.#commonFields();
    // Assigned in wire order without spreads: most fields are absent, and there are many events.
    const event: Mutable<AuditEvent> = {
      kind: 'Event',
      apiVersion: head.apiVersion,
      level: this.#config.level,
      auditID: this.auditId,
      stage,
      requestURI: head.requestURI,
      verb: this.#request.attributes.verb,
      user: head.user,
    } as Mutable<AuditEvent>;
    if (this.#impersonated !== undefined) event.impersonatedUser = this.#impersonated;
    if (head.sourceIPs.length > 0) event.sourceIPs = head.sourceIPs;
    if (head.userAgent !== '') event.userAgent = head.userAgent;
    if (this.#objectRef !== undefined) event.objectRef = this.#objectRef;
    if (this.#status !== undefined) event.responseStatus = this.#status;
    if (this.#requestObject !== undefined) event.requestObject = this.#requestObject;
    if (this.#responseObject !== undefined) event.responseObject = this.#responseObject;
    event.requestReceivedTimestamp = head.received;
    event.stageTimestamp = atMs === this.#receivedMs ? head.received : formatMicroTime(atMs);
    const annotations = sorted(this.#annotations);
    if (annotations !== undefined) event.annotations = annotations;
    return event;
  }

  #commonFields(): CommonFields {
    this.#head ??= commonFieldsOf(this.#request, this.#context, this.#receivedMs);
    return this.#head;
  }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** The common part of all events of a request. */
interface CommonFields {
  readonly apiVersion: string;
  readonly requestURI: string;
  readonly user: AuditUser;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly received: string;
}

function commonFieldsOf(
  { user, requestURI, sourceIPs, userAgent = '' }: AuditedRequest,
  context: AuditContext,
  ms: number,
): CommonFields {
  return deepFreeze({
    apiVersion: `${context.dialect.group(serviceGroup('audit'))}/v1`,
    requestURI: requestURI(),
    user: user === undefined ? {} : shownUser(user),
    sourceIPs: [...(sourceIPs?.() ?? [])],
    userAgent: truncated(userAgent),
    received: formatMicroTime(ms),
  });
}

/** The status of a request whose client disconnected before the response. */
const CLOSED_EARLY: AuditStatus = deepFreeze({
  metadata: {},
  status: 'Success',
  message: 'Connection closed early',
  code: 200,
});

function isLongRunning(attributes: AccessAttributes): boolean {
  return (
    attributes.type === 'resource' && (attributes.verb === 'watch' || LONG_SUBRESOURCES.has(attributes.subresource))
  );
}

function truncated(userAgent: string): string {
  return userAgent.length > MAX_USER_AGENT ? `${userAgent.slice(0, MAX_USER_AGENT)}...TRUNCATED` : userAgent;
}

/** The fields of a Status; for other responses only the code is known. */
function statusOf(object: unknown): AuditStatus {
  if (!isRecord(object) || object['kind'] !== 'Status' || object['apiVersion'] !== 'v1') return { metadata: {} };
  const { status, message, reason, details } = object as Partial<AuditStatus>;
  return {
    metadata: {},
    ...(status ? { status } : {}),
    ...(message ? { message } : {}),
    ...(reason ? { reason } : {}),
    ...(details === undefined ? {} : { details: copyJson(details) }),
  };
}

function referenceTo(attributes: AccessAttributes): AuditObjectReference | undefined {
  if (attributes.type === 'path') return undefined;
  const { resource, namespace, name, group, version, subresource } = attributes;
  return inWireOrder({ resource, namespace, name, apiGroup: group, apiVersion: version, subresource });
}

/** Adds metadata that only the object contains: name of a created object, uid, resourceVersion. */
function referenceWith(ref: AuditObjectReference | undefined, object: unknown): AuditObjectReference | undefined {
  const metadata = isRecord(object) ? object['metadata'] : undefined;
  if (ref === undefined || !isRecord(metadata)) return ref;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return inWireOrder({
    ...ref,
    namespace: ref.namespace || text(metadata['namespace']),
    name: ref.name || text(metadata['name']),
    uid: ref.uid || text(metadata['uid']),
    resourceVersion: ref.resourceVersion || text(metadata['resourceVersion']),
  });
}

const REFERENCE_FIELDS = [
  'resource',
  'namespace',
  'name',
  'uid',
  'apiGroup',
  'apiVersion',
  'resourceVersion',
  'subresource',
] as const satisfies readonly (keyof AuditObjectReference)[];

function inWireOrder(ref: AuditObjectReference): AuditObjectReference {
  const result: Mutable<AuditObjectReference> = {};
  for (const field of REFERENCE_FIELDS) {
    const value = ref[field];
    if (value) result[field] = value;
  }
  return result;
}

/** A sorted copy, because annotations may be added later. */
function sorted(annotations: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const keys = Object.keys(annotations).sort();
  if (keys.length === 0) return undefined;
  const copy: Record<string, string> = {};
  for (const key of keys) setOwn(copy, key, annotations[key]);
  return copy;
}

function recordedObject(object: unknown, { omitManagedFields }: { readonly omitManagedFields: boolean }): unknown {
  if (!omitManagedFields) return Object.isFrozen(object) && isRecord(object) ? object : copied(object);
  return copied(withoutManagedFields(object));
}

/** Like copyJson, but converts NumberText to numbers and stops at cycles. */
function copied(value: unknown, depth = 0): unknown {
  if (value instanceof NumberText) return value.toJSON();
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1));
  if (!isRecord(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) setOwn(copy, key, copied(value[key], depth + 1));
  return copy;
}

/** Removes managedFields from the object, the items of a list and the row objects of a table. */
function withoutManagedFields(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const result = withoutOwnManagedFields(object);
  if (Array.isArray(result['items'])) return { ...result, items: result['items'].map(cleanIfObject) };
  if (result['kind'] !== 'Table' || !Array.isArray(result['rows'])) return result;
  const rows = result['rows'].map((row: unknown) =>
    isRecord(row) ? { ...row, object: cleanIfObject(row['object']) } : row,
  );
  return { ...result, rows };
}

function cleanIfObject(value: unknown): unknown {
  return isRecord(value) ? withoutOwnManagedFields(value) : value;
}

function withoutOwnManagedFields(object: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = object;
  if (!isRecord(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _left, ...rest } = metadata;
  return { ...object, metadata: rest };
}
