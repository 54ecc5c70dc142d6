/**
 * Mends what people do to the objects behind addresses of Services: each address has its IPAddress, and each IPAddress a
 * Service that has the address. Allocation itself is the server's.
 */
import type { Client } from '../../client/client.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { IPAddress } from '../../kinds/networking/v1/ip-address.js';
import { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { DEFAULT_SERVICE_CIDR } from '../../kinds/shared/service-cidr.js';
import { DEFAULT_SERVICE, SERVER_MANAGER } from '../../meta/dialect.js';
import { parseIpSloppy, printIp } from '../../meta/ip.js';
import { timeToMs } from '../../meta/time.js';
import { deepEqual } from '../../util/json.js';
import { isHeadless, type StoredService } from '../endpoints/pod-services.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoringAbsence, ignoringPresence } from '../runtime/refusals.js';
import { keyOf } from '../runtime/shared-informer.js';
import { addressLabels, isAllocated, rangesAround } from './ranges.js';

type StoredAddress = ObjectOf<typeof IPAddress>;

/** An address whose Service is not there may be that of one that is just being made. */
const ORPHAN_GRACE_MS = 60_000;
/** A Service whose address was deleted is not told of that; it is looked at again after so long. */
const RESYNC_MS = 180_000;

/**
 * Keeps IPAddresses and the addresses of Services in agreement, and the default range in existence.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceRanges(), clusterAddresses()]) });
 */
export function clusterAddresses(): Controller {
  return {
    name: 'ipallocator-repair-controller',
    // The server does this itself in the reference, so there is no account for it.
    needs: [Service, ServiceCIDR, IPAddress],
    start(context) {
      const { clock, dialect, events } = context;
      const services = context.informer(Service);
      const ranges = context.informer(ServiceCIDR);
      const addresses = context.informer(IPAddress);
      const client = context.client.with({ fieldManager: SERVER_MANAGER });

      const serviceQueue = context.queue(
        async (key) => {
          const service = services.at(key);
          if (service === undefined || service.spec.type === 'ExternalName' || isHeadless(service)) return;
          for (const text of service.spec.clusterIPs ?? []) await mend(service, text);
        },
        { name: 'services' },
      );

      const mend = async (service: StoredService, text: string): Promise<void> => {
        const ip = parseIpSloppy(text);
        if (ip === undefined) {
          const message = `Cluster IP ${text} is not a valid IP; please recreate Service`;
          events.record(service, 'Warning', 'ClusterIPNotValid', message);
          return;
        }
        const [name, label] = [printIp(ip), `[${ip.family}]: ${printIp(ip)}`];
        if (rangesAround(ranges.list(), name).length === 0) {
          const message = `Cluster IP ${label} is not within any configured Service CIDR; please recreate service`;
          events.record(service, 'Warning', 'ClusterIPOutOfRange', message);
          return;
        }
        const address = addresses.get(name);
        if (address === undefined) {
          const message = `Cluster IP ${label} is not allocated; repairing`;
          events.record(service, 'Warning', 'ClusterIPNotAllocated', message);
          await create(context, client, { name, service });
          return;
        }
        const holder = holderOf(address);
        const isOfOther = holder !== undefined && holder !== keyOf(service);
        const other = isOfOther ? services.at(holder) : undefined;
        if (holder === undefined || (isOfOther && other === undefined)) {
          const message = `the ClusterIP ${label} for Service ${keyOf(service)} has a wrong reference; repairing`;
          events.record(service, 'Warning', 'ClusterIPNotAllocated', message);
          await recreate(context, client, { name, service });
          return;
        }
        if (other?.spec.clusterIPs?.includes(name)) {
          const message = `Cluster IP [${ip.family}]:${name} was assigned to multiple services; please recreate service`;
          events.record(service, 'Warning', 'ClusterIPAlreadyAllocated', message);
        }
        const wanted = addressLabels(name, dialect);
        const labels = Object.fromEntries(Object.keys(wanted).map((key) => [key, address.metadata.labels?.[key]]));
        if (!deepEqual(labels, wanted)) await recreate(context, client, { name, service });
      };

      const addressQueue = context.queue(
        async (key) => {
          const address = addresses.at(key);
          if (address === undefined || !isAllocated(address.metadata.labels, dialect)) return undefined;
          const holder = holderOf(address);
          if (holder === undefined) {
            const { group = '', resource = '', namespace = '', name = '' } = address.spec.parentRef ?? {};
            const parent = `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${name},}`;
            const message = `IPAddress ${key} appears to have been modified, not referencing a Service ${parent}: cleaning up`;
            events.record(address, 'Warning', 'IPAddressNotAllocated', message);
            await remove(client, address);
            return undefined;
          }
          const service = services.at(holder);
          if (service === undefined) {
            const leftMs = timeToMs(address.metadata.creationTimestamp) + ORPHAN_GRACE_MS - clock.now();
            if (leftMs > 0) return { requeueAfterMs: leftMs };
            const message = `IPAddress: ${key} for Service ${holder} appears to have leaked: cleaning up`;
            events.record(address, 'Warning', 'IPAddressNotAllocated', message);
            await remove(client, address);
            return undefined;
          }
          if (service.spec.clusterIPs?.includes(key)) return undefined;
          const message = `IPAddress: ${key} for Service ${holder} has a wrong reference; cleaning up`;
          events.record(address, 'Warning', 'IPAddressWrongReference', message);
          await remove(client, address);
          return undefined;
        },
        { name: 'addresses' },
      );

      const rangeQueue = context.queue(
        async () => {
          if (ranges.get(DEFAULT_SERVICE) !== undefined) return;
          const range = { metadata: { name: DEFAULT_SERVICE }, spec: { cidrs: [DEFAULT_SERVICE_CIDR] } };
          await ignoringPresence(client.api(ServiceCIDR).create(range));
        },
        { name: 'ranges' },
      );

      services.onKey((key) => serviceQueue.add(key));
      addresses.onKey((key, { type, object }) => {
        addressQueue.add(key);
        const holder = holderOf(object);
        if (type === 'DELETED' && holder !== undefined) serviceQueue.addAfter(holder, RESYNC_MS);
      });
      ranges.onKey((key, { type }) => {
        if (type === 'DELETED' && key === DEFAULT_SERVICE) rangeQueue.add(key);
      });
      rangeQueue.add(DEFAULT_SERVICE);
    },
  };
}

/** The key of the Service that an address names; undefined: it names something else. */
function holderOf({ spec }: StoredAddress): string | undefined {
  const { group = '', resource, namespace = '', name } = spec.parentRef ?? {};
  return group === '' && resource === 'services' ? `${namespace}/${name}` : undefined;
}

interface Held {
  readonly name: string;
  readonly service: StoredService;
}

async function create({ dialect }: ControllerContext, client: Client, { name, service }: Held): Promise<void> {
  const { name: holder, namespace = '' } = service.metadata;
  await client.api(IPAddress).create({
    metadata: { name, labels: addressLabels(name, dialect) },
    spec: { parentRef: { resource: 'services', namespace, name: holder } },
  });
}

async function recreate(context: ControllerContext, client: Client, held: Held): Promise<void> {
  await ignoringAbsence(client.api(IPAddress).delete(held.name));
  await create(context, client, held);
}

async function remove(client: Client, { metadata: { name, uid } }: StoredAddress): Promise<void> {
  await ignoringAbsence(client.api(IPAddress).delete(name, { preconditions: { uid } }));
}
