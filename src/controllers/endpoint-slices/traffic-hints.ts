/**
 * Hints for proxies: with `trafficDistribution: PreferClose`, each ready endpoint is for its own zone. Without it nothing
 * has hints.
 */
import type { EndpointHints } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { DeepReadonly } from '../../meta/object.js';
import { deepEqual } from '../../util/json.js';
import type { SliceEndpoint } from './slice.js';

export type TrafficDistribution = 'none' | 'zone' | 'node';

/** What a service's `trafficDistribution` asks for. */
export function distributionOf(
  trafficDistribution: string | undefined,
  isEnabled: (gate: string) => boolean,
): TrafficDistribution {
  if (trafficDistribution === 'PreferClose') return 'zone';
  if (!isEnabled('PreferSameTrafficDistribution')) return 'none';
  if (trafficDistribution === 'PreferSameZone') return 'zone';
  return trafficDistribution === 'PreferSameNode' ? 'node' : 'none';
}

/** The endpoint with the hints it should have; the same one if it has them. */
export function withHints(endpoint: SliceEndpoint, distribution: TrafficDistribution): SliceEndpoint {
  const { hints, ...plain } = endpoint;
  if (distribution === 'none') return hints === undefined ? endpoint : plain;
  // What is not ready gets no traffic: its hints stay as they are.
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
