/**
 * The typed client. Kinds are addressed by value; identity and other defaults are properties of an immutable client. It
 * depends only on a Transport, so it works the same in process and over HTTP.
 */
import type { Kind } from '../kinds/kind.js';
import type { Transport } from '../protocol/transport.js';
import { isRecord } from '../util/json.js';
import type { Api, Collection } from './api.js';
import { type ClientConfig, describeValue, Endpoint, type EndpointScope, resolveDefaults } from './endpoint.js';
import { CollectionClient, ObjectClient } from './object-client.js';
import type { ClientDefaults } from './options.js';

/** The options of {@link createClient}. */
export interface ClientOptions extends ClientDefaults {
  readonly transport: Transport;
}

/** Access to the objects of a cluster. It needs no closing. */
export interface Client {
  /**
   * The objects of a kind: of a namespaced kind in the given namespace, or in the client's default namespace; a
   * cluster-scoped kind takes no namespace. The call is cheap. Throws TypeError on misuse.
   *
   * @example
   * const configMaps = client.api(ConfigMap, 'kube-system');
   * const nodes = client.api(Node);
   */
  api<AnyKind extends Kind>(kind: AnyKind, ...namespace: NamespaceOf<AnyKind>): Api<AnyKind>;

  /**
   * The objects of a kind in all namespaces, for reading and watching. For single objects use `api`.
   *
   * @example
   * const { items } = await client.all(ConfigMap).list();
   */
  all<AnyKind extends Kind>(kind: AnyKind): Collection<AnyKind>;

  /**
   * A client with other defaults. This client is unchanged.
   *
   * @example
   * const rehearsal = client.with({ dryRun: true, fieldManager: 'ci' });
   */
  with(defaults: ClientDefaults): Client;
}

/** The namespace parameter of `api`: none for a cluster-scoped kind. */
export type NamespaceOf<AnyKind extends Kind> = AnyKind['scope'] extends 'Cluster' ? [] : [namespace?: string];

/**
 * Creates a client for a transport: a cluster in this process, or any other implementation of the protocol.
 *
 * @example
 * const client = createClient({ transport, namespace: 'team-a', fieldManager: 'ci' });
 * await client.api(ConfigMap).create({ metadata: { name: 'settings' } });
 */
export function createClient({ transport, ...defaults }: ClientOptions): Client {
  return clientOf(resolveDefaults(transport, defaults));
}

function clientOf(config: ClientConfig): Client {
  return {
    api: <AnyKind extends Kind>(kind: AnyKind, ...[namespace]: [namespace?: string]) => {
      const endpoint = new Endpoint(config, requireKind(kind), scopeOf(config, kind, namespace));
      // Only the types know whether the kind has `status`; the class has it for all.
      return new ObjectClient<AnyKind>(endpoint) as Collection<AnyKind> as Api<AnyKind>;
    },
    all: (kind) => new CollectionClient(new Endpoint(config, requireKind(kind), CLUSTER_WIDE)),
    with: (defaults) => clientOf(resolveDefaults(config.transport, { ...config.defaults, ...defaults })),
  };
}

/** Addresses a cluster-scoped kind, or a namespaced kind in all namespaces. */
const CLUSTER_WIDE: EndpointScope = Object.freeze({ namespace: undefined, subresource: undefined });

function scopeOf(config: ClientConfig, kind: Kind, namespace: unknown): EndpointScope {
  if (kind.scope === 'Cluster') {
    if (namespace === undefined) return CLUSTER_WIDE;
    throw new TypeError(
      `orchplane: ${kind.kind} is cluster-scoped: api takes no namespace, got ${describeValue(namespace)}`,
    );
  }
  const name = namespace ?? config.namespace;
  if (typeof name === 'string' && name !== '') return { namespace: name, subresource: undefined };
  throw new TypeError(
    `orchplane: api of ${kind.kind} needs the name of a namespace, got ${describeValue(name)}; all() spans every namespace`,
  );
}

function requireKind(kind: Kind): Kind {
  const given: unknown = kind;
  if (isRecord(given) && isRecord(given['names']) && typeof given['kind'] === 'string') return kind;
  throw new TypeError(`orchplane: a kind is a value, such as those of orchplane/kinds; got ${describeValue(given)}`);
}
