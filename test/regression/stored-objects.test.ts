/** Stored objects that the server would not accept: another program has written them to etcd, or they are part of a state. */
import {
  APIService,
  ConfigMap,
  CustomResourceDefinition,
  FlowSchema,
  ValidatingAdmissionPolicy,
} from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { type ApiObject, createCluster, mergePatch, rbac } from '../../src/index.js';

const BAD_LABELS = { 'bad label!': 'x' };

const crd = (plural: string, kind: string, labels: Record<string, string>, names: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com`, labels },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind, ...names },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

const flowSchema = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name, labels },
  spec: { priorityLevelConfiguration: { name: 'nosuch' } },
});

const apiService = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name, labels },
  spec: {
    group: name.slice(name.indexOf('.') + 1),
    version: 'v1',
    service: { name: 's', namespace: 'default' },
    groupPriorityMinimum: 1,
    versionPriority: 1,
  },
});

const policy = (name: string, labels: Record<string, string>) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name, labels, generation: 1 },
  spec: { validations: [{ expression: 'true' }] },
});

function open(objects: readonly object[]) {
  const warnings: string[] = [];
  const stored = objects.map((object, index) => {
    const { kind, apiVersion, metadata } = object as ApiObject;
    const status =
      kind === 'CustomResourceDefinition' ? { acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] } : {};
    return {
      ...object,
      kind,
      apiVersion,
      status,
      metadata: { ...metadata, uid: `uid-${index}`, resourceVersion: '5', creationTimestamp: '2030-01-01T00:00:00Z' },
    } as ApiObject;
  });
  const cluster = createCluster({
    dialect: 'kubernetes',
    policyStatus: true,
    onWarning: (warning) => warnings.push(warning),
    from: { resourceVersion: '5', objects: stored },
  });
  return { cluster, warnings };
}

describe('a stored object that the server cannot update', () => {
  test.each([
    ['CustomResourceDefinition', [crd('as', 'A', BAD_LABELS), crd('bs', 'B', {})]],
    ['CustomResourceDefinition', [crd('as', 'A', {}, { listKind: '\ufffd' }), crd('bs', 'B', {})]],
    ['CustomResourceDefinition', [crd('as', 'A', BAD_LABELS), crd('bs', 'A', {})]],
    ['FlowSchema', [flowSchema('a', BAD_LABELS), flowSchema('b', {})]],
    ['APIService', [apiService('v1.a', BAD_LABELS), apiService('v1.b', {})]],
    ['ValidatingAdmissionPolicy', [policy('a', BAD_LABELS), policy('b', {})]],
  ])('a %s fails no request, keeps no other from its status, and is reported once', async (kind, objects) => {
    const { cluster, warnings } = open(objects);
    for (const name of ['x', 'y']) await cluster.api(ConfigMap).create({ metadata: { name } });
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`^the server cannot update ${kind} "[^"]*a[^"]*"`))]);
    const kinds = [CustomResourceDefinition, FlowSchema, APIService, ValidatingAdmissionPolicy];
    const served = kinds.find((each) => each.kind === kind) ?? ConfigMap;
    const statuses = (await cluster.api(served as typeof FlowSchema).list()).items
      .filter(({ metadata: { uid } }) => uid.startsWith('uid-'))
      .map(({ status }) => JSON.stringify(status ?? {}));
    expect(statuses[1]).toMatch(/"True"|"False"|observedGeneration/);
    await cluster.close();
  });

  test('keeps no other from being served if lists of it are null', async () => {
    const damaged = crd('as', 'A', {});
    const broken = policy('a', {});
    const { cluster, warnings } = open([
      { ...damaged, spec: { ...damaged.spec, versions: null } },
      { ...broken, spec: { ...broken.spec, matchConstraints: { resourceRules: [{ apiGroups: null }] } } },
      crd('bs', 'B', {}),
      policy('b', {}),
    ]);
    await cluster.api(ConfigMap).create({ metadata: { name: 'x' } });
    expect(cluster.resolve({ group: 'example.com', version: 'v1', resource: 'bs' })).toBeDefined();
    expect((await cluster.api(ValidatingAdmissionPolicy).get('b')).status?.observedGeneration).toBe(1);
    // A condition of the CRD reports its failure.
    expect(warnings).toEqual([expect.stringMatching(/ValidatingAdmissionPolicy "a"/)]);
    await cluster.close();
  });

  test('gets its status when it has been corrected', async () => {
    const { cluster, warnings } = open([crd('as', 'A', BAD_LABELS)]);
    const definitions = cluster.api(CustomResourceDefinition);
    await definitions.patch('as.example.com', mergePatch({ metadata: { labels: null } }));
    expect(warnings).toHaveLength(1);
    expect((await definitions.get('as.example.com')).status.acceptedNames).toMatchObject({ kind: 'A' });
    expect(cluster.resolve({ group: 'example.com', version: 'v1', resource: 'as' })).toBeDefined();
    await cluster.close();
  });
});

const RBAC = 'rbac.authorization.k8s.io';
const stored = { resourceVersion: '5', creationTimestamp: '2030-01-01T00:00:00Z' };

describe('a stored binding or role that cannot be read', () => {
  const bob = { kind: 'User', name: 'bob' };
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' };
  const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] };
  const named = (kind: string, name: string, fields: object): ApiObject =>
    ({ apiVersion: `${RBAC}/v1`, kind, metadata: { ...stored, name, uid: `${kind}-${name}` }, ...fields }) as ApiObject;

  test.each([
    { roleRef, subjects: 'bob' },
    { roleRef, subjects: {} },
    { roleRef, subjects: [null, 1, { kind: 'User', name: 2 }, { kind: 'ServiceAccount', name: 'a', namespace: {} }] },
    { roleRef: null, subjects: [bob] },
    { subjects: [bob] },
    { rules: 'x' },
    { rules: {} },
    { rules: [null, { verbs: 'list' }, { verbs: ['list'], resources: {} }, { verbs: [1], apiGroups: [''] }] },
    { rules: [], aggregationRule: { clusterRoleSelectors: 'x' } },
  ])('is ignored and reported once: %j', async (damaged) => {
    const warnings: string[] = [];
    const isRole = 'rules' in damaged;
    const objects = [
      named('ClusterRole', 'reader', { rules: [rule] }),
      named('ClusterRoleBinding', 'b', { roleRef, subjects: [bob] }),
      named(isRole ? 'ClusterRole' : 'ClusterRoleBinding', 'a', damaged),
      named('ClusterRoleBinding', 'a-role', { roleRef: { ...roleRef, name: 'a' }, subjects: isRole ? [bob] : [] }),
    ];
    const cluster = createCluster({
      dialect: 'kubernetes',
      authorizer: rbac(),
      onWarning: (warning) => warnings.push(warning),
      from: { resourceVersion: '5', objects },
    });
    const list = async (resource: string) =>
      cluster.send({
        verb: 'list',
        resource: { group: '', version: 'v1', resource },
        options: {},
        user: { user: 'bob' },
      });
    for (let time = 0; time < 2; time++) expect(await list('configmaps')).toMatchObject({ code: 200 });
    await expect(list('namespaces')).rejects.toThrow('cannot list resource "namespaces"');
    if (!('aggregationRule' in damaged)) expect(warnings).toEqual([expect.stringMatching(/"a" has .*cannot be read/)]);
    await cluster.close();
  });
});

test.each([undefined, null, {}, 'x', { acceptedNames: null, conditions: 'x' }])(
  'a stored CRD with the status %j is served',
  async (status) => {
    const definition = crd('as', 'A', {});
    const objects = [{ ...definition, status, metadata: { ...definition.metadata, ...stored, uid: 'u' } }] as never;
    await using cluster = createCluster({ dialect: 'kubernetes', from: { resourceVersion: '5', objects } });
    expect((await cluster.api(CustomResourceDefinition).get('as.example.com')).status).toMatchObject({
      acceptedNames: { kind: 'A' },
      storedVersions: ['v1'],
    });
    expect(cluster.resolve({ group: 'example.com', version: 'v1', resource: 'as' })).toBeDefined();
  },
);

test.each(['x', {}, [null], [1], [{ fieldsV1: 'x' }]])(
  'a state names an object with the managedFields %j',
  (managedFields) => {
    const metadata = { ...stored, name: 'a', namespace: 'default', uid: 'u', managedFields };
    const objects = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata }] as never;
    expect(() => createCluster({ dialect: 'kubernetes', from: { resourceVersion: '5', objects } })).toThrow(
      new TypeError('orchplane: from: ConfigMap default/a has metadata.managedFields that are no list of managers'),
    );
  },
);
