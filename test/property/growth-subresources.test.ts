/**
 * The CPU time of a write to a subresource grows with the length of its lists and maps, not with the square of it.
 */
import { type Kind, StatusError } from 'orchplane';
import { CertificateSigningRequest, Deployment, Namespace, Pod, ServiceAccount, StorageVersion } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import type { SchemaNode } from '../../src/schema/schema-node.js';
import {
  apiOf,
  clusterWith,
  entries,
  fullCluster,
  growthOf,
  items,
  longValue,
  MAX_GROWTH,
  oneVersionOfEach,
  placesOf,
  withValue,
} from './growing-values.js';

const withStatus = oneVersionOfEach().filter(({ kind }) => Object.hasOwn(kind.subresources, 'status'));

const DRY_RUN = { dryRun: true };

const tested = new Set<SchemaNode>();

describe.each(withStatus.map((sample) => [`${sample.kind.kind} ${sample.kind.version}`, sample] as const))(
  'a write of the status of %s',
  (_name, { kind, body, names: [name] = ['a', 'b'] }) => {
    test('takes time in proportion to the length of each list and map', { timeout: 600_000 }, async () => {
      const api = apiOf(fullCluster(), kind);
      await api.create({ metadata: { name }, ...body });
      const live = await api.get(name);
      const status = kind.schema.fields.get('status')?.node as SchemaNode;
      const slow: string[] = [];
      for (const { path, node } of placesOf(status, tested, ['status'])) {
        for (const isFull of [false, true]) {
          const growth = await growthOf((length) => {
            const value = longValue(node, length, isFull, !isFull);
            const object = withValue(live, kind.schema, path, value, isFull) as object;
            return () => api.subresource('status').update(name, object, DRY_RUN);
          });
          if (growth > MAX_GROWTH) slow.push(`${path.join('.')}: ${growth.toFixed(1)}`);
        }
      }
      expect(slow).toEqual([]);
    });
  },
);

const container = (name: string, more: object = {}) => ({
  name,
  image: 'i',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'Always',
  ...more,
});

const pod = (spec: object, status: object = { phase: 'Running' }) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  spec: {
    restartPolicy: 'Never',
    dnsPolicy: 'ClusterFirst',
    terminationGracePeriodSeconds: 30,
    schedulerName: 'default-scheduler',
    securityContext: {},
    containers: [container('c')],
    ...spec,
  },
  status,
});

const named = (length: number, more: object = {}) => items(length, (index) => container(`c-${index}`, more));

const containerStatus = (index: number, more: object) => ({
  name: `c-${index}`,
  ready: true,
  restartCount: 0,
  image: 'i',
  imageID: 'i',
  ...more,
});

const claims = (length: number) => items(length, (index) => ({ name: `r-${index}` }));

/** A write to a subresource of a stored object: an update, or the creation of an action. */
interface SubresourceWrite {
  readonly kind: Kind;
  readonly subresource: string;
  readonly length?: number;
  readonly live: (length: number) => object;
  readonly change?: (live: Record<string, unknown>, length: number) => object;
  readonly action?: (length: number) => object;
}

const labels = (length: number) => ({ metadata: { name: 'a', labels: entries(length, 'k-', 'v') } });

const conditions = (length: number, type: (index: number) => string, message: string) => ({
  status: { conditions: items(length, (index) => ({ type: type(index), status: 'True', message })) },
});

const certificateRequest = (type: (index: number) => string): SubresourceWrite => ({
  kind: CertificateSigningRequest,
  subresource: 'approval',
  live: (length) => ({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    spec: { request: 'YQ==', signerName: 'example.com/a', usages: ['any'] },
    ...conditions(length, type, 'a'),
  }),
  change: (live, length) => ({ ...live, ...conditions(length, type, 'b') }),
});

const WRITES: Readonly<Record<string, SubresourceWrite>> = {
  'containers in the status of a pod': {
    kind: Pod,
    subresource: 'status',
    live: (length) => pod({ containers: named(length) }),
    change: (live, length) => ({
      ...live,
      status: {
        phase: 'Running',
        containerStatuses: items(length, (index) =>
          containerStatus(index, { state: { running: {} }, allocatedResourcesStatus: [{ name: 'cpu' }] }),
        ),
      },
    }),
  },
  'restarted containers in the status of a pod': {
    kind: Pod,
    subresource: 'status',
    live: (length) => {
      const terminated = { state: { terminated: { exitCode: 1 } } };
      const containerStatuses = items(length, (index) => containerStatus(index, terminated));
      return pod({ containers: named(length) }, { phase: 'Running', containerStatuses });
    },
    change: (live, length) => ({
      ...live,
      status: {
        phase: 'Running',
        containerStatuses: items(length, (index) => containerStatus(index, { state: { running: {} } })),
      },
    }),
  },
  'claims in the status of a container': {
    kind: Pod,
    subresource: 'status',
    live: (length) => pod({ containers: [container('c-0', { resources: { claims: claims(length) } })] }),
    change: (live, length) => {
      const allocatedResourcesStatus = claims(length).map(({ name }) => ({ name: `claim:${name}` }));
      const containerStatuses = [containerStatus(0, { state: { running: {} }, allocatedResourcesStatus })];
      return { ...live, status: { phase: 'Running', containerStatuses } };
    },
  },
  'claims in the status of a pod': {
    kind: Pod,
    subresource: 'status',
    live: (length) => pod({ resourceClaims: claims(length) }),
    change: (live, length) => ({ ...live, status: { phase: 'Running', resourceClaimStatuses: claims(length) } }),
  },
  'resized containers': {
    kind: Pod,
    subresource: 'resize',
    live: (length) => pod({ containers: named(length, { resources: { requests: { cpu: '1' } } }) }),
    change: (live, length) => ({
      ...live,
      spec: { ...(live['spec'] as object), containers: named(length, { resources: { requests: { cpu: '2' } } }) },
    }),
  },
  'ephemeral containers': {
    kind: Pod,
    subresource: 'ephemeralcontainers',
    live: (length) => pod({ ephemeralContainers: named(length) }),
    change: (live, length) => ({
      ...live,
      spec: { ...(live['spec'] as object), ephemeralContainers: named(length * 2) },
    }),
  },
  'changed ephemeral containers': {
    kind: Pod,
    subresource: 'ephemeralcontainers',
    length: 2_000,
    live: (length) => pod({ ephemeralContainers: named(length) }),
    change: (live, length) => ({
      ...live,
      spec: { ...(live['spec'] as object), ephemeralContainers: named(length, { image: 'j' }) },
    }),
  },
  'labels of a binding': {
    kind: Pod,
    subresource: 'binding',
    live: () => pod({}, { phase: 'Pending' }),
    action: (length) => ({ ...labels(length), target: { kind: 'Node', name: 'n' } }),
  },
  'labels of an eviction': { kind: Pod, subresource: 'eviction', live: () => pod({}), action: labels },
  'audiences of a token': {
    kind: ServiceAccount,
    subresource: 'token',
    live: () => ({ apiVersion: 'v1', kind: 'ServiceAccount' }),
    action: (length) => ({ spec: { audiences: items(length, (index) => `a-${index}`) } }),
  },
  'requirements of a selector in a scale': {
    kind: Deployment,
    subresource: 'scale',
    live: (length) => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: {
        replicas: 1,
        selector: { matchLabels: entries(length, 'k-', 'v') },
        strategy: { type: 'Recreate' },
        template: { metadata: { labels: entries(length, 'k-', 'v') }, spec: pod({}).spec },
      },
      status: {},
    }),
    change: (_live, length) => ({ ...labels(length), spec: { replicas: 2 } }),
  },
  'finalizers of a namespace': {
    kind: Namespace,
    subresource: 'finalize',
    live: () => ({ apiVersion: 'v1', kind: 'Namespace', spec: {}, status: {} }),
    change: (live, length) => ({ ...live, spec: { finalizers: items(length, (index) => `example.com/${index}`) } }),
  },
  'different conditions of a certificate request': certificateRequest((index) => `Type${index}`),
  'equal conditions of a certificate request': certificateRequest(() => 'Approved'),
  'contradicting conditions of a certificate request': certificateRequest((index) =>
    index % 2 === 0 ? 'Approved' : 'Denied',
  ),
  'versions of a storage version': {
    kind: StorageVersion,
    subresource: 'status',
    live: () => ({ apiVersion: 'internal.apiserver.k8s.io/v1alpha1', kind: 'StorageVersion', spec: {}, status: {} }),
    change: (live, length) => {
      const server = {
        apiServerID: 'a',
        encodingVersion: 'v0',
        decodableVersions: items(length, (index) => `v${index}`),
        servedVersions: items(length, (index) => `w${index}`),
      };
      return { ...live, status: { storageVersions: [server] } };
    },
  },
};

test.each(Object.entries(WRITES))(
  'a write of a subresource takes time in proportion to the number of %s',
  { timeout: 120_000 },
  async (_name, { kind, subresource, length, live, change, action }) => {
    const write = async (count: number) => {
      const api = apiOf(clusterWith([{ metadata: { name: 'a' }, ...live(count) }]), kind);
      const part = api.subresource(subresource);
      const body = action?.(count) ?? change?.(await api.get('a'), count) ?? {};
      return action === undefined ? () => part.update('a', body, DRY_RUN) : () => part.create('a', body);
    };
    // Other errors, such as NotFound, would hide the growth.
    await (await write(4))().catch((error: unknown) => expect(StatusError.is(error) && error.code).toBe(422));
    expect(await growthOf(write, length)).toBeLessThan(MAX_GROWTH);
  },
);
