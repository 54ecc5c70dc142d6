/**
 * What is written down about one request while it is answered. Whoever answers tells each thing as it happens; events
 * are made of what is known at their stage.
 */

import type { Deprecation } from '../kinds/lifecycle.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { AccessAttributes, AccessDecision } from '../protocol/access.js';
import type { AuditNotes, User } from '../protocol/request.js';
import { shownUser } from '../protocol/user-info.js';
import { formatDuration } from '../text/time/duration.js';
import { formatMicroTime } from '../text/time/time.js';
import { copyJson, deepFreeze, isRecord, MAX_DEPTH, type MutableRecord, NumberText, setOwn } from '../util/json.js';
import { messageOf } from '../util/message-of.js';
import type { AuditEvent, AuditLevel, AuditObjectReference, AuditStage, AuditStatus, AuditUser } from './event.js';
import type { AuditConfig } from './policy.js';

/** What is known of a request when it comes. Functions are called when an event is to be written, and only then. */
export interface AuditedRequest {
  readonly attributes: AccessAttributes;
  /** Absent: nobody knows who asks. */
  readonly user?: User | undefined;
  readonly auditId: () => string;
  /** The path and the query, as the client wrote them; see `requestUri` for requests of this process. */
  readonly requestURI: () => string;
  /** See `sourceIPs`. */
  readonly sourceIPs?: () => readonly string[];
  readonly userAgent?: string | undefined;
  /** When it came, where that is not now. Milliseconds since the epoch. */
  readonly receivedMs?: number;
}

/** What records have of their cluster. */
export interface AuditSetting {
  readonly dialect: Dialect;
  /** Milliseconds since the epoch, by the cluster's clock. */
  readonly now: () => number;
}

export interface AuditAnswer {
  readonly code: number;
  /** What the client is sent; absent for streams and empty answers. */
  readonly object?: unknown;
}

/** Methods may be called in any order and more than once; what comes after the end is ignored. */
export interface AuditRecord extends AuditNotes {
  readonly auditId: string;
  readonly level: AuditLevel;
  /** The request is about to be looked at. */
  received(): void;
  decision(decision: AccessDecision): void;
  deprecated(deprecation: Pick<Deprecation, 'removedRelease'>): void;
  impersonated(user: User): void;
  /** The object of the request, decoded, or its patch. It is copied. */
  sent(object: unknown): void;
  /** The head of an answer without end goes out. Of other answers the end alone is an event. */
  responseStarted(code: number): void;
  /** The last byte has gone out. Without an answer: what was said to have started has ended, or nothing was sent. */
  complete(answer?: AuditAnswer): void;
  /** Nobody could tell who asks: the one event of such a request. */
  unauthenticated(answer: AuditAnswer): void;
  panic(error: unknown): void;
}

/** Beyond this many characters the name of a client is cut. */
const LONGEST_USER_AGENT = 1024;
/** Whoever waited longer than this is told how long. */
const SLOW_MS = 500;

const LONG_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

export class RequestRecord implements AuditRecord {
  readonly auditId: string;
  readonly #request: AuditedRequest;
  readonly #config: AuditConfig;
  readonly #setting: AuditSetting;
  readonly #write: (event: AuditEvent) => void;
  readonly #receivedMs: number;
  readonly #annotations: Record<string, string> = {};
  #head: Head | undefined;
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
    about: { readonly setting: AuditSetting; readonly write: (event: AuditEvent) => void },
  ) {
    this.auditId = request.auditId();
    this.#request = request;
    this.#config = config;
    this.#setting = about.setting;
    this.#write = about.write;
    this.#receivedMs = request.receivedMs ?? about.setting.now();
    this.#objectRef = referenceTo(request.attributes);
  }

  get level(): AuditLevel {
    return this.#config.level;
  }

  received(): void {
    if (!this.#ended && !this.#started) this.#emit('RequestReceived', this.#receivedMs);
  }

  annotate(key: string, value: string, shows?: 'body'): void {
    if (shows === 'body' && this.level === 'Metadata') return;
    if (!Object.hasOwn(this.#annotations, key)) setOwn(this.#annotations, key, value);
  }

  decision({ allowed, reason, error }: AccessDecision): void {
    const group = this.#setting.dialect.group(serviceGroup('authorization'));
    // An authorizer that failed and has nothing to say did not decide.
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

  sent(object: unknown): void {
    // A patch names nothing that the address does not.
    if (this.#request.attributes.verb !== 'patch') this.#objectRef = referenceWith(this.#objectRef, object);
    if (this.#config.level === 'Metadata') return;
    this.#requestObject = keptObject(object, this.#config);
  }

  responseStarted(code: number): void {
    if (this.#ended || this.#started) return;
    this.#started = true;
    this.#status = { ...(this.#status ?? { metadata: {} }), code };
    if (isLongRunning(this.#request.attributes)) this.#emit('ResponseStarted');
  }

  complete(answer?: AuditAnswer): void {
    if (this.#ended) return;
    if (answer !== undefined) this.#answered(answer);
    else if (!this.#started) this.#status ??= CLOSED_EARLY;
    // Whatever becomes of it, a request that could have been long has begun to be answered.
    if (!this.#started) this.responseStarted(this.#status?.code ?? 200);
    this.#finish('ResponseComplete');
  }

  unauthenticated(answer: AuditAnswer): void {
    if (this.#ended) return;
    this.#answered(answer);
    this.#finish('ResponseStarted');
  }

  panic(error: unknown): void {
    if (this.#ended) return;
    const message = `APIServer panic'd: ${messageOf(error)}`;
    this.#status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
    this.#finish('Panic');
  }

  #answered({ code, object }: AuditAnswer): void {
    this.#status = { ...statusOf(object), code };
    if (object !== undefined && this.#config.level === 'RequestResponse') {
      this.#responseObject = keptObject(object, this.#config);
    }
  }

  #finish(stage: AuditStage): void {
    this.#ended = true;
    const nowMs = this.#setting.now();
    if (stage === 'ResponseComplete') this.#annotateEnd(nowMs - this.#receivedMs);
    this.#emit(stage, nowMs);
  }

  /** What stands in the last event alone. */
  #annotateEnd(tookMs: number): void {
    const { dialect } = this.#setting;
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

  #emit(stage: AuditStage, atMs = this.#setting.now()): void {
    if (!this.#config.omitStages.has(stage)) this.#write(deepFreeze(this.#event(stage, atMs)));
  }

  #event(stage: AuditStage, atMs: number): AuditEvent {
    const head = this.#headOnce();
    // Field by field, in wire order: most are absent most of the time, and there are many events.
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

  #headOnce(): Head {
    this.#head ??= headOf(this.#request, this.#setting, this.#receivedMs);
    return this.#head;
  }
}

type Mutable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

/** What all events of a request have in common. */
interface Head {
  readonly apiVersion: string;
  readonly requestURI: string;
  readonly user: AuditUser;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly received: string;
}

function headOf(
  { user, requestURI, sourceIPs, userAgent = '' }: AuditedRequest,
  setting: AuditSetting,
  ms: number,
): Head {
  return deepFreeze({
    apiVersion: `${setting.dialect.group(serviceGroup('audit'))}/v1`,
    requestURI: requestURI(),
    user: user === undefined ? {} : shownUser(user),
    sourceIPs: [...(sourceIPs?.() ?? [])],
    userAgent: shortened(userAgent),
    received: formatMicroTime(ms),
  });
}

/** The answer to whoever hung up before there was one. */
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

function shortened(userAgent: string): string {
  return userAgent.length > LONGEST_USER_AGENT ? `${userAgent.slice(0, LONGEST_USER_AGENT)}...TRUNCATED` : userAgent;
}

/** A Status tells everything about itself; of any other answer nothing is known but its code. */
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
  return inOrder({ resource, namespace, name, apiGroup: group, apiVersion: version, subresource });
}

/** The name of what is created, and which state a change is meant for, stand in the object alone. */
function referenceWith(ref: AuditObjectReference | undefined, object: unknown): AuditObjectReference | undefined {
  const metadata = isRecord(object) ? object['metadata'] : undefined;
  if (ref === undefined || !isRecord(metadata)) return ref;
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return inOrder({
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

function inOrder(ref: AuditObjectReference): AuditObjectReference {
  const shown: Mutable<AuditObjectReference> = {};
  for (const field of REFERENCE_FIELDS) {
    const value = ref[field];
    if (value) shown[field] = value;
  }
  return shown;
}

/** A copy in the order of the keys: there may be more later. */
function sorted(annotations: Readonly<Record<string, string>>): Record<string, string> | undefined {
  const keys = Object.keys(annotations).sort();
  if (keys.length === 0) return undefined;
  const copy: Record<string, string> = {};
  for (const key of keys) setOwn(copy, key, annotations[key]);
  return copy;
}

function keptObject(object: unknown, { omitManagedFields }: { readonly omitManagedFields: boolean }): unknown {
  if (!omitManagedFields) return Object.isFrozen(object) && isRecord(object) ? object : copied(object);
  return copied(withoutManagedFields(object));
}

/** Like copyJson, but numbers of a body that kept their spelling become plain ones, and circles end somewhere. */
function copied(value: unknown, depth = 0): unknown {
  if (value instanceof NumberText) return value.toJSON();
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1));
  if (!isRecord(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) setOwn(copy, key, copied(value[key], depth + 1));
  return copy;
}

/** Of the object itself, of the items of a list and of the objects that rows of a table carry along. */
function withoutManagedFields(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const shown = bare(object);
  if (Array.isArray(shown['items'])) return { ...shown, items: shown['items'].map(bareIfObject) };
  if (shown['kind'] !== 'Table' || !Array.isArray(shown['rows'])) return shown;
  const rows = shown['rows'].map((row: unknown) =>
    isRecord(row) ? { ...row, object: bareIfObject(row['object']) } : row,
  );
  return { ...shown, rows };
}

function bareIfObject(value: unknown): unknown {
  return isRecord(value) ? bare(value) : value;
}

function bare(object: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = object;
  if (!isRecord(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _left, ...rest } = metadata;
  return { ...object, metadata: rest };
}
