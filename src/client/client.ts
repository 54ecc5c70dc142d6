/**
 * The typed client: kinds are addressed by value, identity and other defaults are properties of an immutable client.
 * It knows a Transport and nothing of what is behind it, so it works the same in process and over HTTP.
 */
import type { Kind } from '../kinds/kind.js';
import type { Transport } from '../protocol/transport.js';
import { isRecord } from '../util/json.js';
import type { Api, Collection } from './api.js';
import type { Connection, Place } from './endpoint.js';
import { connect, Endpoint, show } from './endpoint.js';
import type { ClientDefaults } from './options.js';
import { CollectionResource, ObjectResource } from './resource.js';

export interface ClientOptions extends ClientDefaults {
  readonly transport: Transport;
}

/** Access to the objects of a cluster. Has no life of its own: nothing to close. */
export interface Client {
  /**
   * The objects of a kind: of a namespaced kind those in the given namespace, or else in the client's; a
   * cluster-scoped kind takes no namespace. Costs nothing; keep it or ask again. Throws TypeError on misuse.
   *
   * @example
   * const configMaps = client.api(ConfigMap, 'kube-system');
   * const nodes = client.api(Node);
   */
  api<AnyKind extends Kind>(kind: AnyKind, ...namespace: NamespaceOf<AnyKind>): Api<AnyKind>;

  /**
   * The objects of a kind in all namespaces, to read and follow. Single objects need `api`, which knows one namespace.
   *
   * @example
   * const { items } = await client.all(ConfigMap).list();
   */
  all<AnyKind extends Kind>(kind: AnyKind): Collection<AnyKind>;

  /**
   * A client with other defaults. This one stays as it is.
   *
   * @example
   * const rehearsal = client.with({ dryRun: true, fieldManager: 'ci' });
   */
  with(defaults: ClientDefaults): Client;
}

/** The parameters that name a namespace: none for a cluster-scoped kind. */
export type NamespaceOf<AnyKind extends Kind> = AnyKind['scope'] extends 'Cluster' ? [] : [namespace?: string];

/**
 * Makes a client of a transport: of a cluster in this process, or of whatever else answers requests of the protocol.
 *
 * @example
 * const client = createClient({ transport, namespace: 'team-a', fieldManager: 'ci' });
 * await client.api(ConfigMap).create({ metadata: { name: 'settings' } });
 */
export function createClient({ transport, ...defaults }: ClientOptions): Client {
  return clientOf(connect(transport, defaults));
}

function clientOf(connection: Connection): Client {
  return {
    api: <AnyKind extends Kind>(kind: AnyKind, ...[namespace]: [namespace?: string]) => {
      const endpoint = new Endpoint(connection, checkedKind(kind), placeOf(connection, kind, namespace));
      // Whether the kind has `status` is known to the types alone; the class has it for all.
      return new ObjectResource<AnyKind>(endpoint) as Collection<AnyKind> as Api<AnyKind>;
    },
    all: (kind) => new CollectionResource(new Endpoint(connection, checkedKind(kind), NOWHERE)),
    with: (defaults) => clientOf(connect(connection.transport, { ...connection.defaults, ...defaults })),
  };
}

/** Outside of all namespaces, or in all of them. */
const NOWHERE: Place = Object.freeze({ namespace: undefined, subresource: undefined });

function placeOf(connection: Connection, kind: Kind, namespace: unknown): Place {
  if (kind.scope === 'Cluster') {
    if (namespace === undefined) return NOWHERE;
    throw new TypeError(`orchplane: ${kind.kind} is cluster-scoped: api takes no namespace, got ${show(namespace)}`);
  }
  const name = namespace ?? connection.namespace;
  if (typeof name === 'string' && name !== '') return { namespace: name, subresource: undefined };
  throw new TypeError(
    `orchplane: api of ${kind.kind} needs the name of a namespace, got ${show(name)}; all() spans every namespace`,
  );
}

function checkedKind(kind: Kind): Kind {
  const given: unknown = kind;
  if (isRecord(given) && isRecord(given['names']) && typeof given['kind'] === 'string') return kind;
  throw new TypeError(`orchplane: a kind is a value, such as those of orchplane/kinds; got ${show(given)}`);
}
