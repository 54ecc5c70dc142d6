/** Idle plugins: a plugin is skipped while no object that it depends on exists, and runs from the next write on. */
import {
  type AdmissionPlugin,
  defaultAdmission,
  inReferenceOrder,
  mutatingAdmissionWebhook,
} from 'orchplane/admission';
import {
  ConfigMap,
  LimitRange,
  MutatingWebhookConfiguration,
  Pod,
  PriorityClass,
  ResourceQuota,
  ValidatingAdmissionPolicyBinding,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { pluginsOf } from '../../../src/server/plugins.js';
import { Store } from '../../../src/storage/store.js';
import { hookCluster, mutateWith, patching } from '../admission/webhook/hooks.js';

const marking = patching({ op: 'add', path: '/metadata/annotations', value: { by: 'hook' } });

async function annotationOf(cluster: ReturnType<typeof testCluster>, name: string): Promise<string | undefined> {
  const { metadata } = await cluster.api(ConfigMap).create({ metadata: { name } });
  return metadata.annotations?.['by'];
}

describe('idle webhook plugins', () => {
  test('runs webhook plugins as soon as a configuration exists, until it is deleted', async () => {
    const { cluster, calls } = hookCluster({ hook: marking });
    expect(await annotationOf(cluster, 'before')).toBe(undefined);
    await mutateWith(cluster, 'hooks', { service: 'hook' });
    expect(await annotationOf(cluster, 'during')).toBe('hook');
    await cluster.api(MutatingWebhookConfiguration).delete('hooks');
    expect(await annotationOf(cluster, 'after')).toBe(undefined);
    expect(calls.length).toBe(1);
  });

  test('runs webhook plugins according to snapshots, restores and forks', async () => {
    const { cluster } = hookCluster({ hook: marking });
    const without = cluster.snapshot();
    await mutateWith(cluster, 'hooks', { service: 'hook' });
    const withConfiguration = cluster.snapshot();
    const fork = cluster.fork();
    expect(await annotationOf(fork as typeof cluster, 'a')).toBe('hook');
    cluster.restore(without);
    expect(await annotationOf(cluster, 'a')).toBe(undefined);
    cluster.restore(withConfiguration);
    expect(await annotationOf(cluster, 'a')).toBe('hook');
  });

  test('runs webhook plugins if a configuration is created while an earlier plugin is awaited', async () => {
    const slow: AdmissionPlugin = {
      name: 'Slow',
      mutate: async ({ served, rounds }) => {
        if (served.kind.kind !== 'ConfigMap' || rounds.round > 0) return;
        await mutateWith(cluster, 'hooks', { service: 'hook' });
      },
    };
    const { cluster } = hookCluster({ hook: marking }, {}, { admission: [slow, ...defaultAdmission] });
    expect(await annotationOf(cluster, 'slow')).toBe('hook');
  });
});

test('activates later plugins when a user-defined plugin writes synchronously', async () => {
  let isDone = false;
  const writing: AdmissionPlugin = {
    name: 'Writing',
    mutate: ({ served }) => {
      if (isDone || served.kind.kind !== 'ConfigMap') return;
      isDone = true;
      void mutateWith(cluster, 'hooks', { service: 'hook' });
    },
  };
  const { cluster } = hookCluster({ hook: marking }, {}, { admission: [writing, ...defaultAdmission] });
  expect(await annotationOf(cluster, 'first')).toBe('hook');
});

test('always runs a modified copy of a built-in plugin', async () => {
  const copy: AdmissionPlugin = {
    ...mutatingAdmissionWebhook,
    name: 'Copy',
    mutate: ({ object }) => {
      if (object !== undefined) object.metadata.annotations = { by: 'copy' };
    },
  };
  const cluster = testCluster({ admission: inReferenceOrder([...defaultAdmission, copy]) });
  expect(await annotationOf(cluster, 'a')).toBe('copy');
});

test('shares the lists of active plugins between clusters with the same chain', async () => {
  const [one, other] = [testCluster(), testCluster()];
  const chain = [mutatingAdmissionWebhook, { name: 'Other', isBuiltIn: true }];
  const clock = one.clock;
  const lists = [one, other].map(({ dialect }) =>
    pluginsOf(chain, new Store({ clock, maxAgeMs: 1, maxEvents: 1 }), dialect).active(),
  );
  expect(lists[0]).toEqual([{ name: 'Other', isBuiltIn: true }]);
  expect(lists[1]).toBe(lists[0]);
});

test('applies a policy binding to the next write', async () => {
  const cluster = testCluster();
  await cluster.applyYaml(`
apiVersion: admissionregistration.orch.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: none }
spec:
  matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: [v1], resources: [configmaps], operations: [CREATE] }] }
  validations: [{ expression: 'false', message: no more }]
`);
  expect((await cluster.api(ConfigMap).create({ metadata: { name: 'a' } })).metadata.name).toBe('a');
  await cluster
    .api(ValidatingAdmissionPolicyBinding)
    .create({ metadata: { name: 'none' }, spec: { policyName: 'none', validationActions: ['Deny'] } });
  await expect(cluster.api(ConfigMap).create({ metadata: { name: 'b' } })).rejects.toThrow('no more');
  await cluster.api(ValidatingAdmissionPolicyBinding).delete('none');
  expect((await cluster.api(ConfigMap).create({ metadata: { name: 'c' } })).metadata.name).toBe('c');
});

describe('idle plugins of namespace limits', () => {
  const web = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'web' }] } });
  const cpuOf = async (cluster: TestCluster, name: string) =>
    (await cluster.api(Pod).create(web(name))).spec.containers[0]?.resources?.limits?.['cpu'];

  test('applies a LimitRange as soon as it exists, until it is deleted', async () => {
    const cluster = testCluster();
    expect(await cpuOf(cluster, 'before')).toBe(undefined);
    const limits = [{ type: 'Container', default: { cpu: '2' } }];
    await cluster.api(LimitRange).create({ metadata: { name: 'r' }, spec: { limits } });
    expect(await cpuOf(cluster, 'during')).toBe('2');
    await cluster.api(LimitRange).delete('r');
    expect(await cpuOf(cluster, 'after')).toBe(undefined);
  });

  test('charges a ResourceQuota as soon as it exists', async () => {
    const cluster = testCluster();
    const configMaps = cluster.api(ConfigMap);
    const quotas = cluster.api(ResourceQuota);
    await configMaps.create({ metadata: { name: 'before' } });
    await quotas.create({ metadata: { name: 'q' }, spec: { hard: { 'count/configmaps': '2' } } });
    await quotas.status.edit('q', (quota) => {
      quota.status = { hard: { 'count/configmaps': '2' }, used: { 'count/configmaps': '1' } };
    });
    await configMaps.create({ metadata: { name: 'during' } });
    expect((await quotas.get('q')).status.used).toEqual({ 'count/configmaps': '2' });
    await expect(configMaps.create({ metadata: { name: 'more' } })).rejects.toThrow('exceeded quota: q');
    await quotas.delete('q');
    expect((await configMaps.create({ metadata: { name: 'after' } })).metadata.name).toBe('after');
  });

  test('uses the default PriorityClass that exists at the time of the write', async () => {
    const cluster = testCluster();
    const classes = cluster.api(PriorityClass);
    const priorityOf = async (name: string) => (await cluster.api(Pod).create(web(name))).spec.priority;
    expect(await priorityOf('none')).toBe(0);
    await classes.create({ metadata: { name: 'high' }, value: 7, globalDefault: true });
    expect(await priorityOf('high')).toBe(7);
    const before = cluster.snapshot();
    await classes.delete('high');
    expect(await priorityOf('gone')).toBe(0);
    cluster.restore(before);
    expect(await priorityOf('back')).toBe(7);
  });
});
