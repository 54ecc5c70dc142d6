/**
 * The target of the requests of one `api()`, resolved once: the resource in the server's dialect, the namespace, the
 * user. It builds requests and unwraps responses, independent of verbs. Internal to this folder.
 */
import type { Kind } from '../kinds/kind.js';
import { dialects } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { apiVersionOf, type GroupVersionResource } from '../meta/gvk.js';
import type { ApiRequest, RequestOptions, Verb } from '../protocol/request.js';
import type { ApiResponse, ObjectResponse } from '../protocol/response.js';
import type { Transport } from '../protocol/transport.js';
import type { WatchStream } from '../protocol/watch-event.js';
import { untilAborted } from '../util/abort.js';
import { invariant } from '../util/invariant.js';
import { isRecord, own } from '../util/json.js';
import { isPromise, type MaybePromise } from '../util/maybe-promise.js';
import { getOrInsertComputed } from '../util/once.js';
import { type ClientDefaults, deleteDefaults, writeDefaults } from './options.js';

/** A client's transport and its defaults as request options. */
export interface ClientConfig {
  readonly transport: Transport;
  readonly defaults: ClientDefaults;
  readonly namespace: string;
  /** The options of a write without options of its own, from the defaults. */
  readonly writeOptions: RequestOptions;
  /** The same for a delete. */
  readonly deleteOptions: RequestOptions;
  /** Cache: the names of kinds in the server's dialect. */
  readonly names: WeakMap<Kind, ServerNames>;
}

interface ServerNames {
  readonly resource: GroupVersionResource;
  readonly apiVersion: string;
}

function serverNames({ names, transport }: ClientConfig, kind: Kind): ServerNames {
  return getOrInsertComputed(names, kind, ({ version }) => {
    const group = transport.dialect.group(kind.group);
    const resource = Object.freeze({ group, version, resource: kind.names.plural });
    return { resource, apiVersion: apiVersionOf({ group, version }) };
  });
}

/** Resolves the defaults of a client once. */
export function resolveDefaults(transport: Transport, defaults: ClientDefaults): ClientConfig {
  const namespace = defaults.namespace ?? 'default';
  return {
    transport,
    defaults,
    namespace,
    writeOptions: writeDefaults(defaults),
    deleteOptions: deleteDefaults(defaults),
    names: new WeakMap(),
  };
}

/** A request under construction. */
export type DraftRequest = { -readonly [Part in keyof ApiRequest]: ApiRequest[Part] };

/** The namespace and subresource of an endpoint. */
export interface EndpointScope {
  /** Undefined: a cluster-scoped kind, or all namespaces. */
  readonly namespace: string | undefined;
  readonly subresource: string | undefined;
}

/** Builds and sends the requests for one kind at one place. */
export class Endpoint {
  readonly config: ClientConfig;
  readonly kind: Kind;
  readonly resource: GroupVersionResource;
  readonly scope: EndpointScope;
  /** The kind of bodies at this endpoint; that of a subresource may differ from the object's. */
  readonly bodyKind: Kind;
  readonly #apiVersion: string;

  constructor(config: ClientConfig, kind: Kind, scope: EndpointScope) {
    const names = serverNames(config, kind);
    this.config = config;
    this.kind = kind;
    this.scope = scope;
    this.resource = names.resource;
    this.bodyKind = bodyKindOf(kind, scope.subresource);
    const { apiVersion } = this.bodyKind === kind ? names : serverNames(config, this.bodyKind);
    this.#apiVersion = apiVersion;
  }

  forSubresource(subresource: string): Endpoint {
    return new Endpoint(this.config, this.kind, { namespace: this.scope.namespace, subresource });
  }

  /** A request for the collection; the caller adds a name or a body. */
  // All members are set, so that all requests have the same hidden class, which is fastest for the server.
  request(verb: Verb, options: RequestOptions, signal: AbortSignal | undefined): DraftRequest {
    const { scope, config } = this;
    return {
      verb,
      resource: this.resource,
      subresource: scope.subresource,
      namespace: scope.namespace,
      name: undefined,
      options,
      body: undefined,
      patchType: undefined,
      user: config.defaults.as,
      audit: undefined,
      userAgent: undefined,
      origin: config.transport.origin,
      signal,
    };
  }

  /**
   * Sends a request whose response is an object, a list or a Status; the caller knows which. Synchronous where the
   * transport is. Throws the transport's error or the signal's reason.
   */
  send<Result>(request: ApiRequest): MaybePromise<Result> {
    const { signal } = request;
    signal?.throwIfAborted();
    const sent = this.#send(request);
    if (!isPromise(sent)) return this.#objectOf<Result>(sent);
    return untilAborted(sent, signal).then((response) => this.#objectOf<Result>(response));
  }

  /** Errors of a server in this process get the caller's stack instead of the server's. */
  #send(request: ApiRequest): ApiResponse | Promise<ApiResponse> {
    try {
      return this.config.transport.send(request);
    } catch (error) {
      if (StatusError.is(error) && error.code < 500) Error.captureStackTrace?.(error, this.send);
      throw error;
    }
  }

  /** Sends a watch request. The caller must close the stream. */
  openWatch(request: ApiRequest): MaybePromise<WatchStream> {
    const sent = this.config.transport.send(request);
    return isPromise(sent) ? sent.then((response) => this.#watchStreamOf(response)) : this.#watchStreamOf(sent);
  }

  /** Adds kind and apiVersion to a body: some servers require them. */
  body(input: unknown, verb: Verb | 'apply'): Record<string, unknown> {
    if (!isRecord(input))
      throw new TypeError(`orchplane: ${verb} of ${this.kind.kind} needs an object, got ${describeValue(input)}`);
    const { apiVersion } = input;
    if (apiVersion !== undefined && apiVersion !== this.#apiVersion) this.#checkDialect(apiVersion);
    if (apiVersion !== undefined && input['kind'] !== undefined) return input;
    const { kind } = this.bodyKind;
    const body: Record<string, unknown> = { kind, apiVersion: this.#apiVersion, ...input };
    body['apiVersion'] ??= this.#apiVersion;
    body['kind'] ??= kind;
    return body;
  }

  /** Validates a name; `call` is the method name in the message. */
  checkName(name: unknown, call: string): string {
    if (typeof name === 'string' && name !== '') return name;
    throw new TypeError(
      `orchplane: ${call} of ${this.kind.kind} needs the name of an object, got ${describeValue(name)}`,
    );
  }

  /** Throws a helpful error for an apiVersion of another dialect, which the server would only report as unknown. */
  #checkDialect(apiVersion: unknown): void {
    const { group, version } = this.bodyKind;
    const { dialect } = this.config.transport;
    for (const other of dialects) {
      if (other.name === dialect.name || apiVersion !== apiVersionOf({ group: other.group(group), version })) continue;
      throw new TypeError(
        `orchplane: "${apiVersion}" is the name in the dialect ${other.name}, but this cluster uses ${dialect.name}: omit the apiVersion, write "${this.#apiVersion}", or use createCluster({ dialect: '${other.name}' })`,
      );
    }
  }

  #objectOf<Result>(response: ApiResponse): Result {
    invariant(response.type === 'object', 'expected an object, got a watch stream');
    if (response.warnings.length > 0) this.#warn(response.warnings);
    return response.object as ObjectResponse['object'] & Result;
  }

  #watchStreamOf(response: ApiResponse): WatchStream {
    invariant(response.type === 'watch', 'expected a watch stream, got an object');
    if (response.warnings.length > 0) this.#warn(response.warnings);
    return response.watch;
  }

  #warn(warnings: readonly string[]): void {
    const { onWarning } = this.config.defaults;
    if (onWarning !== undefined) for (const warning of warnings) onWarning(warning);
  }
}

function bodyKindOf(kind: Kind, subresource: string | undefined): Kind {
  const declared = subresource === undefined ? undefined : own(kind.subresources, subresource);
  return declared?.type === undefined ? kind : declared.kind;
}

/** Describes an invalid argument in a message. */
export function describeValue(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : value === null ? 'null' : typeof value;
}
