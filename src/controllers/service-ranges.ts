/**
 * The controllers of ServiceCIDRs and IPAddresses. The first sets the Ready condition of a ServiceCIDR and keeps one that is
 * being deleted while its addresses are in use. The second repairs IPAddresses: each cluster IP has one, and each IPAddress
 * belongs to a Service with that cluster IP. The allocation itself is done by the server.
 */
import { strategicPatch } from '../client/patches.js';
import { Service } from '../kinds/core/v1/service/service.js';
import type { ObjectOf } from '../kinds/kind.js';
import { IPAddress } from '../kinds/networking/v1/ip-address.js';
import { ServiceCIDR } from '../kinds/networking/v1/service-cidr.js';
import { DEFAULT_SETTINGS } from '../kinds/shared/cluster-settings.js';
import { addressLabels } from '../kinds/shared/control-plane/initial-objects.js';
import { DEFAULT_SERVICE, type Dialect, SERVER_MANAGER, SERVICE_NAME, serviceGroup } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { type Cidr, cidrSize, contains, type Ip, parseCidrSloppy, parseIpSloppy, printIp } from '../meta/ip.js';
import type { Labels } from '../meta/labels.js';
import { timeToMs } from '../text/time/time.js';
import { deepEqual } from '../util/json.js';
import { isHeadless, type StoredService } from './endpoints/pod-services.js';
import { type Controller, type ControllerContext, ControllerPart } from './runtime/controller.js';
import { ignoreAlreadyExists, ignoreNotFound } from './runtime/expected-errors.js';
import { keyOf } from './runtime/shared-informer.js';
import type { ReconcileResult } from './runtime/work-queue.js';

export interface ServiceRangesOptions {
  /**
   * The delay before an unused range that is being deleted is released; 0 unless given. The reference server waits 10 s, so
   * that all API servers notice that the range allocates no more addresses.
   * upstream: pkg/controller/servicecidrs/servicecidrs_controller.go deletionGracePeriod
   */
  readonly deletionDelayMs?: number | undefined;
}

const NAME = 'service-cidr-controller';

/**
 * Sets ServiceCIDRs ready and protects those in use.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([serviceRanges()]) });
 */
export function serviceRanges({ deletionDelayMs = 0 }: ServiceRangesOptions = {}): Controller {
  return {
    name: NAME,
    account: 'service-cidrs-controller',
    component: NAME,
    needs: [ServiceCIDR, IPAddress],
    start(context) {
      const { clock, dialect } = context;
      const ranges = context.informer(ServiceCIDR);
      const addresses = context.informer(IPAddress);

      const isInUse = (range: StoredRange): boolean => {
        const all = ranges.list();
        if (isCovered(range, all)) return false;
        return addresses.list().some(({ metadata }) => {
          if (!isAllocated(metadata.labels, dialect)) return false;
          const containing = rangesAround(all, metadata.name);
          return containing.length === 1 && containing[0]?.metadata.name === range.metadata.name;
        });
      };

      const queue = context.queue(async (key) => {
        const range = ranges.at(key);
        if (range === undefined) return undefined;
        const { deletionTimestamp } = range.metadata;
        if (deletionTimestamp === undefined) {
          await setProtection(context, range, true);
          await setReady(context, range, READY);
          return undefined;
        }
        if (isInUse(range)) {
          await setReady(context, range, IN_USE);
          return undefined;
        }
        const leftMs = timeToMs(deletionTimestamp) + deletionDelayMs - clock.now();
        if (leftMs > 0) return { requeueAfterMs: leftMs };
        await setProtection(context, range, false);
        return undefined;
      });

      ranges.onKey((key) => {
        queue.add(key);
        // A new range may contain the addresses that keep another one.
        for (const { metadata } of ranges.list())
          if (metadata.deletionTimestamp !== undefined) queue.add(metadata.name);
      });
      addresses.subscribe(({ type, object: { metadata } }) => {
        if (type === 'MODIFIED' || !isAllocated(metadata.labels, dialect)) return;
        for (const range of rangesAround(ranges.list(), metadata.name)) queue.add(range.metadata.name);
      });
    },
  };
}

interface Readiness {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message: string;
}

const READY: Readiness = { status: 'True', message: `${SERVICE_NAME} Service CIDR is ready` };
const IN_USE: Readiness = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

async function setReady(context: ControllerContext, range: StoredRange, wanted: Readiness): Promise<void> {
  const { client, events } = context;
  const before = range.status.conditions?.find(({ type }) => type === 'Ready');
  const isSame =
    before?.status === wanted.status &&
    before.message === wanted.message &&
    (before.reason ?? '') === (wanted.reason ?? '');
  if (isSame) return;
  const condition = { type: 'Ready', ...wanted, lastTransitionTime: context.now() };
  const { name } = range.metadata;
  try {
    await client
      .with({ fieldManager: NAME })
      .api(ServiceCIDR)
      .status.apply(name, { status: { conditions: [condition] } }, { force: true });
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return;
    if (wanted.status === 'True') {
      const text = 'The ServiceCIDR Status can not be set to Ready=True';
      events.record(range, 'Warning', `${SERVICE_NAME}ServiceCIDRError`, text);
    }
    throw error;
  }
}

/** Adds or removes the finalizer. */
async function setProtection(context: ControllerContext, range: StoredRange, isProtected: boolean): Promise<void> {
  const finalizer = `${context.dialect.group(serviceGroup('networking'))}/service-cidr-finalizer`;
  const { name, finalizers = [] } = range.metadata;
  if (finalizers.includes(finalizer) === isProtected) return;
  const field = isProtected ? 'finalizers' : '$deleteFromPrimitiveList/finalizers';
  await ignoreNotFound(
    context.client.api(ServiceCIDR).patch(name, strategicPatch({ metadata: { [field]: [finalizer] } })),
  );
}

type StoredRange = ObjectOf<typeof ServiceCIDR>;

function rangesAround(ranges: readonly StoredRange[], address: string): readonly StoredRange[] {
  const ip = parseIpSloppy(address);
  return ip === undefined ? [] : ranges.filter((range) => cidrsOf(range).some((cidr) => contains(cidr, ip)));
}

/** Whether each CIDR of a range is inside another range. */
function isCovered(range: StoredRange, ranges: readonly StoredRange[]): boolean {
  return cidrsOf(range).every((cidr) =>
    ranges.some(
      (other) => other.metadata.name !== range.metadata.name && cidrsOf(other).some((outer) => isWithin(cidr, outer)),
    ),
  );
}

function isWithin(cidr: Cidr, outer: Cidr): boolean {
  const last: Ip = { ...cidr.network, value: cidr.network.value + cidrSize(cidr) - 1n };
  return contains(outer, cidr.network) && contains(outer, last);
}

function cidrsOf({ spec }: StoredRange): readonly Cidr[] {
  return (spec.cidrs ?? []).flatMap((text) => parseCidrSloppy(text) ?? []);
}

function isAllocated(labels: Labels | undefined, dialect: Dialect): boolean {
  return labels?.[dialect.subkey('ipaddress', 'managed-by')] === allocator(dialect);
}

function allocator(dialect: Dialect): string {
  return dialect.group(serviceGroup('ipallocator'));
}

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
    const wanted = addressLabels(ip.family, dialect);
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
    const range = {
      metadata: { name: DEFAULT_SERVICE },
      spec: { cidrs: (this.context.host?.settings ?? DEFAULT_SETTINGS).serviceCidrs },
    };
    await ignoreAlreadyExists(this.#client.api(ServiceCIDR).create(range));
  }

  async #create(name: string, service: StoredService): Promise<void> {
    const { name: holder, namespace = '' } = service.metadata;
    await this.#client.api(IPAddress).create({
      metadata: { name, labels: addressLabels(parseIpSloppy(name)?.family ?? '', this.context.dialect) },
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
