/**
 * EndpointSlice in discovery/v1beta1, where endpoints have a `topology` map with the node and the zone. v1 has fields
 * for both and keeps the other entries in `deprecatedTopology`.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { sortedRecord } from '../../util/order.js';
import { mergeStrategies } from '../build-kind.js';
import { anotherVersion } from '../define-kind.js';
import { EndpointSlice } from '../discovery/v1/endpoint-slice.js';
import type { Endpoint } from '../generated/discovery-v1.js';
import { endpointSliceBody } from '../generated/discovery-v1beta1.js';
import type { Kind } from '../kind.js';
import { type Conversion, storageVersionHooks } from '../shared/storage-conversion.js';

type EndpointV1beta1 = Omit<Endpoint, 'deprecatedTopology' | 'zone'> & { topology?: Record<string, string> };

const conversion: Conversion = {
  toStored: (draft, dialect) => changeEndpoints<EndpointV1beta1>(draft, (item) => withFields(item, dialect)),
  fromStored: (draft, dialect) => changeEndpoints<Endpoint>(draft, (item) => withTopology(item, dialect)),
};

const strategy = storageVersionHooks(EndpointSlice.strategy, conversion);

export const endpointSliceV1beta1: Kind = anotherVersion(EndpointSlice, {
  apiVersion: `${serviceGroup('discovery')}/v1beta1`,
  lifecycle: {
    introducedIn: '1.16',
    servedByDefault: true,
    deprecatedIn: '1.21',
    removedIn: '1.25',
    replacement: { apiVersion: `${serviceGroup('discovery')}/v1`, kind: 'EndpointSlice' },
  },
  body: endpointSliceBody,
  ...conversion,
  strategy: mergeStrategies(strategy, {
    // v1's hooks drop fields that this version has.
    create: { prepare: () => undefined },
    update: { prepare: () => undefined },
  }),
});

function changeEndpoints<Item>(draft: DraftObject, change: (item: Item) => unknown): void {
  const items = draft['endpoints'] as readonly Item[] | null | undefined;
  if (items) draft['endpoints'] = items.map(change);
}

const zoneKey = (dialect: Dialect) => dialect.subkey('topology', 'zone');
const nodeKey = (dialect: Dialect) => dialect.key('hostname');

/** The node is removed from the map only if it equals `nodeName`. */
function withFields({ topology = {}, ...item }: EndpointV1beta1, dialect: Dialect): Endpoint {
  const { [zoneKey(dialect)]: zone, ...rest } = topology;
  const left = Object.entries(rest).filter(
    ([key, value]) => key !== nodeKey(dialect) || item.nodeName === undefined || value !== item.nodeName,
  );
  return {
    ...item,
    ...(left.length === 0 ? {} : { deprecatedTopology: Object.fromEntries(left) }),
    ...(zone === undefined ? {} : { zone }),
  };
}

function withTopology({ deprecatedTopology, zone, ...item }: Endpoint, dialect: Dialect): EndpointV1beta1 {
  if (deprecatedTopology === undefined && zone === undefined && item.nodeName === undefined) return item;
  const node = deprecatedTopology?.[nodeKey(dialect)] || item.nodeName;
  const entries = {
    ...deprecatedTopology,
    ...(zone === undefined ? {} : { [zoneKey(dialect)]: zone }),
    ...(node === undefined ? {} : { [nodeKey(dialect)]: node }),
  };
  const topology = sortedRecord(Object.entries(entries));
  return { ...item, topology };
}
