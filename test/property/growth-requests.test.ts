/**
 * The CPU time of a request grows with the size of its parts, not with the product of them: of two lists of an object that
 * refer to each other, of a patch and the object, of an object and the rules that it is checked against.
 */
import { jsonPatch, mergePatch, StatusError, strategicPatch } from 'orchplane';
import { defaultAdmission, extendedResourceToleration, podTolerationRestrictionWith } from 'orchplane/admission';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, Pod, Role, Service } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { checkPolicyTypes } from '../../src/admission/policy/type-checking.js';
import { apiOf, clusterWith, entries, fullCluster, growthOf, items, MAX_GROWTH } from './growing-values.js';

type Request = () => Promise<unknown>;

/** A request of some length, prepared, and that length. */
type Case = readonly [length: number, request: (length: number) => Request | Promise<Request>];

const DRY_RUN = { dryRun: true };

/** The growth of a request that succeeds, or is rejected by validation or admission. */
async function checkGrowth([length, request]: Case): Promise<void> {
  const expected = [403, 409, 422];
  await (await request(4))().catch((error: unknown) => expect(expected).toContain(StatusError.is(error) && error.code));
  expect(await growthOf(request, length)).toBeLessThan(MAX_GROWTH);
}

const empty = fullCluster();

const createPod = (spec: object, container: object, cluster = empty) => {
  const body = { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec } };
  return () => apiOf(cluster, Pod).create(body, DRY_RUN);
};

const names = (length: number, prefix: string) => items(length, (index) => `${prefix}${index}`);
const claims = (length: number, prefix = 'r-') => names(length, prefix).map((name) => ({ name }));
const podClaims = (length: number) => claims(length).map(({ name }) => ({ name, resourceClaimName: 'a' }));

describe('a pod', () => {
  const CASES: Readonly<Record<string, Case>> = {
    'claims of a container': [
      8_000,
      (length) => createPod({ resourceClaims: podClaims(length) }, { resources: { claims: claims(length) } }),
    ],
    'claims that do not exist': [
      4_000,
      (length) => createPod({ resourceClaims: podClaims(length) }, { resources: { claims: claims(length, 'x-') } }),
    ],
    'requests of claims': [
      8_000,
      (length) => {
        const requests = claims(length).map(({ name }, index) => (index % 2 === 0 ? { name, request: 'a' } : { name }));
        return createPod({ resourceClaims: podClaims(length) }, { resources: { claims: requests } });
      },
    ],
    'containers and claims': [
      4_000,
      (length) => {
        const containers = names(length, 'c-').map((name) => ({
          name,
          image: 'i',
          resources: { claims: claims(1, 'x-') },
        }));
        return createPod({ resourceClaims: podClaims(length), containers }, {});
      },
    ],
    'mounts and devices': [
      12_000,
      (length) => {
        const persistentVolumeClaim = { claimName: 'a' };
        return createPod(
          { volumes: names(length * 2, 'v-').map((name) => ({ name, persistentVolumeClaim })) },
          {
            volumeMounts: items(length, (index) => ({ name: `v-${index}`, mountPath: `/m/${index}` })),
            volumeDevices: items(length, (index) => ({ name: `v-${length + index}`, devicePath: `/d/${index}` })),
          },
        );
      },
    ],
  };

  test.each(Object.entries(CASES))(
    'is validated in proportion to the number of its %s',
    { timeout: 120_000 },
    (_name, testCase) => checkGrowth(testCase),
  );
});

const limitRange = (limits: readonly object[]) => ({
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'a' },
  spec: { limits },
});

const QUOTA = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'a' },
  spec: { hard: { pods: '9' } },
  status: { hard: { pods: '9' }, used: { pods: '0' } },
};

const rules = (length: number) => items(length, (index) => ruleFor({ resourceNames: [`n-${index}`] }));
const ruleFor = (more: object) => ({ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], ...more });
const MAKE_ROLES = { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] };

/** A cluster in which alice has a role with these rules. */
const clusterOfAlice = (granted: readonly object[]) => {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const roleRef = { apiGroup, kind: 'Role', name: 'a' };
  const subjects = [{ apiGroup, kind: 'User', name: 'alice' }];
  const metadata = { name: 'a' };
  const cluster = clusterWith([
    { apiVersion, kind: 'Role', metadata, rules: granted },
    { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
  ]);
  return cluster.with({ as: { user: 'alice' } });
};

const createRole = (granted: readonly object[], wanted: readonly object[]) => {
  const roles = apiOf(clusterOfAlice([MAKE_ROLES, ...granted]) as never, Role);
  return () => roles.create({ metadata: { name: 'b' }, rules: wanted }, DRY_RUN);
};

describe('admission and authorization', () => {
  const CASES: Readonly<Record<string, Case>> = {
    'limits and containers': [
      4_000,
      (length) => {
        const limits = items(length, () => ({ type: 'Container', max: { cpu: '2' }, min: { cpu: '1m' } }));
        const resources = { requests: { cpu: '1' }, limits: { cpu: '1' } };
        const containers = names(length, 'c-').map((name) => ({ name, image: 'i', resources }));
        return createPod({ containers }, {}, clusterWith([limitRange(limits)]));
      },
    ],
    'resources of sidecars': [
      8_000,
      (length) => {
        const initContainers = items(length, (index) => {
          const amounts = { [`example.com/r-${index}`]: '1' };
          const resources = { requests: amounts, limits: amounts };
          return { name: `i-${index}`, image: 'i', restartPolicy: 'Always', resources };
        });
        return createPod({ initContainers }, {}, clusterWith([QUOTA]));
      },
    ],
    'resources of a quota': [
      8_000,
      (length) => {
        const amounts = entries(length, 'example.com/r-', '1');
        const [hard, used] = ['9', '0'].map((amount) => entries(length, 'requests.example.com/r-', amount));
        const quota = { ...QUOTA, spec: { hard }, status: { hard, used } };
        return createPod({}, { resources: { requests: amounts, limits: amounts } }, clusterWith([quota]));
      },
    ],
    'tolerations and allowed tolerations': [
      8_000,
      (length) => {
        const tolerations = names(length, 'k-').map((key) => ({ key, operator: 'Exists' }));
        const whitelist = [{ effect: 'NoExecute', operator: 'Exists' }, ...tolerations];
        const admission = [...defaultAdmission, podTolerationRestrictionWith({ whitelist })];
        return createPod({ tolerations }, {}, fullCluster({ admission }));
      },
    ],
    'extended resources that a pod tolerates': [
      8_000,
      (length) => {
        const amounts = entries(length, 'example.com/r-', '1');
        const admission = [...defaultAdmission, extendedResourceToleration];
        return createPod({}, { resources: { requests: amounts, limits: amounts } }, fullCluster({ admission }));
      },
    ],
    'words of a rule that is type-checked': [
      400,
      (length) => {
        const words = {
          apiGroups: names(length, 'g-'),
          apiVersions: names(length, 'v'),
          resources: names(length, 'r-'),
        };
        const matchConstraints = {
          resourceRules: [{ ...words, operations: ['CREATE' as const], scope: '*' }],
          namespaceSelector: {},
          objectSelector: {},
          matchPolicy: 'Exact',
        } as const;
        return async () => checkPolicyTypes({ failurePolicy: 'Fail', matchConstraints }, empty);
      },
    ],
    'words of a rule in a role': [
      8_000,
      (length) => {
        const words = { verbs: names(length, 'v-'), apiGroups: names(length, 'g-'), resources: names(length, 'r-') };
        const rule = { ...words, resourceNames: names(length, 'n-') };
        const configMaps = apiOf(clusterOfAlice([rule]) as never, ConfigMap);
        return () => configMaps.get('a');
      },
    ],
    'rules that a user holds and grants': [8_000, (length) => createRole(rules(length), rules(length))],
    'verbs that a user grants but does not hold': [
      8_000,
      (length) => createRole([], [ruleFor({ verbs: names(length, 'v-') })]),
    ],
  };

  test.each(Object.entries(CASES))(
    'take time in proportion to the number of %s',
    { timeout: 120_000 },
    (_name, testCase) => checkGrowth(testCase),
  );
});

const stored = (data: object, metadata: object = {}) =>
  apiOf(clusterWith([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', ...metadata }, data }]), ConfigMap);

const managers = (length: number, operation: string) =>
  items(length, (index) => ({
    manager: `m-${index}`,
    operation,
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: { 'f:data': { [`f:k-${index}`]: {} } },
  }));

describe('a write of a stored object', () => {
  const finalizers = (length: number) => names(length, 'example.com/');

  const CASES: Readonly<Record<string, Case>> = {
    'operations of a JSON patch': [
      8_000,
      (length) => {
        const operations = items(length, (index) => ({
          op: 'move',
          from: `/data/k-${index}`,
          path: `/data/l-${index}`,
        }));
        const configMaps = stored(entries(length, 'k-', 'v'));
        return () => configMaps.patch('a', jsonPatch(operations as never), DRY_RUN);
      },
    ],
    'keys of a merge patch': [
      8_000,
      (length) => {
        const configMaps = stored(entries(length, 'k-', 'v'));
        return () => configMaps.patch('a', mergePatch({ data: entries(length, 'k-', null) }), DRY_RUN);
      },
    ],
    'items of a strategic merge patch': [
      8_000,
      (length) => {
        const added = names(length, 'example.com/added-');
        const metadata = { finalizers: added, '$setElementOrder/finalizers': [...added, ...finalizers(length)] };
        const configMaps = stored({}, { finalizers: finalizers(length) });
        return () => configMaps.patch('a', strategicPatch({ metadata } as never), DRY_RUN);
      },
    ],
    'managers that applied a field': [
      4_000,
      (length) => {
        const configMaps = stored(entries(length, 'k-', 'v'), { managedFields: managers(length, 'Apply') });
        const applied = { metadata: { name: 'a' }, data: entries(length, 'k-', 'w') };
        return () => configMaps.apply(applied, { fieldManager: 'a', ...DRY_RUN });
      },
    ],
    'managers that updated a field': [
      4_000,
      (length) => {
        const configMaps = stored(entries(length, 'k-', 'v'), { managedFields: managers(length, 'Update') });
        const applied = { metadata: { name: 'a' }, data: entries(length, 'k-', 'w') };
        return () => configMaps.apply(applied, { fieldManager: 'a', force: true, ...DRY_RUN });
      },
    ],
    'finalizers of a deleted object': [
      32_000,
      (length) => {
        const configMaps = stored({}, { finalizers: finalizers(length) });
        return () => configMaps.delete('a', DRY_RUN);
      },
    ],
    'ports of a service': [
      8_000,
      (length) => {
        const ports = items(length, (index) => ({ name: `p-${index}`, port: index + 1 }));
        const service = { metadata: { name: 'a' }, spec: { type: 'NodePort', ports } };
        return () => apiOf(empty, Service).create(service, DRY_RUN);
      },
    ],
  };

  test.each(Object.entries(CASES))(
    'takes time in proportion to the number of %s',
    { timeout: 120_000 },
    (_name, testCase) => checkGrowth(testCase),
  );
});

describe('a list', () => {
  const cluster = fullCluster();

  test.each([
    ['labels', 'k-%!=v'],
    ['fields', 'metadata.name!=k-%'],
  ])(
    'takes time in proportion to the number of requirements of its selector for %s',
    { timeout: 120_000 },
    (field, term) =>
      checkGrowth([
        8_000,
        (length) => {
          const selector = items(length, (index) => term.replace('%', String(index))).join(',');
          return () => apiOf(cluster, ConfigMap).list({ [field]: selector });
        },
      ]),
  );
});

describe('a response', () => {
  const table = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const configMap = (length: number) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: entries(length, 'l-', 'v'), managedFields: managers(1, 'Update') },
    data: entries(length, 'k-', 'v'),
  });
  const endpoints = (length: number) => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'a' },
    subsets: [{ addresses: items(length, () => ({ ip: '10.0.0.1' })), ports: items(length, (port) => ({ port })) }],
  });
  const pod = (length: number) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [], readinessGates: names(length, 't-').map((conditionType) => ({ conditionType })) },
    status: { phase: 'Running', conditions: names(length, 't-').map((type) => ({ type, status: 'True' })) },
  });

  test.each([
    ['JSON', 'application/json', 'configmaps', configMap],
    ['YAML', 'application/yaml', 'configmaps', configMap],
    ['protobuf', 'application/vnd.kubernetes.protobuf', 'configmaps', configMap],
    ['CBOR', 'application/cbor', 'configmaps', configMap],
    ['a table of ConfigMaps', table, 'configmaps', configMap],
    ['a table of Endpoints', table, 'endpoints', endpoints],
    ['a table of Pods', table, 'pods', pod],
  ] as const)(
    'takes time in proportion to the size of the object as %s',
    { timeout: 120_000 },
    (_name, accept, resource, object) =>
      checkGrowth([
        8_000,
        (length) => {
          const authenticate = () => ({ user: 'admin', groups: ['system:masters'] });
          const handler = createFetchHandler(clusterWith([object(length)]), { codecs: [protobuf, cbor], authenticate });
          const url = `http://localhost/api/v1/namespaces/default/${resource}/a`;
          return async () => {
            const response = await handler(new Request(url, { headers: { accept } }));
            expect(response.status).toBe(200);
            return response.arrayBuffer();
          };
        },
      ]),
  );
});
