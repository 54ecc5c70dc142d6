/** Samples of dynamic resource allocation kinds. */
import { resourceKinds } from '../../../../src/kinds/resource/index.js';
import type { KindSample } from '../kind-contract.js';

type Bodies = Pick<KindSample, 'body' | 'change' | 'wireOrder'>;

const START = ['kind', 'apiVersion', 'metadata', 'spec'];
const nested = { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c' } }] } };
const flat = { devices: { requests: [{ name: 'a', deviceClassName: 'c' }] } };
/** Immutable bodies are sent as they are stored. */
const nestedStored = {
  devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 } }] },
};
const flatStored = {
  devices: { requests: [{ name: 'a', deviceClassName: 'c', allocationMode: 'ExactCount', count: 1 }] },
};
const slice = { driver: 'd', pool: { name: 'p', generation: 0, resourceSliceCount: 1 }, allNodes: true };
const templateMeta = { creationTimestamp: null };

function bodiesOf(kind: string, isFlat: boolean): Bodies {
  switch (kind) {
    case 'DeviceClass':
      return {
        body: { spec: {} },
        change: { spec: { selectors: [{ cel: { expression: 'true' } }] } },
        wireOrder: START,
      };
    case 'ResourceClaim':
      return {
        body: { spec: isFlat ? flat : nested },
        change: { spec: isFlat ? flatStored : nestedStored },
        wireOrder: [...START, 'status'],
      };
    case 'ResourceClaimTemplate':
      return {
        body: { spec: { spec: isFlat ? flat : nested } },
        change: { spec: { metadata: templateMeta, spec: isFlat ? flatStored : nestedStored } },
        wireOrder: START,
      };
    case 'ResourceSlice':
      return {
        body: { spec: slice },
        change: { spec: { ...slice, pool: { ...slice.pool, generation: 1 } } },
        wireOrder: START,
      };
    default:
      return {
        body: { spec: { taint: { key: 'k', effect: 'NoSchedule' } } },
        change: { spec: { taint: { key: 'k', effect: 'NoExecute' } } },
        wireOrder: START,
      };
  }
}

export const samples: readonly KindSample[] = resourceKinds.map((kind) => ({
  kind,
  ...bodiesOf(kind.kind, kind.version !== 'v1beta2'),
  deletedAtOnce: true,
  unconditionalUpdate: true,
  createOnUpdate: false,
}));
