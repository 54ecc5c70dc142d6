/**
 * The controller of ServiceCIDRs: sets the Ready condition and keeps a CIDR that is being deleted while its addresses are in
 * use.
 */
import { strategicPatch } from '../../client/patches.js';
import { IPAddress } from '../../kinds/networking/v1/ip-address.js';
import { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { type Dialect, SERVICE_NAME, serviceGroup } from '../../meta/dialect.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { ignoringAbsence } from '../runtime/refusals.js';
import { isAllocated, isCovered, rangesAround, type StoredRange } from './ranges.js';

export interface ServiceRangesOptions {
  /**
   * The delay before an unused range that is being deleted is released; 0 unless given. The reference server waits 10 s, so
   * that all API servers notice that the range allocates no more addresses.
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
          const around = rangesAround(all, metadata.name);
          return around.length === 1 && around[0]?.metadata.name === range.metadata.name;
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
  await ignoringAbsence(api.patch(range.metadata.name, strategicPatch({ metadata: { finalizers: [finalizer] } })));
}

async function release(context: ControllerContext, range: StoredRange): Promise<void> {
  const finalizer = finalizerIn(context.dialect);
  if (!range.metadata.finalizers?.includes(finalizer)) return;
  const api = context.client.api(ServiceCIDR);
  const metadata = { '$deleteFromPrimitiveList/finalizers': [finalizer] };
  await ignoringAbsence(api.patch(range.metadata.name, strategicPatch({ metadata })));
}

function finalizerIn(dialect: Dialect): string {
  return `${dialect.group(serviceGroup('networking'))}/service-cidr-finalizer`;
}
