/** The APIServices that the server creates, and the availability condition of those with a Service. */
import { createCluster, defineKind } from 'orchplane';
import { APIService, CustomResourceDefinition, Deployment, Endpoints, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

type TestCluster = ReturnType<typeof testCluster>;

const LABEL = 'kube-aggregator.orch.io/automanaged';

async function names(cluster: TestCluster): Promise<string[]> {
  return (await cluster.api(APIService).list()).items.map(({ metadata }) => metadata.name);
}

const definition = (versions: Record<string, boolean>) => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced' as const,
    names: { plural: 'widgets', kind: 'Widget' },
    versions: Object.entries(versions).map(([name, served], index) => ({
      name,
      served,
      storage: index === 0,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
});

describe('the APIServices of a new cluster', () => {
  test('creates an APIService for each served version except those of their own group', async () => {
    const cluster = testCluster();
    const served = new Set(cluster.kinds().map(({ gvr }) => `${gvr.version}.${gvr.group}`));
    served.delete('v1.apiregistration.orch.io');
    expect(new Set(await names(cluster))).toEqual(served);
  });

  test('creates complete APIServices in a new cluster', async () => {
    const { metadata, spec, status } = await testCluster().api(APIService).get('v1.apps');
    expect(metadata).toMatchObject({ labels: { [LABEL]: 'onstart' } });
    expect(metadata.managedFields).toMatchObject([
      {
        manager: 'kube-apiserver',
        operation: 'Update',
        fieldsV1: {
          'f:metadata': { 'f:labels': { '.': {}, [`f:${LABEL}`]: {} } },
          'f:spec': { 'f:group': {}, 'f:groupPriorityMinimum': {}, 'f:version': {}, 'f:versionPriority': {} },
        },
      },
    ]);
    expect(spec).toEqual({ group: 'apps', version: 'v1', groupPriorityMinimum: 17_800, versionPriority: 15 });
    const message = 'Local APIServices are always available';
    expect(status.conditions).toMatchObject([{ type: 'Available', status: 'True', reason: 'Local', message }]);
  });

  test('creates APIServices for the kinds of the cluster options', async () => {
    const Thing = defineKind({
      apiVersion: 'things.example.com/v1',
      kind: 'Thing',
      scope: 'Namespaced',
      body: { spec: z.object({}) },
    });
    const cluster = createCluster({ kinds: [APIService, Deployment, Thing] });
    const { items } = await cluster.api(APIService).list();
    const shown = items.map(({ metadata, spec }) => [metadata.name, metadata.labels?.[LABEL], spec.versionPriority]);
    expect(shown).toEqual([
      ['v1.', 'onstart', 1],
      ['v1.apps', 'onstart', 15],
      ['v1.things.example.com', 'true', 100],
    ]);
  });

  test('creates an APIService when a kind is installed in a new version', async () => {
    const Thing = defineKind({
      apiVersion: 'things.example.com/v1',
      kind: 'Thing',
      scope: 'Namespaced',
      body: { spec: z.object({}) },
    });
    const cluster = createCluster({ kinds: [APIService] });
    cluster.install(Thing);
    cluster.install(Deployment);
    const { items } = await cluster.api(APIService).list();
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['v1.', 'v1.apps', 'v1.things.example.com']);
  });
});

describe('user changes to APIServices', () => {
  test('does not recreate deleted APIServices of built-in versions, also in forks and after a restore', async () => {
    const cluster = testCluster();
    await cluster.api(APIService).delete('v1.apps');
    await cluster.api(CustomResourceDefinition).create(definition({ v1: true }) as never);
    expect(await names(cluster)).not.toContain('v1.apps');
    const snapshot = cluster.snapshot();
    const fork = cluster.fork();
    await fork.api(APIService).delete('v1.batch');
    expect((await fork.api(APIService).list()).items.map(({ metadata }) => metadata.name)).not.toContain('v1.apps');
    cluster.restore(snapshot);
    await cluster.api(CustomResourceDefinition).delete('widgets.example.com');
    expect(await names(cluster)).not.toContain('v1.apps');
  });

  test('undoes user changes to the APIServices of CRDs', async () => {
    const cluster = testCluster();
    await cluster.api(CustomResourceDefinition).create(definition({ v1: true }) as never);
    const services = cluster.api(APIService);
    const { metadata } = await services.get('v1.example.com');
    await services.delete('v1.example.com');
    expect((await services.get('v1.example.com')).metadata.uid).not.toBe(metadata.uid);
    await services.edit('v1.example.com', (draft) => {
      draft.spec.groupPriorityMinimum = 5;
    });
    expect((await services.get('v1.example.com')).spec.groupPriorityMinimum).toBe(1000);
  });

  test('keeps user changes to an APIService without the auto-register label', async () => {
    const cluster = testCluster();
    const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 7, versionPriority: 8 };
    await cluster.api(APIService).create({ metadata: { name: 'v1.example.com' }, spec });
    await cluster.api(CustomResourceDefinition).create(definition({ v1: true }) as never);
    expect((await cluster.api(APIService).get('v1.example.com')).spec).toEqual(spec);
    await cluster.api(CustomResourceDefinition).delete('widgets.example.com');
    expect(await names(cluster)).toContain('v1.example.com');
  });
});

describe('the APIServices of a CRD', () => {
  test('keeps an APIService for each version of a CRD while it is served', async () => {
    const cluster = testCluster();
    const mine = async () => (await names(cluster)).filter((name) => name.endsWith('.example.com'));
    await cluster.api(CustomResourceDefinition).create(definition({ v1: true, v2: true, v3: false }) as never);
    expect(await mine()).toEqual(['v1.example.com', 'v2.example.com']);
    const { metadata, spec } = await cluster.api(APIService).get('v2.example.com');
    expect(metadata.labels).toEqual({ [LABEL]: 'true' });
    expect(spec).toEqual({ group: 'example.com', version: 'v2', groupPriorityMinimum: 1000, versionPriority: 100 });
    await cluster.api(CustomResourceDefinition).edit('widgets.example.com', (draft) => {
      draft.spec.versions = definition({ v1: true, v2: false, v3: true }).spec.versions as never;
    });
    expect(await mine()).toEqual(['v1.example.com', 'v3.example.com']);
    await cluster.api(CustomResourceDefinition).delete('widgets.example.com');
    expect(await mine()).toEqual([]);
  });
});

describe('an APIService with a Service', () => {
  const remote = { group: 'metrics.example.com', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 };
  const NAME = 'v1.metrics.example.com';
  const available = async (cluster: TestCluster) =>
    (await cluster.api(APIService).get(NAME)).status.conditions?.map(({ status, reason, message }) => [
      status,
      reason,
      message,
    ])[0];

  async function withService(): Promise<TestCluster> {
    const cluster = testCluster();
    await cluster.api(APIService).create({
      metadata: { name: NAME },
      spec: { ...remote, service: { namespace: 'default', name: 'metrics' } },
    });
    return cluster;
  }

  const service = (port: number, name?: string) => ({
    metadata: { name: 'metrics' },
    spec: { ports: [{ port, ...(name === undefined ? {} : { name }) }] },
  });

  test('reports each missing precondition in turn, and leaves the final availability to a client', async () => {
    const cluster = await withService();
    const where = 'service/metrics in "default"';
    expect(await available(cluster)).toEqual(['False', 'ServiceNotFound', `${where} is not present`]);
    await cluster.api(Service).create(service(80));
    expect(await available(cluster)).toEqual(['False', 'ServicePortError', `${where} is not listening on port 443`]);
    await cluster.api(Service).edit('metrics', (draft) => {
      draft.spec.ports = [{ port: 443, name: 'https' }] as never;
    });
    expect(await available(cluster)).toEqual(['False', 'EndpointsNotFound', `cannot find endpoints for ${where}`]);
    const endpoints = (name: string, ready: boolean) => ({
      metadata: { name: 'metrics' },
      subsets: [{ [ready ? 'addresses' : 'notReadyAddresses']: [{ ip: '10.1.2.3' }], ports: [{ port: 8443, name }] }],
    });
    await cluster.api(Endpoints).create(endpoints('https', false));
    const none = `endpoints for ${where} have no addresses with port name "https"`;
    expect(await available(cluster)).toEqual(['False', 'MissingEndpoints', none]);
    await cluster.api(Endpoints).edit('metrics', (draft) => {
      draft.subsets = endpoints('other', true).subsets as never;
    });
    expect(await available(cluster)).toEqual(['False', 'MissingEndpoints', none]);
    await cluster.api(Endpoints).edit('metrics', (draft) => {
      draft.subsets = endpoints('https', true).subsets as never;
    });
    expect(await available(cluster)).toEqual(['False', 'MissingEndpoints', none]);
    await cluster.api(Service).delete('metrics');
    expect(await available(cluster)).toEqual(['False', 'ServiceNotFound', `${where} is not present`]);
  });

  test('changes lastTransitionTime only with the condition status', async () => {
    const cluster = await withService();
    const first = (await cluster.api(APIService).get(NAME)).status.conditions?.[0];
    await cluster.clock.advance(5000);
    await cluster.api(Service).create(service(80));
    const second = (await cluster.api(APIService).get(NAME)).status.conditions?.[0];
    expect(second?.reason).not.toBe(first?.reason);
    expect(second?.lastTransitionTime).toBe(first?.lastTransitionTime);
  });

  test('becomes available at once when its service is removed', async () => {
    const cluster = await withService();
    await cluster.api(APIService).edit(NAME, (draft) => {
      delete draft.spec.service;
    });
    expect(await available(cluster)).toEqual(['True', 'Local', 'Local APIServices are always available']);
  });

  test('does not write an APIService if nothing changes', async () => {
    const cluster = await withService();
    const before = (await cluster.api(APIService).get(NAME)).metadata.resourceVersion;
    await cluster.api(Service).create({ metadata: { name: 'other' }, spec: { ports: [{ port: 1 }] } });
    expect((await cluster.api(APIService).get(NAME)).metadata.resourceVersion).toBe(before);
  });
});
