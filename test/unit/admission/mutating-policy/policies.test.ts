/** MutatingAdmissionPolicies in a cluster. */
import type { StatusError } from 'orchplane';
import {
  ConfigMap,
  Deployment,
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  Namespace,
  Pod,
} from 'orchplane/kinds';
import { type TestCluster, type TestClusterOptions, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

function policyCluster(options: TestClusterOptions = {}): TestCluster {
  return testCluster({
    dialect: 'kubernetes',
    featureGates: { MutatingAdmissionPolicy: true },
    runtimeConfig: { 'admissionregistration.k8s.io/v1alpha1': true } as never,
    ...options,
  });
}

const CONFIG_MAPS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  resources: ['configmaps'],
  operations: ['CREATE', 'UPDATE'],
};

interface Wish {
  readonly name?: string;
  readonly apply?: string;
  readonly patch?: string;
  readonly binding?: object;
  readonly [field: string]: unknown;
}

async function addPolicy(cluster: TestCluster, request: Wish): Promise<void> {
  const { name = 'p', apply, patch, binding, ...spec } = request;
  const mutations = [
    ...(apply === undefined ? [] : [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: apply } }]),
    ...(patch === undefined ? [] : [{ patchType: 'JSONPatch', jsonPatch: { expression: patch } }]),
  ];
  await cluster.api(MutatingAdmissionPolicy).create({
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [CONFIG_MAPS] }, reinvocationPolicy: 'Never', mutations, ...spec },
  } as never);
  await cluster.api(MutatingAdmissionPolicyBinding).create({
    metadata: { name: `${name}-b` },
    spec: { policyName: name, ...binding },
  } as never);
}

const labelled = (key: string, value: string) => `Object{metadata: Object.metadata{labels: {${key}: ${value}}}}`;

describe('a MutatingAdmissionPolicy', () => {
  test('changes created and updated objects', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, { apply: labelled('"for"', 'object.metadata.name') });
    const maps = cluster.api(ConfigMap, 'default');
    const made = await maps.create({ metadata: { name: 'a', labels: { x: 'y' } } });
    expect(made.metadata.labels).toEqual({ for: 'a', x: 'y' });
    const changed = await maps.update({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(changed).toMatchObject({ metadata: { labels: { for: 'a' } }, data: { k: 'v' } });
  });

  test('applies its mutations in order, each on the result of the previous one', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, {
      apply: 'Object{data: {"a": "1"}}',
      patch: '[JSONPatch{op: "add", path: "/data/b", value: object.data.a + "2"}]',
      variables: [{ name: 'unused', expression: '1' }],
    });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    expect(made.data).toEqual({ a: '1', b: '12' });
  });

  test.each([
    ['apply configuration', (data: string) => ({ apply: `Object{data: ${data}}` })],
    ['JSON patch', (data: string) => ({ patch: `[JSONPatch{op: "add", path: "/data", value: ${data}}]` })],
  ])('may not repeat a large text without limit in an %s', async (_type, mutation) => {
    const cluster = policyCluster();
    const entries = Array.from({ length: 1000 }, (_, at) => `"k${at}": object.data.big`);
    await addPolicy(cluster, mutation(`{${entries.join(', ')}}`));
    const data = { big: 'x'.repeat(100_000) };
    const spent = cpuTimer();
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data })).rejects.toMatchObject({
      code: 403,
      message: expect.stringMatching(/^policy 'p' with binding '[\w-]+' denied request: .*the result is too large: /),
    });
    expect(spent()).toBeLessThan(1000);
  });

  test('reports denials of many parameters up to a limit', async () => {
    const cluster = policyCluster();
    const params = cluster.api(ConfigMap, 'kube-system');
    for (let at = 0; at < 20; at++) await params.create({ metadata: { name: `p${at}` } });
    await addPolicy(cluster, {
      patch: '[JSONPatch{op: "remove", path: "/data/" + object.data.big}]',
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      binding: { paramRef: { selector: {}, namespace: 'kube-system', parameterNotFoundAction: 'Allow' } },
    });
    const data = { big: 'x'.repeat(1_000_000) };
    const made = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data });
    const causes = await made.catch((error: StatusError) => error.status.details?.causes);
    expect(causes).toBeInstanceOf(Array);
    expect((causes as readonly unknown[]).length).toBe(4);
  });

  test('has defaults applied to the fields it adds', async () => {
    const cluster = policyCluster();
    const container = 'Object.spec.containers{name: "side", image: "car:1"}';
    await addPolicy(cluster, {
      apply: `Object{spec: Object.spec{containers: [${container}]}}`,
      matchConstraints: { resourceRules: [{ ...CONFIG_MAPS, resources: ['pods'] }] },
    });
    const pod = await cluster
      .api(Pod, 'default')
      .create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    expect(pod.spec.containers).toMatchObject([
      { name: 'c' },
      { name: 'side', imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log' },
    ]);
  });

  test('has no effect without a binding, and is not served if its feature gate is disabled', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, { apply: labelled('"a"', '"b"') });
    await cluster.api(MutatingAdmissionPolicyBinding).delete('p-b');
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    expect(made.metadata.labels).toBeUndefined();
    const off = policyCluster({ featureGates: {}, runtimeConfig: {} as never });
    expect(off.kinds().some(({ gvk }) => gvk.kind === 'MutatingAdmissionPolicy')).toBe(false);
    expect((await off.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).metadata.name).toBe('a');
  });

  test('applies only to requests that its constraints, its binding and its match conditions select', async () => {
    const cluster = policyCluster();
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    await addPolicy(cluster, {
      apply: labelled('"seen"', '"yes"'),
      matchConditions: [{ name: 'named', expression: "object.metadata.name != 'skip'" }],
      binding: {
        matchResources: { excludeResourceRules: [{ ...CONFIG_MAPS, resourceNames: ['spared'] }] },
      },
    });
    const labels = async (namespace: string, name: string) =>
      (await cluster.api(ConfigMap, namespace).create({ metadata: { name } })).metadata.labels?.['seen'];
    expect(await labels('default', 'a')).toBe('yes');
    expect(await labels('other', 'skip')).toBeUndefined();
    expect(await labels('other', 'spared')).toBeUndefined();
  });

  test('runs once for each parameter object', async () => {
    const cluster = policyCluster();
    const params = cluster.api(ConfigMap, 'kube-system');
    await params.create({ metadata: { name: 'one', labels: { use: 'yes' } }, data: { key: 'a' } });
    await params.create({ metadata: { name: 'two', labels: { use: 'yes' } }, data: { key: 'b' } });
    await addPolicy(cluster, {
      apply: labelled('params.data.key', 'params.metadata.name'),
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      binding: { paramRef: { namespace: 'kube-system', selector: { matchLabels: { use: 'yes' } } } },
    });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' } });
    expect(made.metadata.labels).toEqual({ a: 'one', b: 'two' });
  });

  test('allows a MutatingAdmissionPolicy to read the namespace, the request and the authorizer in expressions', async () => {
    const cluster = policyCluster();
    await cluster.api(Namespace).create({ metadata: { name: 'other', labels: { team: 'red' } } });
    await addPolicy(cluster, {
      patch:
        '[JSONPatch{op: "add", path: "/data", value: {"team": namespaceObject.metadata.labels.team, "who": request.userInfo.username, "may": string(authorizer.group("").resource("pods").check("get").allowed())}}]',
    });
    const made = await cluster.api(ConfigMap, 'other').create({ metadata: { name: 'x' } });
    expect(made.data).toEqual({ team: 'red', who: 'system:admin', may: 'true' });
  });
});

describe('a failing MutatingAdmissionPolicy', () => {
  const failing = { apply: 'Object{data: {"a": object.data.nope}}' };
  const why = `expression 'Object{data: {"a": object.data.nope}}' resulted in error: no such key: nope`;

  test('rejects the request', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, failing);
    const message = `policy 'p' with binding 'p-b' denied request: ${why}`;
    const create = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { k: 'v' } });
    await expect(create).rejects.toMatchObject({
      status: {
        status: 'Failure',
        message,
        reason: 'Invalid',
        code: 403,
        details: { name: 'a', kind: 'configmaps', causes: [{ message }] },
      },
    });
  });

  test('skips a failing MutatingAdmissionPolicy if its failurePolicy is Ignore', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, { ...failing, failurePolicy: 'Ignore' });
    await addPolicy(cluster, { name: 'q', apply: labelled('"a"', '"b"') });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(made.metadata.labels).toEqual({ a: 'b' });
  });

  test.each([
    [
      { paramKind: { apiVersion: 'example.com/v1', kind: 'Nothing' } },
      `policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: 'example.com/v1, Kind=Nothing'`,
    ],
    [
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        binding: { paramRef: { name: 'none', parameterNotFoundAction: 'Deny' } },
      },
      "policy 'p' with binding 'p-b' denied request: failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction",
    ],
  ])('rejects the request if its configuration is unusable: %j', async (request, message) => {
    const cluster = policyCluster();
    await addPolicy(cluster, { apply: 'Object{}', ...request });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toMatchObject({
      status: { message, reason: 'Forbidden', code: 403, details: { causes: [{ message }] } },
    });
  });
});

describe('several MutatingAdmissionPolicies', () => {
  const adding = (letter: string) =>
    `[JSONPatch{op: "add", path: "/data/by", value: (has(object.data.by) ? object.data.by : "") + "${letter}"}]`;

  test('runs policies in name order, and again if reinvocationPolicy is IfNeeded and the object has changed', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, { name: 'a', patch: adding('a'), reinvocationPolicy: 'IfNeeded' });
    await addPolicy(cluster, { name: 'b', patch: adding('b') });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' }, data: { k: 'v' } });
    expect(made.data).toEqual({ k: 'v', by: 'aba' });
  });

  test('runs policies once if reinvocationPolicy is Never', async () => {
    const cluster = policyCluster();
    await addPolicy(cluster, { name: 'a', patch: adding('a') });
    await addPolicy(cluster, { name: 'b', patch: adding('b') });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' }, data: { k: 'v' } });
    expect(made.data).toEqual({ k: 'v', by: 'ab' });
  });
});

test('changes the status and scale subresources', async () => {
  const cluster = policyCluster();
  const deployments = cluster.api(Deployment, 'default');
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const selector = { matchLabels: { a: 'b' } };
  await deployments.create({ metadata: { name: 'd' }, spec: { replicas: 1, selector, template } });
  const rule = { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'], operations: ['UPDATE'] };
  await addPolicy(cluster, {
    apply: 'Object{spec: Object.spec{replicas: object.spec.replicas * 2}}',
    matchConstraints: { resourceRules: [rule] },
  });
  await deployments.subresource('scale').update('d', { metadata: { name: 'd' }, spec: { replicas: 3 } } as never);
  expect((await deployments.get('d')).spec.replicas).toBe(6);
});
