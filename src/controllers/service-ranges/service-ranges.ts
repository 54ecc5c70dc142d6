/**
 * The controller of ServiceCIDRs: sets the Ready condition and keeps a CIDR that is being deleted while its addresses are in
 * use. The functions on ranges and addresses are shared with `cluster-addresses.ts`.
 */
import { strategicPatch } from '../../client/patches.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { IPAddress } from '../../kinds/networking/v1/ip-address.js';
import { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { type Dialect, SERVICE_NAME, serviceGroup } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { type Cidr, cidrSize, contains, type Ip, parseCidrSloppy, parseIpSloppy } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';
import { timeToMs } from '../../text/time/time.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoreNotFound } from '../runtime/expected-errors.js';

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
          await protect(context, range);
          await setReady(context, range, READY);
          return undefined;
        }
        if (isInUse(range)) {
          await setReady(context, range, IN_USE);
          return undefined;
        }
        const leftMs = timeToMs(deletionTimestamp) + deletionDelayMs - clock.now();
        if (leftMs > 0) return { requeueAfterMs: leftMs };
        await release(context, range);
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

async function protect(context: ControllerContext, range: StoredRange): Promise<void> {
  const finalizer = finalizerIn(context.dialect);
  if (range.metadata.finalizers?.includes(finalizer)) return;
  const api = context.client.api(ServiceCIDR);
  await ignoreNotFound(api.patch(range.metadata.name, strategicPatch({ metadata: { finalizers: [finalizer] } })));
}

async function release(context: ControllerContext, range: StoredRange): Promise<void> {
  const finalizer = finalizerIn(context.dialect);
  if (!range.metadata.finalizers?.includes(finalizer)) return;
  const api = context.client.api(ServiceCIDR);
  const metadata = { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  await ignoreNotFound(api.patch(range.metadata.name, strategicPatch({ metadata })));
}

function finalizerIn(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('networking'))}/service-cidr-finalizer`;
}

type StoredRange = ObjectOf<typeof ServiceCIDR>;

/** The ranges that contain the address. */
export function rangesAround(ranges: readonly StoredRange[], address: string): readonly StoredRange[] {
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

/** The labels of an IPAddress that is allocated to a Service. */
export function addressLabels(address: string, dialect: Dialect): Labels {
  return {
    [dialect.subkey('ipaddress', 'ip-family')]: parseIpSloppy(address)?.family ?? '',
    [dialect.subkey('ipaddress', 'managed-by')]: allocator(dialect),
  };
}

/** Whether the server allocated the address. */
export function isAllocated(labels: Labels | undefined, dialect: Dialect): boolean {
  return labels?.[dialect.subkey('ipaddress', 'managed-by')] === allocator(dialect);
}

function allocator(dialect: Dialect): string {
  return dialect.group(serviceGroup('ipallocator'));
}
