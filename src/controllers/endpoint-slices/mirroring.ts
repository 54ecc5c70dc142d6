/**
 * The controller that mirrors manually written Endpoints, of Services without a selector, into EndpointSlices.
 */
import { Endpoints } from '../../kinds/core/v1/endpoints.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import { leaderAnnotation, manager } from '../endpoints/names.js';
import type { Controller } from '../runtime/controller.js';
import { type MirrorPlan, planMirror, type StoredEndpoints } from './mirrored-slices.js';
import { OwnSlices } from './own-slices.js';
import { writeSlices } from './write-slices.js';

export interface EndpointSliceMirroringOptions {
  /** The maximum number of mirrored addresses per subset; 1000 unless given. */
  readonly maxEndpointsPerSubset?: number | undefined;
}

const MANAGER = 'endpointslicemirroring-controller';
const MAX_PER_SUBSET = 1000;
const BACKOFF = { firstMs: 1000, longestMs: 100_000 };

/**
 * Mirrors Endpoints of services without a selector into EndpointSlices.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([endpointSliceMirroring()]) });
 */
export function endpointSliceMirroring(options: EndpointSliceMirroringOptions = {}): Controller {
  const { maxEndpointsPerSubset = MAX_PER_SUBSET } = options;
  if (!Number.isInteger(maxEndpointsPerSubset) || maxEndpointsPerSubset < 1 || maxEndpointsPerSubset > MAX_PER_SUBSET) {
    throw new TypeError(`orchplane: maxEndpointsPerSubset must be a whole number from 1 to ${MAX_PER_SUBSET}`);
  }
  return {
    name: 'endpointslice-mirroring-controller',
    account: 'endpointslicemirroring-controller',
    component: 'endpoint-slice-mirroring-controller',
    needs: [Service, Endpoints, EndpointSlice],
    start(context) {
      const { client, dialect, events } = context;
      const services = context.informer(Service);
      const all = context.informer(Endpoints);
      const own = manager(dialect, MANAGER);
      const slices = new OwnSlices(context.informer(EndpointSlice), { dialect, manager: own });
      const isMirrorable = ({ metadata }: StoredEndpoints): boolean =>
        metadata.labels?.[dialect.subkey('endpointslice', 'skip-mirror')] !== 'true' &&
        metadata.annotations?.[leaderAnnotation(dialect)] === undefined;

      const queue = context.queue(
        async (key) => {
          const endpoints = all.at(key);
          const service = services.at(key);
          const existing = slices.of(key);
          const isWanted =
            endpoints !== undefined &&
            isMirrorable(endpoints) &&
            service !== undefined &&
            service.spec.selector === undefined;
          if (!isWanted) {
            const [slice] = existing;
            const owner = endpoints ?? slice;
            if (owner === undefined) return;
            const changes = { create: [], update: [], remove: [...existing] };
            await writeSlices({ client, key, slices, owner, changes });
            return;
          }
          const maxEndpoints = maxEndpointsPerSubset;
          const plan = planMirror({ endpoints, existing, maxEndpoints, dialect, manager: own });
          for (const { reason, text } of omissions(plan, maxEndpoints))
            events.record(endpoints, 'Warning', reason, text);
          await writeSlices({ client, key, slices, owner: endpoints, changes: plan.changes });
        },
        { workers: 5, backoff: BACKOFF },
      );
      slices.onChange((key) => queue.add(key));

      services.onKey((key, event) => {
        const lacksSelector = event.object.spec.selector === undefined;
        const isWanted =
          event.type === 'MODIFIED' ? lacksSelector !== (event.previous.spec.selector === undefined) : lacksSelector;
        if (isWanted) queue.add(key);
      });
      all.onKey((key, event) => {
        if (isMirrorable(event.object) || (event.type === 'MODIFIED' && isMirrorable(event.previous))) queue.add(key);
      });
    },
  };
}

/** Describes addresses that are not mirrored, for events. */
function omissions({ invalid, skipped }: MirrorPlan, max: number): { reason: string; text: string }[] {
  const found: { reason: string; text: string }[] = [];
  if (invalid > 0) {
    const text = `Skipped ${invalid} invalid IP addresses when mirroring to EndpointSlices`;
    found.push({ reason: 'InvalidIPAddress', text });
  }
  if (skipped > invalid) {
    const text =
      `A max of ${max} addresses can be mirrored to EndpointSlices per Endpoints subset. ` +
      `${skipped} addresses were skipped`;
    found.push({ reason: 'TooManyAddressesToMirror', text });
  }
  return found;
}
