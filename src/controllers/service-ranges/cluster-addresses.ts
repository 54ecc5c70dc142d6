/**
 * Repairs the IPAddress objects of Services: each cluster IP has an IPAddress, and each IPAddress belongs to a Service with
 * that cluster IP. The allocation itself is done by the server.
 */
import { Service } from '../../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { IPAddress } from '../../kinds/networking/v1/ip-address.js';
import { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { DEFAULT_SERVICE_CIDR } from '../../kinds/shared/service-cidr.js';
import { DEFAULT_SERVICE, SERVER_MANAGER } from '../../meta/dialect.js';
import { parseIpSloppy, printIp } from '../../meta/ip.js';
import { timeToMs } from '../../text/time/time.js';
import { deepEqual } from '../../util/json.js';
import { isHeadless, type StoredService } from '../endpoints/pod-services.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { ignoreAlreadyExists, ignoreNotFound } from '../runtime/expected-errors.js';
import { keyOf } from '../runtime/shared-informer.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { addressLabels, isAllocated, rangesAround } from './service-ranges.js';

type StoredAddress = ObjectOf<typeof IPAddress>;

/** How long an IPAddress without Service is kept: its Service may be in the process of being created. */
const ORPHAN_GRACE_MS = 60_000;
/** The delay after which a Service is checked when its IPAddress was deleted. */
const RESYNC_MS = 180_000;

/**
 * Keeps IPAddresses consistent with the cluster IPs of Services, and recreates the default ServiceCIDR.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceRanges(), clusterAddresses()]) });
 */
export function clusterAddresses(): Controller {
  return {
    name: 'ipallocator-repair-controller',
    // No account: in the reference server this loop runs in the API server.
    // upstream: pkg/registry/core/service/ipallocator/controller/repairip.go RepairIPAddress
    needs: [Service, ServiceCIDR, IPAddress],
    start(context) {
      const repair = new Repair(context);
      const { services, ranges, addresses } = repair;

      const serviceQueue = context.queue((key) => repair.service(key), { name: 'services' });
      const addressQueue = context.queue((key) => repair.address(key), { name: 'addresses' });
      const rangeQueue = context.queue(() => repair.defaultRange(), { name: 'ranges' });

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

/** Reconciles Services, addresses and the default range. Repairs are recorded as Events. */
class Repair extends ControllerPart {
  readonly services = this.context.informer(Service);
  readonly ranges = this.context.informer(ServiceCIDR);
  readonly addresses = this.context.informer(IPAddress);
  readonly #client = this.context.client.with({ fieldManager: SERVER_MANAGER });

  async service(key: string): Promise<void> {
    const service = this.services.at(key);
    if (service === undefined || service.spec.type === 'ExternalName' || isHeadless(service)) return;
    for (const text of service.spec.clusterIPs ?? []) await this.#clusterIp(service, text);
  }

  async #clusterIp(service: StoredService, text: string): Promise<void> {
    const { services, ranges, addresses } = this;
    const { dialect } = this.context;
    const warn = (reason: string, message: string) => this.context.events.record(service, 'Warning', reason, message);
    const ip = parseIpSloppy(text);
    if (ip === undefined) {
      warn('ClusterIPNotValid', `Cluster IP ${text} is not a valid IP; please recreate Service`);
      return;
    }
    const [name, label] = [printIp(ip), `[${ip.family}]: ${printIp(ip)}`];
    if (rangesAround(ranges.list(), name).length === 0) {
      const message = `Cluster IP ${label} is not within any configured Service CIDR; please recreate service`;
      warn('ClusterIPOutOfRange', message);
      return;
    }
    const address = addresses.get(name);
    if (address === undefined) {
      warn('ClusterIPNotAllocated', `Cluster IP ${label} is not allocated; repairing`);
      await this.#create(name, service);
      return;
    }
    const holder = holderOf(address);
    const isOfOther = holder !== undefined && holder !== keyOf(service);
    const other = isOfOther ? services.at(holder) : undefined;
    if (holder === undefined || (isOfOther && other === undefined)) {
      const message = `the ClusterIP ${label} for Service ${keyOf(service)} has a wrong reference; repairing`;
      warn('ClusterIPNotAllocated', message);
      await this.#recreate(name, service);
      return;
    }
    if (other?.spec.clusterIPs?.includes(name)) {
      const message = `Cluster IP [${ip.family}]:${name} was assigned to multiple services; please recreate service`;
      warn('ClusterIPAlreadyAllocated', message);
    }
    const wanted = addressLabels(name, dialect);
    const labels = Object.fromEntries(Object.keys(wanted).map((key) => [key, address.metadata.labels?.[key]]));
    if (!deepEqual(labels, wanted)) await this.#recreate(name, service);
  }

  async address(key: string): Promise<ReconcileResult | undefined> {
    const { services, addresses } = this;
    const { clock, dialect } = this.context;
    const address = addresses.at(key);
    if (address === undefined || !isAllocated(address.metadata.labels, dialect)) return undefined;
    const holder = holderOf(address);
    if (holder === undefined) {
      const { group = '', resource = '', namespace = '', name = '' } = address.spec.parentRef ?? {};
      const parent = `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${name},}`;
      const message = `IPAddress ${key} appears to have been modified, not referencing a Service ${parent}: cleaning up`;
      await this.#remove(address, 'IPAddressNotAllocated', message);
      return undefined;
    }
    const service = services.at(holder);
    if (service === undefined) {
      const leftMs = timeToMs(address.metadata.creationTimestamp) + ORPHAN_GRACE_MS - clock.now();
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      const message = `IPAddress: ${key} for Service ${holder} appears to have leaked: cleaning up`;
      await this.#remove(address, 'IPAddressNotAllocated', message);
      return undefined;
    }
    if (service.spec.clusterIPs?.includes(key)) return undefined;
    const message = `IPAddress: ${key} for Service ${holder} has a wrong reference; cleaning up`;
    await this.#remove(address, 'IPAddressWrongReference', message);
    return undefined;
  }

  async defaultRange(): Promise<void> {
    if (this.ranges.get(DEFAULT_SERVICE) !== undefined) return;
    const range = { metadata: { name: DEFAULT_SERVICE }, spec: { cidrs: [DEFAULT_SERVICE_CIDR] } };
    await ignoreAlreadyExists(this.#client.api(ServiceCIDR).create(range));
  }

  async #create(name: string, service: StoredService): Promise<void> {
    const { name: holder, namespace = '' } = service.metadata;
    await this.#client.api(IPAddress).create({
      metadata: { name, labels: addressLabels(name, this.context.dialect) },
      spec: { parentRef: { resource: 'services', namespace, name: holder } },
    });
  }

  async #recreate(name: string, service: StoredService): Promise<void> {
    await ignoreNotFound(this.#client.api(IPAddress).delete(name));
    await this.#create(name, service);
  }

  async #remove(address: StoredAddress, reason: string, message: string): Promise<void> {
    const { name, uid } = address.metadata;
    this.context.events.record(address, 'Warning', reason, message);
    await ignoreNotFound(this.#client.api(IPAddress).delete(name, { preconditions: { uid } }));
  }
}

/** The key of the Service in an address's parentRef; undefined if it refers to something else. */
function holderOf({ spec }: StoredAddress): string | undefined {
  const { group = '', resource, namespace = '', name } = spec.parentRef ?? {};
  return group === '' && resource === 'services' ? `${namespace}/${name}` : undefined;
}
