/**
 * `etcdStorage`: the objects of a cluster in etcd, in the layout of kube-apiserver, shared by several processes.
 */
import { IPAddress } from '../kinds/networking/v1/ip-address.js';
import type { ApiObject, ObjectMeta } from '../meta/object.js';
import type { StoreHost } from '../server/shared-storage.js';
import { type MemoryStorageOptions, memoryStorage, type SharedStorage } from '../storage/memory-storage.js';
import type { ObjectKey } from '../storage/types.js';
import { randomIds } from '../util/ids.js';
import { deepFreeze } from '../util/json.js';
import { builtInKindsIn } from './built-in-kinds.js';
import { EtcdClient, type EtcdClientOptions } from './client.js';
import { EtcdHealth } from './health.js';
import { DEFAULT_PREFIX, etcdLayout, healthKeyOf, rootOf } from './layout.js';
import { NODE_PORTS_PATH } from './node-port-range.js';
import { ServerLeases } from './server-leases.js';
import { EtcdStore, type StoredForm } from './store.js';
import { decodeCustomValue, decodeStored, encodeCustomValue, encodeStored } from './values.js';

export interface EtcdStorageOptions extends EtcdClientOptions, MemoryStorageOptions {
  /** The prefix of all keys; default: `/registry`. */
  readonly prefix?: string | undefined;
}

/**
 * Storage in etcd. Processes with the same endpoints and prefix are one cluster; a kube-apiserver may be one of them.
 *
 * @example
 * createCluster({ dialect: 'kubernetes', storage: etcdStorage({ endpoints: ['http://127.0.0.1:2379'] }) })
 */
export function etcdStorage(options: EtcdStorageOptions): SharedStorage {
  const { prefix = DEFAULT_PREFIX, ...rest } = options;
  const settings = memoryStorage(rest);
  return {
    ...settings,
    open(host: StoreHost) {
      // Only their creation prevents that two processes allocate the same address, also if this one does not serve them.
      host.registry.store(IPAddress);
      const client = new EtcdClient(rest);
      const form = storedForm(prefix, host);
      const leases = new Leases(client, host);
      return new EtcdStore({
        ...settings,
        clock: host.clock,
        client,
        form,
        onLoaded: () => host.onLoaded(),
        leases,
        health: new EtcdHealth(client, healthKeyOf(prefix)),
        servers: new ServerLeases({
          client,
          prefix: `${rootOf(prefix)}masterleases/`,
          encode: (address, generation) => form.encode(ENDPOINTS, leaseObject(address, generation)),
          leaseFor: (seconds) => grantLease(client, seconds),
        }),
      });
    },
  };
}

const ENDPOINTS: ObjectKey = { storageKey: 'endpoints', namespace: '', name: '' };

/** The address of a server has the form of Endpoints without a name. */
function leaseObject(ip: string, generation: number): ApiObject {
  const metadata = { name: '', generation } as ObjectMeta;
  return { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: [{ addresses: [{ ip }] }] };
}

const EVENT_LIFETIME_SECONDS = 3_600;

function storedForm(prefix: string, { dialect, registry, hookContext }: StoreHost): StoredForm {
  const layout = etcdLayout(prefix, dialect);
  const { storageKinds } = builtInKindsIn(dialect);
  const bytes = (text: string) => Buffer.from(text);
  // Kinds that were installed in this process, and those that it does not serve.
  const kindOf = ({ storageKey }: ObjectKey) => registry.storageKind(storageKey) ?? storageKinds.get(storageKey);
  return {
    range: {
      key: bytes(layout.prefix),
      rangeEnd: endOfPrefix(layout.prefix),
      barrierKey: bytes(`${layout.prefix}orchplane/barrier`),
    },
    rangeKey: bytes(layout.prefix + NODE_PORTS_PATH),
    dialect,
    keyOf: (key) => bytes(layout.keyOf(key)),
    addressOf(key) {
      const parsed = layout.parse(Buffer.from(key).toString());
      if (parsed.type !== 'object') return undefined;
      const { storageKey, namespace, name } = parsed;
      return { storageKey, namespace, name };
    },
    encode(key, object) {
      const served = kindOf(key);
      return served === undefined ? encodeCustomValue(object) : encodeStored(object, served);
    },
    decode(key, value, resourceVersion) {
      const served = kindOf(key);
      const revision = Number(resourceVersion);
      if (served === undefined) return deepFreeze(decodeCustomValue(value, revision, dialect));
      return decodeStored(value, { served, revision, context: hookContext() });
    },
    lifetimeOf: ({ storageKey }) => (storageKey === 'events' ? EVENT_LIFETIME_SECONDS : undefined),
  };
}

/** The first key after all keys with a prefix, which ends with a slash. */
function endOfPrefix(prefix: string): Uint8Array {
  return Buffer.from(`${prefix.slice(0, -1)}0`);
}

const LEASE_REUSE_MS = 60_000;
const OBJECTS_PER_LEASE = 1_000;

/** Objects that are created within a minute share a lease, as in the reference server. */
class Leases {
  readonly #client: EtcdClient;
  readonly #host: StoreHost;
  #current: Lease | undefined;

  constructor(client: EtcdClient, host: StoreHost) {
    this.#client = client;
    this.#host = host;
  }

  for(seconds: number): Promise<number> {
    const now = this.#host.clock.now();
    const current = this.#current;
    if (current !== undefined && now < current.until && current.objects < OBJECTS_PER_LEASE) {
      current.objects++;
      return current.granted;
    }
    const id = newLeaseId();
    // The lease lives as long as the last of its objects.
    const granted = grantLease(this.#client, seconds + LEASE_REUSE_MS / 1000, id);
    this.#current = { id, granted, until: now + LEASE_REUSE_MS, objects: 1 };
    granted.catch(() => this.forget(id));
    return granted;
  }

  /** Objects that are created from now on get another lease. */
  forget(id: number): void {
    if (this.#current?.id === id) this.#current = undefined;
  }
}

interface Lease {
  readonly id: number;
  readonly granted: Promise<number>;
  readonly until: number;
  objects: number;
}

/** An ID that etcd chooses may be larger than a number holds. */
function newLeaseId(): number {
  return 1 + Math.floor(randomIds.random() * Number.MAX_SAFE_INTEGER);
}

async function grantLease(client: EtcdClient, seconds: number, id = newLeaseId()): Promise<number> {
  await client.grantLease(seconds, id);
  return id;
}
