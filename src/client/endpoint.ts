/**
 * Where the requests of one `api()` go, resolved once: the resource in the server's dialect, the namespace, the user.
 * It builds requests and takes answers apart; it knows no verbs. Internal to this folder.
 */
import type { Kind } from '../kinds/kind.js';
import { dialects } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import type { GroupVersionResource } from '../meta/gvk.js';
import { apiVersionOf } from '../meta/gvk.js';
import type { ApiRequest, RequestOptions, Verb } from '../protocol/request.js';
import type { ApiResponse, ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import type { WatchStream } from '../protocol/watch-event.js';
import { untilAborted } from '../util/abort.js';
import { invariant } from '../util/invariant.js';
import { isRecord, own } from '../util/json.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { isPromise } from '../util/maybe-promise.js';
import { pinHiddenClass } from '../util/pin-hidden-class.js';
import type { ClientDefaults } from './options.js';
import { deleteDefaults, writeDefaults } from './options.js';

/** A client's transport and defaults, in the form requests need. */
export interface Connection {
  readonly transport: Transport;
  readonly defaults: ClientDefaults;
  readonly namespace: string;
  readonly writes: RequestOptions;
  readonly deletes: RequestOptions;
  /** What kinds are called at the other end, worked out once. */
  readonly names: WeakMap<Kind, NamesThere>;
}

interface NamesThere {
  readonly resource: GroupVersionResource;
  readonly apiVersion: string;
}

function namesThere({ names, transport }: Connection, kind: Kind): NamesThere {
  let known = names.get(kind);
  if (known === undefined) {
    const { version } = kind;
    const group = transport.dialect.group(kind.group);
    known = {
      resource: Object.freeze({ group, version, resource: kind.names.plural }),
      apiVersion: apiVersionOf({ group, version }),
    };
    names.set(kind, known);
  }
  return known;
}

export function connect(transport: Transport, defaults: ClientDefaults): Connection {
  const namespace = defaults.namespace ?? 'default';
  return {
    transport,
    defaults,
    namespace,
    writes: writeDefaults(defaults),
    deletes: deleteDefaults(defaults),
    names: new WeakMap(),
  };
}

/** A request under construction. */
export type DraftRequest = { -readonly [Part in keyof ApiRequest]: ApiRequest[Part] };

export interface Place {
  /** Undefined: a cluster-scoped kind, or all namespaces. */
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
}

export class Endpoint {
  readonly connection: Connection;
  readonly kind: Kind;
  readonly resource: GroupVersionResource;
  readonly place: Place;
  /** What is sent and read here: below an object it may be another kind than the object's. */
  readonly #bodyKind: Kind;
  readonly #apiVersion: string;

  constructor(connection: Connection, kind: Kind, place: Place) {
    const names = namesThere(connection, kind);
    this.connection = connection;
    this.kind = kind;
    this.place = place;
    this.resource = names.resource;
    this.#bodyKind = bodyKindOf(kind, place.subresource);
    const { apiVersion } = this.#bodyKind === kind ? names : namesThere(connection, this.#bodyKind);
    this.#apiVersion = apiVersion;
  }

  /** The same place with a subresource below each object. */
  below(subresource: string): Endpoint {
    return new Endpoint(this.connection, this.kind, { namespace: this.place.namespace, subresource });
  }

  /** A request of the whole collection; the caller adds a name or a body where the verb has one. */
  // All members at once, absent ones too: all requests then have one form, which the server reads fastest.
  request(verb: Verb, options: RequestOptions, signal: AbortSignal | undefined): DraftRequest {
    const { place, connection } = this;
    return {
      verb,
      resource: this.resource,
      subresource: place.subresource,
      namespace: place.namespace,
      name: undefined,
      options,
      body: undefined,
      patchType: undefined,
      user: connection.defaults.as,
      audit: undefined,
      userAgent: undefined,
      origin: connection.transport.origin,
      signal,
    };
  }

  /**
   * Sends a request that is answered by an object, a list or a Status; which of them is the caller's knowledge. At
   * once where the transport answers at once. Throws what the transport throws, and the signal's reason.
   */
  send<Answer>(request: ApiRequest): MaybePromise<Answer> {
    const { signal } = request;
    signal?.throwIfAborted();
    const sent = this.#send(request);
    if (!isPromise(sent)) return this.#answer<Answer>(sent);
    return untilAborted(sent, signal).then((response) => this.#answer<Answer>(response));
  }

  /** A failure of a server in this process has the stack of who asked, not of how deep the server was by then. */
  #send(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    try {
      return this.connection.transport.send(request);
    } catch (error) {
      if (StatusError.is(error) && error.code < 500) Error.captureStackTrace?.(error, this.send);
      throw error;
    }
  }

  /** Sends a watch request. Whoever calls must close the stream, also when nobody wants it any more. */
  open(request: ApiRequest): MaybePromise<WatchStream> {
    const sent = this.connection.transport.send(request);
    return isPromise(sent) ? sent.then((response) => this.#stream(response)) : this.#stream(sent);
  }

  /** The value as a body that says what it is: a real server refuses some kinds without it. */
  body(input: unknown, verb: Verb | 'apply'): Record<string, unknown> {
    if (!isRecord(input))
      throw new TypeError(`orchplane: ${verb} of ${this.kind.kind} needs an object, got ${show(input)}`);
    const { apiVersion } = input;
    if (apiVersion !== undefined && apiVersion !== this.#apiVersion) this.#checkDialect(apiVersion);
    if (apiVersion !== undefined && input['kind'] !== undefined) return input;
    const { kind } = this.#bodyKind;
    const body: Record<string, unknown> = { kind, apiVersion: this.#apiVersion, ...input };
    body['apiVersion'] ??= this.#apiVersion;
    body['kind'] ??= kind;
    return body;
  }

  /** The name, if it can be one; `call` is what asks for it. */
  name(name: unknown, call: string): string {
    if (typeof name === 'string' && name !== '') return name;
    throw new TypeError(`orchplane: ${call} of ${this.kind.kind} needs the name of an object, got ${show(name)}`);
  }

  /** A manifest in the other spelling would only be told that nobody knows its version. */
  #checkDialect(apiVersion: unknown): void {
    const { group, version } = this.#bodyKind;
    const { dialect } = this.connection.transport;
    for (const other of dialects) {
      if (other.name === dialect.name || apiVersion !== apiVersionOf({ group: other.group(group), version })) continue;
      throw new TypeError(
        `orchplane: "${apiVersion}" is how the ${other.name} dialect spells it, and this cluster speaks ${dialect.name}: leave the apiVersion out, write "${this.#apiVersion}", or use createCluster({ dialect: '${other.name}' })`,
      );
    }
  }

  #answer<Answer>(response: ApiResponse): Answer {
    invariant(response.type === 'object', 'a watch answered a request that was none');
    if (response.warnings.length > 0) this.#warn(response.warnings);
    return response.object as ObjectResponse['object'] & Answer;
  }

  #stream(response: ApiResponse): WatchStream {
    invariant(response.type === 'watch', 'a watch request was answered without a stream');
    if (response.warnings.length > 0) this.#warn(response.warnings);
    return response.watch;
  }

  #warn(warnings: readonly string[]): void {
    const { onWarning } = this.connection.defaults;
    if (onWarning !== undefined) for (const warning of warnings) onWarning(warning);
  }
}

function bodyKindOf(kind: Kind, subresource: string | undefined): Kind {
  const declared = subresource === undefined ? undefined : own(kind.subresources, subresource);
  return declared?.type === undefined ? kind : declared.kind;
}

/** A wrong argument, for a message. */
export function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : typeof value;
}

/** An endpoint that leads nowhere. */
export const NO_ENDPOINT = new Endpoint(
  connect({ dialect: dialects[0] } as Transport, {}),
  { group: '', version: '', names: { plural: '' }, subresources: { status: { verbs: [] } } } as unknown as Kind,
  { namespace: '', subresource: '' },
);
pinHiddenClass(NO_ENDPOINT);
