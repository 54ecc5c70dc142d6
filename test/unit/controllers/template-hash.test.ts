/** Hashes of pod templates, compared with the reference implementation. */
import { expect, test } from 'vitest';
import { nameHash } from '../../../src/controllers/workloads/template-hash.js';
import { readWireVectors } from '../../vectors/read.js';

const container = {
  name: 'c',
  image: 'i:1',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};

const ORDINARY = {
  metadata: { creationTimestamp: null, labels: { app: 'x', v: '1' } },
  spec: {
    containers: [container],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    automountServiceAccountToken: false,
    securityContext: {},
    schedulerName: 'default-scheduler',
  },
};

const MANIFOLD = {
  metadata: { annotations: { b: '2', a: '1' }, finalizers: ['x/y'] },
  spec: {
    containers: [
      {
        name: 'c',
        env: [{ name: 'Ü', value: 'ä€𝄞' }],
        livenessProbe: { httpGet: { port: 80 } },
        readinessProbe: { tcpSocket: { port: 'http' } },
      },
    ],
    volumes: [
      { name: 'v', emptyDir: {} },
      { name: 'w', configMap: { name: 'm' } },
    ],
  },
};

const withCpu = (cpu: string) => ({
  metadata: {},
  spec: { containers: [{ name: 'c', resources: { limits: { cpu } } }] },
});

test.each([
  ['an ordinary template', ORDINARY, 'c7969d79c'],
  ['an empty template', { metadata: {}, spec: { containers: [] } }, '6f75fc469d'],
  [
    'a template with empty lists and maps',
    { metadata: { labels: {} }, spec: { containers: [], volumes: [] } },
    '6f75fc469d',
  ],
  ['a template with many fields', MANIFOLD, '74c954c7f5'],
  [
    'a template with a timestamp',
    { metadata: { creationTimestamp: '2024-01-02T03:04:05Z' }, spec: { containers: [] } },
    '7f7fb67584',
  ],
])('computes the reference hash of %s', (_what, template, hash) => {
  expect(nameHash(template)).toBe(hash);
});

test.each([
  ['0', '7b95d7b764'],
  ['1', '9564bcc44'],
  ['500m', '5df4cff78f'],
  ['0.5', '5df4cff78f'],
  ['1500', '787f4f5f7b'],
  ['1k', '74b7b7bcd8'],
  ['10G', '85966989d'],
  ['100u', '665489b8d6'],
  ['-1', '86dbb4dd4'],
  ['2e3', '7f5987dc98'],
  ['1Ki', '86b67c4784'],
  ['1Gi', '5db74b94d8'],
  ['128Mi', '8696645cc9'],
  ['100Ti', 'f758568d5'],
  ['12345678901234567890', '56cb45656b'],
])('computes the reference hash of a template with the quantity %s', (cpu, hash) => {
  expect(nameHash(withCpu(cpu))).toBe(hash);
});

test.each([
  [0, '679f49bb9d'],
  [1, '7f69c5f4f5'],
  [300, '7894c7b9bf'],
])('computes the reference hash after %d collisions', (collisions, hash) => {
  expect(nameHash({}, collisions)).toBe(hash);
});

test('ignores the order of fields', () => {
  const { metadata, spec } = ORDINARY;
  expect(nameHash({ spec: Object.fromEntries(Object.entries(spec).reverse()), metadata })).toBe(nameHash(ORDINARY));
});

test('computes the reference hash of a template with all fields set', () => {
  const { 'apps.v1.Deployment': deployment } = readWireVectors().documents;
  // The reference hash does not cover managedFields.
  const withoutManagers = (key: string, value: unknown) => (key === 'managedFields' ? undefined : value);
  const { spec } = JSON.parse(JSON.stringify(deployment, withoutManagers)) as {
    readonly spec: { readonly template: unknown };
  };
  expect(nameHash(spec.template)).toBe('6d795f45d4');
});
