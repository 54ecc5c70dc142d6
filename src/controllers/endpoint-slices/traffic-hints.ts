/**
 * Topology hints for proxies: with `trafficDistribution: PreferClose`, each ready endpoint has a hint for its own zone. Without
 * traffic distribution there are no hints.
 */
import type { EndpointHints } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import type { SliceEndpoint } from './slice.js';

export type TrafficDistribution = 'none' | 'zone' | 'node';

/** Interprets a Service's `trafficDistribution`. */
export function distributionOf(
  trafficDistribution: string | undefined,
  isEnabled: (gate: string) => boolean,
): TrafficDistribution {
  if (trafficDistribution === 'PreferClose') return 'zone';
  if (!isEnabled('PreferSameTrafficDistribution')) return 'none';
  if (trafficDistribution === 'PreferSameZone') return 'zone';
  return trafficDistribution === 'PreferSameNode' ? 'node' : 'none';
}

/** The endpoint with the right hints; the same object if nothing changes. */
export function withHints(endpoint: SliceEndpoint, distribution: TrafficDistribution): SliceEndpoint {
  const { hints, ...plain } = endpoint;
  if (distribution === 'none') return hints === undefined ? endpoint : plain;
  // An endpoint that is not ready gets no traffic; its hints stay unchanged.
  if (endpoint.conditions.ready !== true) return endpoint;
  const wanted = hintsFor(endpoint, distribution);
  if (deepEqual(hints, wanted)) return endpoint;
  return wanted === undefined ? plain : { ...plain, hints: wanted };
}

function hintsFor(
  { zone, nodeName }: SliceEndpoint,
  distribution: TrafficDistribution,
): DeepReadonly<EndpointHints> | undefined {
  const hints = {
    ...(zone === undefined ? {} : { forZones: [{ name: zone }] }),
    ...(nodeName === undefined || distribution !== 'node' ? {} : { forNodes: [{ name: nodeName }] }),
  };
  return Object.keys(hints).length === 0 ? undefined : hints;
}
