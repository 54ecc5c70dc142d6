/**
 * ValidatingAdmissionPolicies in a cluster: which requests they match, in which version, and the effect of their
 * results.
 */
import {
  ConfigMap,
  Deployment,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerV1,
  Namespace,
  Node,
  SelfSubjectReview,
  ValidatingAdmissionPolicy,
  ValidatingWebhookConfiguration,
} from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { validatingAdmissionPolicy } from '../../../../src/admission/policy/validating-admission-policy.js';
import type { AdmissionRequest, ClusterView } from '../../../../src/admission/types.js';
import { bind, definePolicy, demand, policyCluster, rejectionMessage, rule, sentMap } from './clusters.js';

/** How often others could run. */
async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): void => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  await run();
  clearImmediate(timer);
  return turns;
}

const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });

describe('a ValidatingAdmissionPolicy', () => {
  test('has no effect without a binding', async () => {
    const cluster = policyCluster();
    await definePolicy(cluster, 'p', { validations: [{ expression: 'false' }] });
    await cluster.api(ConfigMap, 'default').create(map('a'));
    await bind(cluster, 'p');
    expect(await rejectionMessage(cluster.api(ConfigMap, 'default').create(map('b')))).toBe('failed expression: false');
  });

  test('takes effect in its new form right after an update', async () => {
    const cluster = policyCluster();
    await demand(cluster, "object.data.a == '1'");
    const maps = cluster.api(ConfigMap, 'default');
    expect(await rejectionMessage(maps.create(map('a', { a: '2' })))).toBe("failed expression: object.data.a == '1'");
    await cluster.api(ValidatingAdmissionPolicy).edit('p', (draft) => {
      draft.spec.validations = [{ expression: "object.data.a == '2'" }];
    });
    await maps.create(map('a', { a: '2' }));
    await cluster.api(ValidatingAdmissionPolicy).delete('p');
    await maps.create(map('b', { a: '3' }));
  });

  test('evaluates policies and their bindings in name order', async () => {
    const cluster = policyCluster();
    for (const name of ['z', 'a', 'm']) {
      await definePolicy(cluster, name, { validations: [{ expression: 'false', message: name }] });
    }
    await bind(cluster, 'z', {}, 'first');
    await bind(cluster, 'm', {}, 'third');
    await bind(cluster, 'm', {}, 'second');
    await expect(cluster.api(ConfigMap, 'default').create(map('x'))).rejects.toMatchObject({
      message: `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'm' with binding 'second' denied request: m`,
      status: {
        code: 422,
        reason: 'Invalid',
        details: {
          name: 'x',
          kind: 'configmaps',
          causes: [{ message: "ValidatingAdmissionPolicy 'm' with binding 'second' denied request: m" }],
        },
      },
    });
  });

  test('sees the namespace of a namespaced object, and null for namespaces and nodes', async () => {
    const cluster = policyCluster();
    const rules = [rule(), rule({ resource: 'namespaces' }), rule({ resource: 'nodes' })];
    const expression =
      "namespaceObject == null ? object.metadata.name != 'no' : namespaceObject.metadata.name == 'default'";
    await demand(cluster, expression, { rules });
    await cluster.api(ConfigMap, 'default').create(map('a'));
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    expect(await rejectionMessage(cluster.api(Namespace).create({ metadata: { name: 'no' } }))).toContain(
      'failed expression',
    );
    expect(await rejectionMessage(cluster.api(Node).create({ metadata: { name: 'no' } }))).toContain(
      'failed expression',
    );
    expect(await rejectionMessage(cluster.api(ConfigMap, 'other').create(map('a')))).toContain('failed expression');
  });

  test('validates deletions, updates and subresources', async () => {
    const cluster = policyCluster();
    const rules = [rule(), rule({ group: 'apps', resource: 'deployments/scale' })];
    const expression =
      "request.operation == 'DELETE' ? object == null && oldObject.data.keep != 'yes' : " +
      "has(request.subResource) ? request.kind.kind == 'Scale' && object.spec.replicas < 5 : true";
    await demand(cluster, expression, { rules });
    const maps = cluster.api(ConfigMap, 'default');
    await maps.create(map('a', { keep: 'yes' }));
    expect(await rejectionMessage(maps.delete('a'))).toContain('failed expression');
    await maps.edit('a', (draft) => {
      draft.data = { keep: 'no' };
    });
    await maps.delete('a');
    const deployments = cluster.api(Deployment, 'default');
    const labels = { a: 'b' };
    await deployments.create({
      metadata: { name: 'd' },
      spec: {
        replicas: 9,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const scale = (replicas: number) =>
      deployments.subresource('scale').edit('d', (draft) => {
        draft.spec.replicas = replicas;
      });
    expect(await rejectionMessage(scale(7))).toContain('failed expression');
    await scale(4);
    expect((await deployments.get('d')).spec.replicas).toBe(4);
  });

  test('lets others run while it is evaluated for many parameters', async () => {
    const cluster = policyCluster();
    await definePolicy(cluster, 'p', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [{ expression: "object.data.all(k, !(k in params.data)) || params.data.a == 'deny'" }],
    });
    const maps = cluster.api(ConfigMap, 'default');
    const labels = { param: 'yes' };
    for (let i = 0; i < 40; i++) await maps.create({ metadata: { name: `param-${i}`, labels }, data: { a: 'b' } });
    await bind(cluster, 'p', { paramRef: { selector: { matchLabels: labels }, parameterNotFoundAction: 'Deny' } });
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v']));
    expect(await turnsDuring(() => maps.create(map('x', data)))).toBeGreaterThan(3);
    expect(await rejectionMessage(maps.create(map('y', { ...data, a: 'x' })))).toContain('failed expression');
  });

  test('lets others run while it is evaluated for the objects of a deletecollection', async () => {
    const cluster = policyCluster();
    const maps = cluster.api(ConfigMap, 'default');
    const data = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v']));
    for (let i = 0; i < 40; i++) await maps.create(map(`m${i}`, data));
    await definePolicy(cluster, 'p', {
      rules: [{ ...rule(), operations: ['DELETE'] }],
      validations: [{ expression: "oldObject.data.all(k, oldObject.data[k] == 'v')" }],
    });
    await bind(cluster, 'p');
    expect(await turnsDuring(() => maps.deleteCollection())).toBeGreaterThan(3);
    expect((await maps.list()).items).toEqual([]);
  });

  test('never validates policies or authentication reviews, but validates webhook configurations', async () => {
    const cluster = policyCluster();
    const everything = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*', '*'] };
    await demand(cluster, 'false', { rules: [{ ...everything, resources: ['*/*'] }] });
    await definePolicy(cluster, 'more', { validations: [{ expression: 'true' }] });
    await cluster.api(SelfSubjectReview).create({} as never);
    const webhooks = cluster.api(ValidatingWebhookConfiguration);
    expect(await rejectionMessage(webhooks.create({ metadata: { name: 'w' } }))).toBe('failed expression: false');
    await cluster.api(ValidatingAdmissionPolicy).delete('p');
    await webhooks.create({ metadata: { name: 'w' } });
  });

  test('matches equivalent versions, and sees the object in the version of its rule', async () => {
    const cluster = policyCluster();
    const rules = [rule({ group: 'autoscaling', version: 'v2', resource: 'horizontalpodautoscalers' })];
    const expression =
      "request.kind.version == 'v2' && request.resource.version == 'v2' && request.requestKind.version in ['v1', 'v2'] && " +
      'object.spec.metrics[0].resource.target.averageUtilization < 50';
    await demand(cluster, expression, { rules });
    const scaleTargetRef = { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' };
    const old = cluster.api(HorizontalPodAutoscalerV1, 'default');
    const made = (name: string, targetCPUUtilizationPercentage: number) =>
      old.create({ metadata: { name }, spec: { scaleTargetRef, maxReplicas: 3, targetCPUUtilizationPercentage } });
    await made('a', 40);
    expect(await rejectionMessage(made('b', 60))).toContain('failed expression');
    await cluster.api(HorizontalPodAutoscaler, 'default').get('a');
    await cluster.api(ValidatingAdmissionPolicy).edit('p', (draft) => {
      if (draft.spec.matchConstraints !== undefined) draft.spec.matchConstraints.matchPolicy = 'Exact';
    });
    await made('b', 60);
  });

  test("uses the names of the cluster's dialect", async () => {
    const cluster = policyCluster({ dialect: 'orch' });
    const labels = "namespaceObject.metadata.labels['orch.io/metadata.name'] == 'default'";
    const validations = [{ expression: `${labels} && request.options.apiVersion == 'meta.orch.io/v1'`, message: 'a' }];
    await definePolicy(cluster, 'p', { validations: [...validations, { expression: 'false' }] });
    await bind(cluster, 'p', { validationActions: ['Audit'] });
    const { notes } = await sentMap(cluster, 'a');
    expect(Object.keys(notes)).toEqual(['validation.policy.admission.orch.io/validation_failure']);
    expect(notes).toEqual({
      'validation.policy.admission.orch.io/validation_failure':
        '[{"message":"failed expression: false","policy":"p","binding":"p-binding","expressionIndex":1,"validationActions":["Audit"]}]',
    });
  });
});

describe('a ValidatingAdmissionPolicyBinding', () => {
  test('narrows the resources of its policy', async () => {
    const cluster = policyCluster();
    await definePolicy(cluster, 'p', { validations: [{ expression: 'false' }] });
    await bind(cluster, 'p', {
      matchResources: {
        objectSelector: { matchLabels: { check: 'me' } },
        excludeResourceRules: [{ ...rule(), resourceNames: ['not-me'] }],
      },
    });
    const maps = cluster.api(ConfigMap, 'default');
    const labels = { check: 'me' };
    await maps.create(map('a'));
    await maps.create({ metadata: { name: 'not-me', labels } });
    expect(await rejectionMessage(maps.create({ metadata: { name: 'b', labels } }))).toBe('failed expression: false');
  });

  test('allows a ValidatingAdmissionPolicyBinding to warn and audit without denying', async () => {
    const cluster = policyCluster();
    await definePolicy(cluster, 'p', {
      validations: [{ expression: 'true' }, { expression: "object.data.a != '<1>'", message: 'no <1>' }],
    });
    await bind(cluster, 'p', { validationActions: ['Warn', 'Audit'] });
    expect(await sentMap(cluster, 'a', { a: '<1>' })).toEqual({
      warnings: ["Validation failed for ValidatingAdmissionPolicy 'p' with binding 'p-binding': no <1>"],
      notes: {
        'validation.policy.admission.k8s.io/validation_failure':
          '[{"message":"no \\u003c1\\u003e","policy":"p","binding":"p-binding","expressionIndex":1,"validationActions":["Warn","Audit"]}]',
      },
    });
    expect(await sentMap(cluster, 'b', { a: '2' })).toEqual({ warnings: [], notes: {} });
  });
});

describe('audit annotations', () => {
  test('contains each audit annotation value once for any number of bindings', async () => {
    const cluster = policyCluster();
    await definePolicy(cluster, 'p', {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      auditAnnotations: [
        { key: 'who', valueExpression: "'  ' + request.userInfo.username + ' '" },
        { key: 'param', valueExpression: "params == null ? 'none' : string(params.metadata.name)" },
        { key: 'nothing', valueExpression: "''" },
        { key: 'null', valueExpression: 'null' },
      ],
    });
    for (const name of ['x', 'y']) await cluster.api(ConfigMap, 'default').create(map(name));
    const ref = (name: string) => ({ paramRef: { name, parameterNotFoundAction: 'Allow' } });
    await bind(cluster, 'p', ref('x'), 'one');
    await bind(cluster, 'p', ref('y'), 'two');
    await bind(cluster, 'p', ref('z'), 'three');
    expect((await sentMap(cluster, 'a')).notes).toEqual({ 'p/who': 'system:admin', 'p/param': 'x, y' });
  });

  test('limits the audit annotations of a request', async () => {
    const cluster = policyCluster();
    const auditAnnotations = [{ key: 'k', valueExpression: "string(params.metadata.name + params.data['v'])" }];
    await definePolicy(cluster, 'p', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, auditAnnotations });
    const params = cluster.api(ConfigMap, 'default');
    const data = { v: 'v'.repeat(10 * 1024) };
    for (let at = 0; at < 900; at++) await params.create({ metadata: { name: `x${at}` }, data });
    await bind(cluster, 'p', { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } });
    const [note = ''] = Object.values((await sentMap(cluster, 'a')).notes);
    expect(note.split(', ')).toHaveLength(Math.floor((8 * 1024 * 1024) / (10 * 1024)));
  });

  test('denies the request if an audit annotation expression fails, unless failurePolicy is Ignore', async () => {
    const cluster = policyCluster();
    const auditAnnotations = [{ key: 'k', valueExpression: 'string(object.data.a)' }];
    await definePolicy(cluster, 'p', { auditAnnotations });
    await bind(cluster, 'p', { validationActions: ['Audit'] });
    const maps = cluster.api(ConfigMap, 'default');
    expect(await rejectionMessage(maps.create({ metadata: { name: 'a' } }))).toBe(
      "expression 'string(object.data.a)' resulted in error: no such key: data",
    );
    await cluster.api(ValidatingAdmissionPolicy).edit('p', (draft) => {
      draft.spec.failurePolicy = 'Ignore';
    });
    await maps.create({ metadata: { name: 'a' } });
  });

  test('truncates audit annotations to their maximum length', async () => {
    const cluster = policyCluster();
    const long = `'${'x'.repeat(100)}'`;
    const valueExpression = `[${Array.from({ length: 20 }, () => long).join(',')}].map(a, [1,2,3,4,5,6].map(b, a).join('')).join('')`;
    await definePolicy(cluster, 'p', { auditAnnotations: [{ key: 'k', valueExpression }] });
    await bind(cluster, 'p');
    expect((await sentMap(cluster, 'a')).notes).toEqual({ 'p/k': 'x'.repeat(10 * 1024) });
  });
});

test('reads no objects if there are no policies', () => {
  const reads: string[] = [];
  const view = {
    lastChange: (resource: { readonly resource: string }) => {
      reads.push(`writes ${resource.resource}`);
      return 0;
    },
    list: (resource: { readonly resource: string }) => {
      reads.push(`list ${resource.resource}`);
      return [];
    },
  } as unknown as ClusterView;
  const request = {} as AdmissionRequest;
  for (let time = 0; time < 3; time++) expect(validatingAdmissionPolicy.validate?.(request, view)).toBeUndefined();
  expect(reads.filter((read) => read.startsWith('list'))).toEqual(['list validatingadmissionpolicybindings']);
  expect(reads).toHaveLength(7);
});
