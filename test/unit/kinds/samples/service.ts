/** Samples of Services. They are headless, so that nothing is allocated. */
import { Service } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const spec = { clusterIP: 'None', selector: { k: 'v' } };

export const samples: readonly KindSample[] = [
  {
    kind: Service,
    body: { spec },
    change: { spec: { ...spec, ports: [{ port: 80, protocol: 'TCP', targetPort: 8080 }] } },
    wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
    deletedAtOnce: true,
    unconditionalUpdate: true,
    createOnUpdate: true,
  },
];
