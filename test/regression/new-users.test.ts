/** Problems that new users reported. */
import { createCluster } from 'orchplane';
import { Deployment, Ingress, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const containers = [{ name: 'c', image: 'i' }];
const template = { metadata: { labels: { app: 'web', tier: 'a' } }, spec: { containers } };

describe('manifest of another dialect', () => {
  test('names the dialect of a manifest in the error', async () => {
    const create = createCluster()
      .api(Ingress)
      .create({ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'i' } });
    await expect(create).rejects.toThrow(
      `"networking.k8s.io/v1" is the name in the dialect kubernetes, but this cluster uses orch: omit the apiVersion, write "networking.orch.io/v1", or use createCluster({ dialect: 'kubernetes' })`,
    );
  });

  test('accepts a manifest with an apiVersion of the cluster’s dialect', async () => {
    const manifest = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } };
    const spec = { selector: { matchLabels: { app: 'web' } }, template };
    await expect(
      createCluster()
        .api(Deployment)
        .create({ ...manifest, spec }),
    ).resolves.toBeDefined();
  });
});

describe('selector of a spec as list option', () => {
  test('selects by labels and expressions together', async () => {
    const cluster = testCluster();
    const pods = cluster.api(Pod);
    await pods.create({ metadata: { name: 'a', labels: { app: 'web', tier: 'a' } }, spec: { containers } });
    await pods.create({ metadata: { name: 'b', labels: { app: 'web', tier: 'b' } }, spec: { containers } });
    const { spec } = await cluster.api(Deployment).create({
      metadata: { name: 'd' },
      spec: {
        selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a'] }] },
        template,
      },
    });
    const names = async (labels: NonNullable<Parameters<typeof pods.list>[0]>['labels']) =>
      (await pods.list(labels === undefined ? {} : { labels })).items.map(({ metadata }) => metadata.name);
    expect(await names(spec.selector)).toEqual(['a']);
    expect(await names({ matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a'] }] })).toEqual(['b']);
    // A label may also be called matchLabels.
    expect(await names({ matchLabels: 'x' })).toEqual([]);
  });
});

test('updates a scale without a name in the body', async () => {
  const deployments = testCluster().api(Deployment);
  await deployments.create({ metadata: { name: 'd' }, spec: { selector: { matchLabels: { app: 'web' } }, template } });
  await deployments.subresource('scale').update('d', { spec: { replicas: 5 } });
  expect((await deployments.get('d')).spec.replicas).toBe(5);
});
