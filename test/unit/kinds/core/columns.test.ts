/** Table columns of nodes, services, volumes, jobs and others, as kubectl prints them. */
import type { ApiObject, Kind } from 'orchplane';
import {
  ComponentStatus,
  CronJob,
  Deployment,
  Endpoints,
  Ingress,
  Job,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Service,
} from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';

const metadata = { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' };
const deleted = { metadata: { ...metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } };
const nowMs = Date.UTC(2030, 0, 1, 0, 1, 0);
const cells = (kind: Kind, body: object) =>
  kind.columns?.map(({ cell }) => cell({ metadata, ...body } as unknown as ApiObject, { nowMs, dialect: orchDialect }));

const nodeInfo = {
  kubeletVersion: 'v1.34.1',
  osImage: 'Linux',
  kernelVersion: '6.8',
  containerRuntimeVersion: 'containerd://2.1',
};
const addresses = [
  { type: 'Hostname', address: 'h' },
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'ExternalIP', address: '1.2.3.4' },
];
const labels = { 'node-role.orch.io/worker': '', 'node-role.orch.io/control-plane': '', 'orch.io/role': 'old', a: 'b' };
const condition = (type: string, status: string) => ({ type, status });
const web = { http: { paths: [] } };
const balanced = { loadBalancer: { ingress: [{ hostname: 'h' }, { ip: '1.1.1.1' }, { ip: '1.1.1.1' }] } };

test.each<readonly [string, Kind, object, readonly unknown[]]>([
  [
    'a ready node',
    Node,
    {
      metadata: { ...metadata, labels },
      spec: {},
      status: { conditions: [condition('Ready', 'True')], nodeInfo, addresses },
    },
    [
      'a',
      'Ready',
      'control-plane,old,worker',
      '60s',
      'v1.34.1',
      '10.0.0.1',
      '1.2.3.4',
      'Linux',
      '6.8',
      'containerd://2.1',
    ],
  ],
  [
    'a node that is not ready and unschedulable',
    Node,
    {
      spec: { unschedulable: true },
      status: { conditions: [condition('Ready', 'Unknown')], nodeInfo: { kubeletVersion: '' } },
    },
    [
      'a',
      'NotReady,SchedulingDisabled',
      '<none>',
      '60s',
      '',
      '<none>',
      '<none>',
      '<unknown>',
      '<unknown>',
      '<unknown>',
    ],
  ],
  [
    'a node without conditions',
    Node,
    { spec: {}, status: { conditions: [condition('DiskPressure', 'False')], nodeInfo } },
    ['a', 'Unknown', '<none>', '60s', 'v1.34.1', '<none>', '<none>', 'Linux', '6.8', 'containerd://2.1'],
  ],
  [
    'a healthy component',
    ComponentStatus,
    { conditions: [{ ...condition('Healthy', 'True'), message: 'ok' }] },
    ['a', 'Healthy', 'ok', ''],
  ],
  [
    'an unhealthy component',
    ComponentStatus,
    { conditions: [condition('Other', 'True'), { ...condition('Healthy', 'False'), error: 'refused' }] },
    ['a', 'Unhealthy', '', 'refused'],
  ],
  ['a component without conditions', ComponentStatus, {}, ['a', 'Unknown', '', '']],
  [
    'a ClusterIP service',
    Service,
    {
      spec: {
        type: 'ClusterIP',
        clusterIPs: ['10.0.0.9'],
        externalIPs: ['1.1.1.1', '2.2.2.2'],
        selector: { b: 'c', a: 'b' },
      },
      status: {},
    },
    ['a', 'ClusterIP', '10.0.0.9', '1.1.1.1,2.2.2.2', '<none>', '60s', 'a=b,b=c'],
  ],
  [
    'a NodePort service',
    Service,
    {
      spec: { type: 'NodePort', clusterIPs: ['10.0.0.9'], ports: [{ port: 80, nodePort: 31000, protocol: 'TCP' }] },
      status: {},
    },
    ['a', 'NodePort', '10.0.0.9', '<none>', '80:31000/TCP', '60s', '<none>'],
  ],
  [
    'a LoadBalancer service',
    Service,
    {
      spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], externalIPs: ['9.9.9.9'] },
      status: balanced,
    },
    ['a', 'LoadBalancer', '<none>', '1.1.1.1,h,9.9.9.9', '80/TCP', '60s', '<none>'],
  ],
  [
    'a LoadBalancer service without addresses',
    Service,
    { spec: { type: 'LoadBalancer' }, status: { loadBalancer: {} } },
    ['a', 'LoadBalancer', '<none>', '<pending>', '<none>', '60s', '<none>'],
  ],
  [
    'an ExternalName service',
    Service,
    { spec: { type: 'ExternalName', externalName: 'x.example.com' }, status: {} },
    ['a', 'ExternalName', '<none>', 'x.example.com', '<none>', '60s', '<none>'],
  ],
  [
    'a bound volume',
    PersistentVolume,
    {
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany', 'ReadWriteOnce'],
        persistentVolumeReclaimPolicy: 'Retain',
        claimRef: { namespace: 'n', name: 'c' },
        storageClassName: 'fast',
        volumeMode: 'Filesystem',
      },
      status: { phase: 'Bound' },
    },
    ['a', '1Gi', 'RWO,RWX', 'Retain', 'Bound', 'n/c', 'fast', '<unset>', '', '60s', 'Filesystem'],
  ],
  [
    'a volume that is being deleted',
    PersistentVolume,
    { ...deleted, spec: { persistentVolumeReclaimPolicy: 'Delete' }, status: { phase: 'Failed', reason: 'broken' } },
    ['a', '0', '', 'Delete', 'Terminating', '', '', '<unset>', 'broken', '60s', '<unset>'],
  ],
  [
    'a bound claim',
    PersistentVolumeClaim,
    {
      spec: { volumeName: 'v', storageClassName: 'fast', volumeMode: 'Block' },
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadOnlyMany'] },
    },
    ['a', 'Bound', 'v', '2Gi', 'ROX', 'fast', '<unset>', '60s', 'Block'],
  ],
  [
    'endpoints',
    Endpoints,
    { subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] }] },
    ['a', '10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 1 more...', '60s'],
  ],
  ['endpoints without ports', Endpoints, { subsets: [{ addresses: [{ ip: '10.0.0.1' }] }] }, ['a', '10.0.0.1', '60s']],
  ['empty endpoints', Endpoints, {}, ['a', '<none>', '60s']],
])('prints %s', (_what, kind, body, expected) => {
  expect(cells(kind, body)).toEqual(expected);
});

const finished = { startTime: '2030-01-01T00:00:10Z', completionTime: '2030-01-01T00:00:40Z', succeeded: 2 };

test.each<readonly [string, object, readonly unknown[]]>([
  [
    'a running job',
    { spec: { completions: 3 }, status: { startTime: '2030-01-01T00:00:10Z' } },
    ['Running', '0/3', '50s'],
  ],
  [
    'a complete job',
    { spec: { completions: 2 }, status: { ...finished, conditions: [condition('Complete', 'True')] } },
    ['Complete', '2/2', '30s'],
  ],
  [
    'a failed job',
    { ...deleted, spec: { parallelism: 4 }, status: { conditions: [condition('Failed', 'True')] } },
    ['Failed', '0/1 of 4', ''],
  ],
  ['a job that is being deleted', { ...deleted, spec: { parallelism: 1 }, status: {} }, ['Terminating', '0/1', '']],
  [
    'a suspended job',
    {
      spec: { completions: 1 },
      status: { conditions: [condition('Complete', 'False'), condition('Suspended', 'True')] },
    },
    ['Suspended', '0/1', ''],
  ],
])('prints the state of %s', (_what, body, expected) => {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };
  const { spec, ...rest } = body as { spec: object };
  expect(cells(Job, { ...rest, spec: { template, ...spec } })?.slice(1, 4)).toEqual(expected);
});

test('prints the schedule of a cron job', () => {
  const jobTemplate = { spec: { template: { spec: { containers: [] } } } };
  const spec = { schedule: '* * * * *', suspend: false, jobTemplate };
  expect(cells(CronJob, { spec, status: {} })?.slice(0, 7)).toEqual([
    'a',
    '* * * * *',
    '<none>',
    'False',
    0,
    '<none>',
    '60s',
  ]);
  const status = { active: [{}], lastScheduleTime: '2030-01-01T00:00:30Z' };
  expect(cells(CronJob, { spec: { ...spec, suspend: true, timeZone: 'UTC' }, status })?.slice(1, 6)).toEqual([
    '* * * * *',
    'UTC',
    'True',
    1,
    '30s',
  ]);
});

test('prints the hosts, addresses and ports of an ingress', () => {
  const rules = ['a.io', 'b.io', 'c.io', 'd.io'].map((host) => ({ host, ...web }));
  expect(cells(Ingress, { spec: { rules, tls: [{}], ingressClassName: 'x' }, status: balanced })).toEqual([
    'a',
    'x',
    'a.io,b.io,c.io + 1 more...',
    '1.1.1.1,h',
    '80, 443',
    '60s',
  ]);
  expect(cells(Ingress, { spec: { rules: [web] }, status: { loadBalancer: {} } })).toEqual([
    'a',
    '<none>',
    '*',
    '',
    '80',
    '60s',
  ]);
});

test('prints the ready pods of a deployment', () => {
  const template = { spec: { containers: [{ name: 'c', image: 'i' }] } };
  const body = { spec: { replicas: 3, selector: { matchLabels: { app: 'x' } }, template } };
  const status = { readyReplicas: 2, updatedReplicas: 3, availableReplicas: 1 };
  expect(cells(Deployment, { ...body, status })).toEqual(['a', '2/3', 3, 1, '60s', 'c', 'i', 'app=x']);
  expect(cells(Deployment, { ...body, status: {} })?.slice(1, 4)).toEqual(['0/3', 0, 0]);
});
