/** How policies find their parameters, and the result when they do not. */
import { ConfigMap, Namespace, Node, StorageClass, ValidatingAdmissionPolicy } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { api, define, GROUP, object, version, WIDGETS, widget } from '../../crd/widgets.js';
import { bind, definePolicy, policyCluster, rejectionMessage, rule } from './clusters.js';

const CONFIG_MAPS = { apiVersion: 'v1', kind: 'ConfigMap' };
const map = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });
const named = (name: string, more: object = {}) => ({ paramRef: { name, parameterNotFoundAction: 'Deny', ...more } });

/** Creates a policy for nodes and secrets whose message contains the parameter. */
async function withParams(paramRef: object, paramKind: object = CONFIG_MAPS) {
  const cluster = policyCluster();
  await definePolicy(cluster, 'p', {
    rules: [rule({ resource: 'nodes' }), rule({ resource: 'secrets' }), rule()],
    paramKind,
    validations: [
      { expression: 'false', messageExpression: "params == null ? 'none' : params.kind + ' ' + params.metadata.name" },
    ],
  });
  await bind(cluster, 'p', paramRef);
  return {
    cluster,
    node: () => rejectionMessage(cluster.api(Node).create({ metadata: { name: 'n' } })),
    map: (namespace = 'default') => rejectionMessage(cluster.api(ConfigMap, namespace).create(map('other'))),
  };
}

describe('a parameter referenced by name', () => {
  test('reads a parameter from the namespace of the request unless paramRef names a namespace', async () => {
    const here = await withParams(named('m'));
    expect(await here.map()).toBe(
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
    const there = await withParams(named('m', { namespace: 'there' }));
    await there.cluster.api(Namespace).create({ metadata: { name: 'there' } });
    expect(await there.node()).toContain('no params found');
    // The parameter must exist before the policy, which would reject it.
    expect(await there.map('there')).toContain('no params found');
  });

  test('fails for a parameter of a namespaced kind and a cluster-scoped resource', async () => {
    const { node } = await withParams(named('m'));
    expect(await node()).toBe(
      'failed to configure binding: cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    );
  });

  test('rejects a namespace for a parameter of a cluster-scoped kind', async () => {
    const classes = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };
    const wrong = await withParams(named('c', { namespace: 'default' }), classes);
    expect(await wrong.node()).toBe(
      'failed to configure binding: paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    );
    const right = await withParams(named('c'), classes);
    await right.cluster.api(StorageClass).create({ metadata: { name: 'c' }, provisioner: 'x.io/y' });
    expect(await right.node()).toBe('StorageClass c');
    expect(await right.map()).toBe('StorageClass c');
  });

  test('allows a missing parameter if parameterNotFoundAction is Allow', async () => {
    const { node } = await withParams(named('m', { namespace: 'default', parameterNotFoundAction: 'Allow' }));
    expect(await node()).toBe('admitted');
  });
});

test('evaluates a policy without parameters if the binding has no paramRef', async () => {
  const { node } = await withParams({});
  expect(await node()).toBe('none');
});

test('evaluates a policy with every selected parameter', async () => {
  const cluster = policyCluster();
  for (const name of ['a', 'b', 'c']) {
    await cluster
      .api(ConfigMap, 'default')
      .create({ ...map(name, { max: name }), metadata: { name, labels: { in: name } } });
  }
  await definePolicy(cluster, 'p', {
    rules: [rule({ resource: 'nodes' })],
    paramKind: CONFIG_MAPS,
    validations: [
      { expression: 'params.data.max != object.metadata.name', messageExpression: 'string(params.metadata.name)' },
    ],
  });
  const matchExpressions = [{ key: 'in', operator: 'NotIn', values: ['c'] }];
  await bind(cluster, 'p', {
    paramRef: { selector: { matchExpressions }, namespace: 'default', parameterNotFoundAction: 'Deny' },
  });
  const node = (name: string) => rejectionMessage(cluster.api(Node).create({ metadata: { name } }));
  expect(await node('a')).toBe('a');
  expect(await node('b')).toBe('b');
  expect(await node('c')).toBe('admitted');
});

test('reports a paramKind that is not served as a configuration error', async () => {
  const { node } = await withParams(named('m'), { apiVersion: 'x.io/v1', kind: 'Nothing' });
  expect(await node()).toBe(
    "failed to configure policy: failed to find resource referenced by paramKind: 'x.io/v1, Kind=Nothing'",
  );
});

test('reports a paramKind whose objects are not stored as not yet synced', async () => {
  const { node } = await withParams(named('m'), { apiVersion: 'v1', kind: 'ComponentStatus' });
  expect(await node()).toBe(
    'failed to configure binding: paramKind kind `&ParamKind{APIVersion:v1,Kind:ComponentStatus,}` not yet synced to use for admission',
  );
});

test('removes managedFields from parameters of built-in kinds, but not of custom resources', async () => {
  const cluster = policyCluster();
  await define(cluster, { versions: [version({ spec: object({ a: { type: 'integer' } }) })] });
  const owner = { fieldManager: 'me' };
  await cluster.api(ConfigMap, 'default').create(map('m', { a: 'b' }), owner);
  await api(cluster).create(widget('w', { a: 1 }), owner);
  const validations = [{ expression: 'has(params.metadata.managedFields)', message: 'no owners' }];
  const rules = [rule({ resource: 'nodes' })];
  await definePolicy(cluster, 'p', { rules, validations, paramKind: CONFIG_MAPS });
  await bind(cluster, 'p', named('m', { namespace: 'default' }));
  expect(await rejectionMessage(cluster.api(Node).create({ metadata: { name: 'n' } }))).toBe('no owners');
  await cluster.api(ValidatingAdmissionPolicy).delete('p');
  await definePolicy(cluster, 'q', { rules, validations, paramKind: { apiVersion: `${GROUP}/v1`, kind: 'Widget' } });
  await bind(cluster, 'q', named('w', { namespace: 'default' }));
  expect(await rejectionMessage(cluster.api(Node).create({ metadata: { name: 'n' } }))).toBe('admitted');
});

describe.each([
  ['synchronously', (value: object) => value],
  ['asynchronously', async (value: object) => value],
])('custom resources that are converted %s', (_when, give) => {
  type Spec = Record<string, unknown>;
  const convert = (draft: Spec, to: string) => {
    const spec = (draft['spec'] ?? {}) as Spec;
    const size = to === 'v2' ? spec['size'] : (spec['inside'] as Spec | undefined)?.['size'];
    return give({ ...draft, apiVersion: `${GROUP}/${to}`, spec: to === 'v2' ? { inside: { size } } : { size } });
  };
  const size = { type: 'integer' };
  const versions = [
    version({ spec: object({ size }) }),
    version({ name: 'v2', storage: false, spec: object({ inside: object({ size }) }) }),
  ];

  test('uses and validates custom resource parameters in the version that the policy names', async () => {
    const cluster = policyCluster({ conversions: { [WIDGETS]: convert as never } });
    await define(cluster, { versions });
    await api(cluster).create(widget('limit', { size: 3 }));
    await definePolicy(cluster, 'p', {
      rules: [rule({ group: GROUP, version: 'v2', resource: 'widgets' })],
      paramKind: { apiVersion: `${GROUP}/v2`, kind: 'Widget' },
      validations: [
        {
          expression: 'object.spec.inside.size <= params.spec.inside.size',
          messageExpression: "'at most ' + string(params.spec.inside.size)",
        },
      ],
    });
    await bind(cluster, 'p', named('limit'));
    await api(cluster).create(widget('a', { size: 3 }));
    expect(await rejectionMessage(api(cluster).create(widget('b', { size: 4 })))).toBe('at most 3');
    await api(cluster, 'v2').create(widget('b', { inside: { size: 2 } }));
    expect(await rejectionMessage(api(cluster, 'v2').create(widget('c', { inside: { size: 4 } })))).toBe('at most 3');
  });
});
