/** Samples of core kinds other than pods, services and volumes. */
import {
  CoreEvent,
  Endpoints,
  LimitRange,
  Node,
  PodTemplate,
  ReplicationController,
  ResourceQuota,
  ServiceAccount,
} from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const COMMON = { deletedAtOnce: true, unconditionalUpdate: true, createOnUpdate: false } as const;
const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };

export const samples: readonly KindSample[] = [
  {
    kind: Endpoints,
    body: {},
    change: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ port: 80, protocol: 'TCP' }] }] },
    wireOrder: [...TYPE, 'subsets'],
    ...COMMON,
    createOnUpdate: true,
  },
  {
    kind: CoreEvent,
    // Events may have any name that is valid in a URL.
    badName: 'a/b',
    body: { involvedObject: { namespace: 'default' } },
    change: { involvedObject: { namespace: 'default', name: 'p' }, reason: 'Ran' },
    wireOrder: [
      ...TYPE,
      'involvedObject',
      'reason',
      'message',
      'source',
      'firstTimestamp',
      'lastTimestamp',
      'count',
      'type',
      'eventTime',
      'series',
      'action',
      'related',
      'reportingComponent',
      'reportingInstance',
    ],
    ...COMMON,
    createOnUpdate: true,
  },
  {
    kind: LimitRange,
    body: { spec: { limits: [] } },
    change: { spec: { limits: [{ type: 'Pod', max: { cpu: '1' } }] } },
    wireOrder: [...TYPE, 'spec'],
    ...COMMON,
    createOnUpdate: true,
  },
  {
    kind: Node,
    body: {},
    change: { spec: { unschedulable: true } },
    wireOrder: [...TYPE, 'spec', 'status'],
    ...COMMON,
  },
  {
    kind: PodTemplate,
    body: { template },
    change: {},
    wireOrder: [...TYPE, 'template'],
    ...COMMON,
  },
  {
    kind: ReplicationController,
    body: { spec: { template } },
    change: {},
    wireOrder: [...TYPE, 'spec', 'status'],
    ...COMMON,
    // A delete orphans the pods first.
    deletedAtOnce: false,
  },
  {
    kind: ResourceQuota,
    body: {},
    change: { spec: { hard: { pods: '1' } } },
    wireOrder: [...TYPE, 'spec', 'status'],
    ...COMMON,
  },
  {
    kind: ServiceAccount,
    body: {},
    change: { secrets: [{ name: 's' }], automountServiceAccountToken: false },
    wireOrder: [...TYPE, 'secrets', 'imagePullSecrets', 'automountServiceAccountToken'],
    ...COMMON,
  },
];
