/** Defects in kinds with their own strategies that unusual input and timing exposed. */
import type { AdmissionPlugin } from 'orchplane';
import { createCluster, defaultAdmission, mergePatch, StatusError } from 'orchplane';
import {
  CronJob,
  Eviction,
  IPAddress,
  Job,
  Namespace,
  Pod,
  PriorityClass,
  Service,
  ServiceCIDRV1beta1,
} from 'orchplane/kinds';
import { sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

/** Delays every write, so that another write can come in between. */
const slow: AdmissionPlugin = {
  name: 'slow',
  validate: async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  },
};
const admission = [...defaultAdmission, slow];
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
const containers = [{ name: 'c', image: 'i' }];

describe('cluster IPs of services', () => {
  /** Without that of the API server. */
  const addresses = async (cluster: ReturnType<typeof testCluster>) =>
    (await cluster.api(IPAddress).list()).items
      .map(({ metadata, spec }) => [metadata.name, spec.parentRef?.name])
      .filter(([, owner]) => owner !== 'kubernetes');

  test('keeps the address of a service whose update fails with a conflict', async () => {
    const cluster = testCluster({ admission });
    const services = cluster.api(Service);
    const made = await services.create(service('x'));
    const [labelled, changed] = await Promise.allSettled([
      services.patch('x', mergePatch({ metadata: { labels: { a: 'b' } } })),
      services.update({ ...made, spec: { type: 'ExternalName', externalName: 'foo.bar' } }),
    ]);
    expect([labelled.status, changed.status]).toEqual(['fulfilled', 'rejected']);
    expect(await addresses(cluster)).toEqual([[made.spec.clusterIP, 'x']]);
  });

  test('allocates one address when a write is retried', async () => {
    const cluster = testCluster({ admission });
    const services = cluster.api(Service);
    await services.create({ metadata: { name: 'x' }, spec: { type: 'ExternalName', externalName: 'foo.bar' } });
    const turn = (label: string) =>
      services.patch(
        'x',
        mergePatch({
          metadata: { labels: { [label]: 'y' } },
          spec: { type: 'ClusterIP', externalName: null, ports: [{ port: 80 }] },
        } as never),
      );
    await Promise.all([turn('a'), turn('b'), turn('c')]);
    const { spec } = await services.get('x');
    expect(await addresses(cluster)).toEqual([[spec.clusterIP, 'x']]);
    await services.delete('x');
    expect(await addresses(cluster)).toEqual([]);
  });

  test('allocates different addresses for concurrent writes', async () => {
    const cluster = testCluster({ admission });
    const services = cluster.api(Service);
    const made = await Promise.all(['a', 'b', 'c'].map((name) => services.create(service(name, { type: 'NodePort' }))));
    expect(new Set(made.map(({ spec }) => spec.clusterIP)).size).toBe(3);
    expect(new Set(made.map(({ spec }) => spec.ports?.[0]?.nodePort)).size).toBe(3);
  });

  test('allocates no address for a rejected write', async () => {
    const cluster = testCluster();
    const before = cluster.resourceVersion;
    await expect(cluster.api(Service).create(service('x', { ports: [{ port: 0 }] }))).rejects.toThrow('is invalid');
    await expect(
      cluster.api(Service).create({ ...service('x'), metadata: { name: 'x', resourceVersion: '7' } }),
    ).rejects.toThrow('resourceVersion should not be set');
    expect(await addresses(cluster)).toEqual([]);
    expect(cluster.resourceVersion).toBe(before);
  });
});

describe('generated name that is taken', () => {
  const clashing = () => {
    let count = 0;
    return { ...sequentialIds(), suffix: () => (count++ < 2 ? 'aaaaa' : 'bbbbb') };
  };

  test.each([
    ['Job', Job, { spec: { template: { spec: { restartPolicy: 'Never', containers } } } }],
    ['Service', Service, { spec: { type: 'NodePort', ports: [{ port: 80 }] } }],
  ] as const)('generates another name for a %s from the original input', async (_what, kind, body) => {
    const objects = createCluster({ ids: clashing() }).api(kind as typeof Job);
    await objects.create({ metadata: { generateName: 'a-' }, ...body } as never);
    const second = await objects.create({ metadata: { generateName: 'a-' }, ...body } as never);
    expect(second.metadata.name).toBe('a-bbbbb');
    expect((await objects.list()).items.filter(({ metadata }) => metadata.generateName === 'a-')).toHaveLength(2);
  });
});

describe('grace period', () => {
  const running = async () => {
    const cluster = testCluster();
    const pods = cluster.api(Pod);
    await pods.create({ metadata: { name: 'p' }, spec: { nodeName: 'n', containers } });
    return { cluster, pods };
  };

  test.each([9007199254740993n, 9223372036854775807n, 8640000000000, 1e15, 253402300799])(
    'limits the deletion timestamp of %s seconds to the year 9999',
    async (seconds) => {
      const { pods } = await running();
      const dying = await pods.delete('p', { gracePeriodSeconds: seconds as number });
      expect((dying as { metadata: { deletionTimestamp?: string } }).metadata.deletionTimestamp).toMatch(
        /^9999-12-31T/,
      );
      await pods.delete('p', { gracePeriodSeconds: 0 });
      expect(await pods.find('p')).toBeUndefined();
    },
  );

  test('accepts the largest terminationGracePeriodSeconds of a pod', async () => {
    const cluster = testCluster();
    const spec = {
      nodeName: 'n',
      containers,
      terminationGracePeriodSeconds: 9223372036854775807n as unknown as number,
    };
    await cluster.api(Pod).create({ metadata: { name: 'p' }, spec });
    await expect(cluster.api(Pod).delete('p')).resolves.toBeDefined();
  });
});

describe('pod eviction', () => {
  const evict = async (deleteOptions: object, plugins: readonly AdmissionPlugin[] = []) => {
    const cluster = testCluster({ admission: [...defaultAdmission, ...plugins] });
    const pods = cluster.api(Pod);
    const pod = await pods.create({ metadata: { name: 'p' }, spec: { nodeName: 'n', containers } });
    const outcome: unknown = await pods
      .subresource('eviction')
      .create('p', { deleteOptions })
      .catch((error: unknown) => error);
    return { outcome, changed: (await pods.find('p')) !== pod };
  };

  test('changes nothing when its dryRun value is invalid', async () => {
    expect(await evict({ dryRun: ['bogus'] })).toMatchObject({ changed: false });
  });

  test('fails with a conflict for another uid, with and without dry run', async () => {
    for (const dryRun of [[], ['All']]) {
      const { outcome, changed } = await evict({ dryRun, preconditions: { uid: 'other' } });
      expect(StatusError.is(outcome, 'Conflict')).toBe(true);
      expect(changed).toBe(false);
    }
  });

  test('calls plugins for the eviction and not for the delete', async () => {
    const noDeletes: AdmissionPlugin = {
      name: 'no-deletes',
      validate({ operation }) {
        if (operation === 'DELETE') throw new Error('asked about a delete');
      },
    };
    expect(await evict({}, [noDeletes])).toMatchObject({ outcome: { status: 'Success' }, changed: true });
  });

  test('freezes the eviction for validating plugins', async () => {
    const meddling: AdmissionPlugin = {
      name: 'meddling',
      validate({ object, subresource }) {
        if (subresource === 'eviction') (object as unknown as { metadata: { name: string } }).metadata.name = 'other';
      },
    };
    const { outcome, changed } = await evict({}, [meddling]);
    expect((outcome as Error).message).toContain('admission plugin "meddling" failed');
    expect(changed).toBe(false);
  });

  test('exports the Eviction kind', () => {
    expect(Eviction.kind).toBe('Eviction');
  });
});

test('applies defaults to fields that a plugin adds', async () => {
  const sidecar: AdmissionPlugin = {
    name: 'sidecar',
    mutate({ object, served }) {
      if (served.gvk.kind !== 'Pod' || object === undefined) return;
      (object['spec'] as { containers: object[] }).containers.push({ name: 'side', image: 'x' });
    },
  };
  const cluster = testCluster({ admission: [...defaultAdmission, sidecar] });
  const pod = await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers } });
  expect(pod.spec.containers[1]).toMatchObject({ name: 'side', imagePullPolicy: 'Always' });
});

test('rejects a CronJob without a name as invalid', async () => {
  const spec = {
    schedule: '* * * * *',
    jobTemplate: { spec: { template: { spec: { restartPolicy: 'Never', containers } } } },
  };
  await expect(
    testCluster()
      .api(CronJob)
      .create({ metadata: {}, spec } as never),
  ).rejects.toThrow('metadata.name: Required value: name or generateName is required');
});

test('limits the errors about many controlling owner references', async () => {
  const ownerReferences = Array.from({ length: 2000 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    name: `p${index}`,
    uid: `u${index}`,
    controller: true,
  }));
  const error: unknown = await testCluster()
    .api(Pod)
    .create({ metadata: { name: 'p', ownerReferences }, spec: { containers } })
    .catch((failure: unknown) => failure);
  expect(StatusError.is(error, 'Invalid')).toBe(true);
  expect((error as StatusError).status.details?.causes?.length).toBeLessThan(20);
});

describe('runtimeConfig', () => {
  test.each(['v1=false', 'api/all=false', 'api/ga=false'])('keeps namespaces with %s', async (runtimeConfig) => {
    const cluster = createCluster({ runtimeConfig });
    expect((await cluster.api(Namespace).list()).items).toHaveLength(4);
  });

  test('creates the initial objects when only an older version is served', async () => {
    const runtimeConfig = 'networking.orch.io/v1=false, networking.orch.io/v1beta1=true';
    const ranges = await createCluster({ runtimeConfig }).api(ServiceCIDRV1beta1).list();
    expect(ranges.items.map(({ apiVersion, spec }) => [apiVersion, spec.cidrs])).toEqual([
      ['networking.orch.io/v1beta1', ['10.0.0.0/16']],
    ]);
  });

  test('creates the initial objects of a kind that is installed later', async () => {
    const cluster = createCluster({ kinds: [] });
    cluster.install(PriorityClass);
    expect((await cluster.api(PriorityClass).list()).items).toHaveLength(2);
    await cluster.api(PriorityClass).edit('system-node-critical', (draft) => {
      draft.description = 'mine';
    });
    cluster.install(PriorityClass);
    expect((await cluster.api(PriorityClass).get('system-node-critical')).description).toBe('mine');
  });
});
