/** Defects in kinds that many objects, long lists and concurrent writes exposed. */
import { type AdmissionPlugin, createCluster as createFullCluster, defaultAdmission, mergePatch } from 'orchplane';
import { createCluster } from 'orchplane/core';
import {
  CertificateSigningRequest,
  CSINode,
  CustomResourceDefinition,
  IPAddress,
  Namespace,
  ResourceQuota,
  Service,
  StorageClass,
} from 'orchplane/kinds';
import { sequentialIds, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { ServiceSpecInput } from '../../src/kinds/generated/core-v1.js';
import { cpuTimer } from '../fixtures/cpu-time.js';
import { rejectionCauses } from '../unit/kinds/rejections.js';

const ports = [{ port: 80 }];
const service = (name: string, spec: ServiceSpecInput = {}) => ({ metadata: { name }, spec: { ports, ...spec } });
const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local' } as const;

/** Makes every write draw the same random numbers. */
const sameRandomIds = () => ({ ...sequentialIds(), random: () => 0.5 });

/** A cluster in which a number of concurrent Service writes wait for each other after validation. */
function contested() {
  let awaited = 0;
  let waiting: (() => void)[] = [];
  const gate: AdmissionPlugin = {
    name: 'gate',
    async validate({ served }) {
      if (served.kind.kind !== 'Service' || waiting.length >= awaited) return;
      await new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length < awaited) return;
        for (const go of waiting) go();
        awaited = 0;
        waiting = [];
      });
    },
  };
  const cluster = testCluster({ admission: [...defaultAdmission, gate], ids: sameRandomIds() });
  const services = cluster.api(Service);
  return {
    cluster,
    services,
    together: <T>(...writes: (() => Promise<T>)[]) => {
      awaited = writes.length;
      return Promise.allSettled(writes.map((write) => write()));
    },
    // Without the Service of the API server.
    owners: async () => {
      const owners = (await cluster.api(IPAddress).list()).items.map(({ spec }) => spec.parentRef?.name);
      return owners.filter((name) => name !== 'kubernetes').sort();
    },
    held: async () => {
      const specs = (await services.list()).items.map(({ spec }) => spec);
      return {
        addresses: specs.flatMap(({ clusterIPs = [] }) => clusterIPs),
        ports: specs.flatMap((spec) => [
          ...(spec.ports ?? []).flatMap(({ nodePort }) => nodePort || []),
          ...(spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []),
        ]),
      };
    },
  };
}

const unique = (values: readonly unknown[]) => new Set(values).size === values.length;
const outcomes = (results: readonly PromiseSettledResult<unknown>[]) => results.map(({ status }) => status).sort();

describe('concurrent Service writes', () => {
  test('allocates other addresses, ports and health check ports after a collision', async () => {
    const { services, together, held, owners } = contested();
    const made = await together(...['a', 'b', 'c'].map((name) => () => services.create(service(name, local))));
    expect(outcomes(made)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    const { addresses, ports: taken } = await held();
    expect([addresses.length, taken.length]).toEqual([4, 6]);
    expect([unique(addresses), unique(taken), await owners()]).toEqual([true, true, ['a', 'b', 'c']]);
  });

  test('allocates other ports after a collision between patches', async () => {
    const { services, together, held } = contested();
    const names = ['a', 'b', 'c'];
    for (const name of names) await services.create(service(name));
    const moved = await together(...names.map((name) => () => services.patch(name, mergePatch({ spec: local }))));
    expect(outcomes(moved)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    const { ports: taken } = await held();
    expect([taken.length, unique(taken)]).toEqual([6, true]);
  });

  test.each([
    ['cluster IP', { clusterIP: '10.0.0.9' }, 'failed to allocate IP 10.0.0.9: provided IP is already allocated'],
    ['node port', { type: 'NodePort', ports: [{ port: 80, nodePort: 31000 }] }, 'provided port is already allocated'],
    [
      'health check port',
      { ...local, healthCheckNodePort: 31000 },
      'failed to allocate requested HealthCheck NodePort 31000: provided port is already allocated',
    ],
  ] as const)('rejects a Service whose given %s is taken and allocates nothing else', async (_what, spec, why) => {
    const { services, together, owners } = contested();
    const create = (name: string) => () => services.create(service(name, spec as ServiceSpecInput));
    const results = await together(create('a'), create('b'));
    const [failed] = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    expect(outcomes(results)).toEqual(['fulfilled', 'rejected']);
    expect(failed).toContain(why);
    expect(await owners()).toEqual(['a']);
  });
});

describe('cluster IPs', () => {
  test('belongs to the stored Service when a plugin changes the draft', async () => {
    let kept: { metadata: { name?: string } } | undefined;
    const mutator: AdmissionPlugin = {
      name: 'meddler',
      trusted: true,
      mutate: ({ served, object }) => {
        if (served.kind.kind === 'Service') kept = object as typeof kept;
      },
      validate: ({ served }) => {
        if (served.kind.kind === 'Service' && kept !== undefined) Object.assign(kept, { metadata: { name: 'other' } });
      },
    } as AdmissionPlugin;
    const cluster = testCluster({ admission: [...defaultAdmission, mutator] });
    await cluster.api(Service).create(service('a'));
    const [, address] = (await cluster.api(IPAddress).list()).items;
    expect(address?.spec.parentRef).toMatchObject({ namespace: 'default', name: 'a' });
  });

  test('treats addresses of Services as allocated that exist before the IPAddress kind', async () => {
    const cluster = createCluster({ kinds: [Namespace, Service], ids: sameRandomIds() });
    const services = cluster.api(Service, 'default');
    const { spec } = await services.create(service('a'));
    cluster.install(IPAddress);
    const again = await services.create(service('b'));
    expect(again.spec.clusterIP).not.toBe(spec.clusterIP);
    const named = services.create(service('c', { clusterIP: spec.clusterIP ?? '' }));
    expect((await rejectionCauses(named))[0]).toContain('provided IP is already allocated');
  });

  test.each([
    ['with IPAddress objects', () => createFullCluster()],
    ['without IPAddress objects', () => createCluster({ kinds: [Namespace, Service] })],
  ])('restores allocations in forks and after a restore %s', async (_what, create) => {
    const cluster = create();
    const open = (of: typeof cluster) => of.api(Service, 'default');
    const expected = (name: string) =>
      service(name, { type: 'NodePort', clusterIP: '10.0.0.9', ports: [{ port: 80, nodePort: 31000 }] });
    const taken = [expect.stringContaining('provided IP is already allocated')];
    const empty = cluster.snapshot();
    await open(cluster).create(expected('a'));
    const full = cluster.snapshot();
    const fork = cluster.fork();
    expect(await rejectionCauses(open(fork).create(expected('b')))).toEqual(taken);
    await open(fork).delete('a');
    await open(fork).create(expected('b'));
    expect(await rejectionCauses(open(cluster).create(expected('b')))).toEqual(taken);
    cluster.restore(empty);
    await open(cluster).create(expected('c'));
    cluster.restore(full);
    expect(await rejectionCauses(open(cluster).create(expected('b')))).toEqual(taken);
    await open(cluster).delete('a');
    await open(cluster).create(expected('b'));
  });

  test('allocates every node port of the range', async () => {
    const cluster = testCluster({ ids: sameRandomIds() });
    const services = cluster.api(Service);
    const onNode = (name: string) => services.create(service(name, { type: 'NodePort' }));
    for (let index = 0; index < 2768; index++) await onNode(`s${index}`);
    await expect(onNode('more')).rejects.toThrow('failed to allocate a nodePort: range is full');
    await services.delete('s1234');
    expect((await onNode('more')).spec.ports?.[0]?.nodePort).toBeDefined();
  });

  test('allocates addresses in constant time', async () => {
    const services = createCluster({ kinds: [Namespace, Service] }).api(Service, 'default');
    const spentMs = cpuTimer();
    for (let index = 0; index < 3000; index++) await services.create(service(`s${index}`));
    // Takes half a second; an earlier implementation took two minutes.
    expect(spentMs()).toBeLessThan(20_000);
  }, 60_000);
});

describe('long lists', () => {
  const many = <T>(count: number, item: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i));

  test('compares topologies without comparing all pairs', async () => {
    const classes = testCluster().api(StorageClass);
    const term = (key: string, values: string[]) => ({ matchLabelExpressions: [{ key, values }] });
    const create = (name: string, allowedTopologies: object[]) =>
      classes.create({ metadata: { name }, provisioner: 'a/b', allowedTopologies });
    await create(
      'a',
      many(20_000, (index) => term('zone', [`z${index}`])),
    );
    const at = (index: number) => `allowedTopologies[${index}].matchLabelExpressions: Duplicate value: ""`;
    expect(
      await rejectionCauses(create('b', [term('k', ['x', 'y']), term('k', ['y', 'x']), term('k', ['x', 'y'])])),
    ).toEqual([at(1), at(2), at(2)]);
    expect(await rejectionCauses(create('b', [{}, term('k', ['x'])]))).toEqual([at(0), at(0)]);
    const reports = await rejectionCauses(
      create(
        'b',
        many(5000, () => term('k', ['x'])),
      ),
    );
    expect(reports.length).toBeLessThan(7000);
    expect(reports).toContain(at(4999));
  });

  test('limits the printed scopes of a quota', async () => {
    const quotas = testCluster().api(ResourceQuota);
    const scopes = many(5000, (index) => `S${index}`) as never[];
    const reports = await rejectionCauses(quotas.create({ metadata: { name: 'a' }, spec: { scopes } }));
    expect(reports).toHaveLength(100);
    const hard = { pods: '1', secrets: '1' };
    const few = quotas.create({ metadata: { name: 'a' }, spec: { hard, scopes: ['BestEffort', 'X' as never] } });
    const list = '[]core.ResourceQuotaScope{"BestEffort", "X"}';
    expect(await rejectionCauses(few)).toEqual([
      `spec.scopes: Invalid value: ${list}: unsupported scope applied to resource`,
      `spec.scopes: Invalid value: ${list}: unsupported scope`,
    ]);
  });

  test('compares CSI drivers by name', async () => {
    const nodes = testCluster().api(CSINode);
    const drivers = (nodeID: string) => many(5000, (index) => ({ name: `d${index}`, nodeID, topologyKeys: null }));
    const made = await nodes.create({ metadata: { name: 'a' }, spec: { drivers: drivers('n') } });
    const spentMs = cpuTimer();
    expect(await rejectionCauses(nodes.update({ ...made, spec: { drivers: drivers('m') } }))).toHaveLength(5000);
    expect(spentMs()).toBeLessThan(10_000);
  });

  test('finds duplicate usages in one pass', async () => {
    const requests = testCluster().api(CertificateSigningRequest);
    const usages = [...many(5000, (index) => `u${index}`), 'u7'] as never[];
    const spec = { request: btoa('x'), signerName: 'a.b/c', usages };
    const reports = await rejectionCauses(requests.create({ metadata: { name: 'a' }, spec }));
    expect(reports).toContain('spec.usages[5000]: Duplicate value: "u7"');
  });

  describe('long lists in CRDs', () => {
    const create = (spec: object) => {
      const openAPIV3Schema = { type: 'object', properties: { spec } };
      return testCluster()
        .api(CustomResourceDefinition)
        .create({
          metadata: { name: 'as.e.com' },
          spec: {
            group: 'e.com',
            scope: 'Namespaced',
            names: { plural: 'as', kind: 'A' },
            versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
          },
        } as never);
    };

    test('limits the printed list map keys', async () => {
      const keysOf = (keys: string[]) => ({
        type: 'array',
        'x-orch-list-type': 'map',
        'x-orch-list-map-keys': keys,
        items: { type: 'object', properties: { a: { type: 'string' } } },
      });
      expect(await rejectionCauses(create(keysOf(many(2000, (index) => `k${index}`))))).toHaveLength(100);
      const reports = await rejectionCauses(create(keysOf(['b', 'b'])));
      expect(reports.map((report) => report.replace(/^.*Invalid value: /, ''))).toEqual([
        '[]string{"b", "b"}: entries must all be names of item properties',
        '[]string{"b", "b"}: entries must all be names of item properties',
        '[]string{"b", "b"}: must not contain duplicate entries',
      ]);
    });

    test('limits the printed enum values', async () => {
      const listOf = (values: unknown[], allowed: unknown[]) => ({
        type: 'array',
        default: values,
        items: { type: 'string', enum: allowed },
      });
      const reports = await rejectionCauses(
        create(
          listOf(
            many(1000, () => 'x'),
            many(1000, (index) => `e${index}`),
          ),
        ),
      );
      expect(reports).toHaveLength(1000);
      expect(reports.filter((report) => report.includes('supported values'))).toHaveLength(100);
      await create(listOf(['e1', 'e2'], ['e2', 'e1']));
    });
  });
});
