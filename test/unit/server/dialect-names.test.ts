/** Names of the other dialect have no effect, so writing them causes a warning, or an error in a strict cluster. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterOptions } from 'orchplane';
import { createCluster } from 'orchplane';
import {
  ClusterRole,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Node,
  Pod,
  Secret,
  StorageClass,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';
import { translatorTo } from '../../../src/meta/other-dialect.js';
import { root } from '../../package/manifest.js';

/** A cluster with the warnings that it printed and those that it sent. */
function clusterWith(options: ClusterOptions = {}) {
  const printed: string[] = [];
  const sent: string[] = [];
  const onWarning = (warning: string) => printed.push(warning);
  const cluster = createCluster({ ...options, onWarning, client: { onWarning: (warning) => sent.push(warning) } });
  return { cluster, printed, sent };
}

const ENFORCE = { 'pod-security.kubernetes.io/enforce': 'restricted' };
const POD_SECURITY =
  '"pod-security.kubernetes.io/enforce" has no effect in this cluster: it is spelled "pod-security.orch.io/enforce" in the ' +
  "dialect orch; createCluster({ dialect: 'kubernetes' }) uses the other names";

describe('names of the other dialect', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('cause a warning to the client with each write, and one of the cluster for each name', async () => {
    const { cluster, printed, sent } = clusterWith();
    await cluster.api(Namespace).create({ metadata: { name: 'a', labels: ENFORCE } });
    await cluster.api(Namespace).create({ metadata: { name: 'b', labels: ENFORCE } });
    expect(sent).toEqual([POD_SECURITY, POD_SECURITY]);
    expect(printed).toEqual([POD_SECURITY]);
  });

  test('are found in types, taints, selectors, finalizers, annotations, templates and groups', async () => {
    const { cluster, printed } = clusterWith();
    const containers = [{ name: 'c', image: 'i' }];
    await cluster.api(Secret).create({ metadata: { name: 'a' }, type: 'kubernetes.io/tls' });
    await cluster.api(StorageClass).create({
      metadata: { name: 'a', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'p',
    });
    await cluster.api(Node).create({
      metadata: { name: 'a', finalizers: ['kubernetes.io/pv-protection'] },
      spec: { taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
    });
    await cluster.api(Pod).create({
      metadata: { name: 'a' },
      spec: { containers, nodeSelector: { 'kubernetes.io/hostname': 'a' } },
    });
    await cluster.api(ClusterRole).create({
      metadata: { name: 'a' },
      rules: [{ apiGroups: ['networking.k8s.io'], resources: ['ingresses'], verbs: ['get'] }],
    });
    const labels = { app: 'a' };
    const annotations = { 'batch.kubernetes.io/job-tracking': '' };
    await cluster.api(Deployment).create({
      metadata: { name: 'a' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels, annotations }, spec: { containers } },
      },
    });
    expect(printed.map((warning) => warning.split('"').filter((_, index) => index % 2 === 1))).toEqual([
      ['kubernetes.io/tls', 'orch.io/tls'],
      ['storageclass.kubernetes.io/is-default-class', 'storageclass.orch.io/is-default-class'],
      ['kubernetes.io/pv-protection', 'orch.io/pv-protection'],
      ['node.kubernetes.io/unschedulable', 'node.orch.io/unschedulable'],
      ['kubernetes.io/hostname', 'orch.io/hostname'],
      ['networking.k8s.io', 'networking.orch.io'],
      ['batch.kubernetes.io/job-tracking', 'batch.orch.io/job-tracking'],
    ]);
  });

  test('are found in the other direction', async () => {
    const { cluster, printed } = clusterWith({ dialect: 'kubernetes' });
    await cluster
      .api(Namespace)
      .create({ metadata: { name: 'a', labels: { 'pod-security.orch.io/enforce': 'baseline' } } });
    expect(printed).toEqual([
      expect.stringContaining('is spelled "pod-security.kubernetes.io/enforce" in the dialect kubernetes'),
    ]);
  });

  test('are refused by a strict cluster, which writes nothing', async () => {
    const { cluster } = clusterWith({ strict: true });
    await expect(cluster.api(Namespace).create({ metadata: { name: 'a', labels: ENFORCE } })).rejects.toMatchObject({
      reason: 'BadRequest',
      message: POD_SECURITY,
    });
    expect(await cluster.api(Namespace).find('a')).toBeUndefined();
  });

  test('are ignored where users may write anything, and if only users give them a meaning', async () => {
    const { cluster, printed } = clusterWith();
    await cluster.api(ConfigMap).create({
      metadata: { name: 'a', labels: { 'app.kubernetes.io/name': 'web', 'example.com/k8s.io': 'a' } },
      data: { 'kubernetes.io': 'kubernetes.io/tls' },
    });
    await cluster.api(Pod).create({
      metadata: { name: 'a' },
      spec: { containers: [{ name: 'c', image: 'i', workingDir: 'apps.kubernetes.io/x' }] },
    });
    const schema = {
      openAPIV3Schema: { type: 'object', properties: { a: { type: 'string', enum: ['kubernetes.io/tls'] } } },
    };
    await cluster.api(CustomResourceDefinition).create({
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'things', kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    });
    expect(printed).toEqual([]);
  });

  test('do not occur in a test cluster whose project has set ORCHPLANE_DIALECT', async () => {
    vi.stubEnv('ORCHPLANE_DIALECT', 'kubernetes');
    expect(testCluster().dialect.name).toBe('kubernetes');
    expect(testCluster({ dialect: 'orch' }).dialect.name).toBe('orch');
    vi.stubEnv('ORCHPLANE_DIALECT', '');
    expect(testCluster().dialect.name).toBe('orch');
    vi.stubEnv('ORCHPLANE_DIALECT', 'nonsense');
    expect(() => testCluster()).toThrow('ORCHPLANE_DIALECT is "nonsense"; there are orch and kubernetes');
  });
});

describe('the table of names', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
    .join('\n');
  const toOrch = translatorTo(orchDialect, []);

  test('contains all names of the source code', () => {
    const keys = [...sources.matchAll(/\.key\('([^']+)'\)/g)].map(([, name = '']) => kubernetesDialect.key(name));
    const subkeys = [...sources.matchAll(/\bsubkey\('([^']+)'/g)]
      .filter(([, subdomain]) => subdomain !== 'app')
      .map(([, subdomain = '']) => kubernetesDialect.subkey(subdomain, 'name'));
    expect(keys.length).toBeGreaterThan(20);
    expect(subkeys.length).toBeGreaterThan(50);
    expect([...keys, ...subkeys].filter((name) => toOrch(name) === undefined)).toEqual([]);
  });
});
