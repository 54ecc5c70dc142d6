/** Objects that were stored before the dialect's rules existed: they can be updated, and break no further rule. */
import { type ApiObject, type Cluster, createCluster, type Journal } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { describe, expect, test } from 'vitest';

const DEFAULT = '/api/v1/namespaces/default';
const POD = {
  restartPolicy: 'Never',
  containers: [{ name: 'a', image: 'b' }],
  volumes: [
    { name: 'v', iscsi: { targetPortal: '1.2.3.4:1', iqn: 'iqn.2015-02.example.com:test', lun: 0, fsType: 'ext4' } },
    { name: 'w', projected: { sources: [{ secret: { name: 's' } }] } },
  ],
};
const RULE = { apiGroups: [''], apiVersions: ['v1'], resources: ['none'], operations: ['*'] };

interface Old {
  readonly path: string;
  readonly name?: string;
  readonly valid: object;
  /** Replacements in the text of the stored object, which make it break the rules. */
  readonly changes: readonly (readonly [string, string])[];
  /** A merge patch that breaks a rule where the object has not broken it. */
  readonly worse?: object;
}

const WITHOUT_ISCSI_DEFAULTS = [',"fsType":"ext4"', ''] as const;
const EMPTY_PROJECTION = ['{"secret":{"name":"s"}}', '{}'] as const;

const OLD: Readonly<Record<string, Old>> = {
  'LimitRange without limits': {
    path: `${DEFAULT}/limitranges`,
    valid: { spec: { limits: [] } },
    changes: [['"limits":[]', '"limits":null']],
  },
  'CSINode without drivers': {
    path: '/apis/storage.orch.io/v1/csinodes',
    valid: { spec: { drivers: [] } },
    changes: [['"drivers":[]', '"drivers":null']],
  },
  'Pod with an iscsi volume without fsType and an empty projection': {
    path: `${DEFAULT}/pods`,
    valid: { spec: POD },
    changes: [WITHOUT_ISCSI_DEFAULTS, EMPTY_PROJECTION],
  },
  'Job with an iscsi volume without fsType and an empty projection': {
    path: '/apis/batch/v1/namespaces/default/jobs',
    valid: { spec: { suspend: true, template: { spec: POD } } },
    changes: [WITHOUT_ISCSI_DEFAULTS, EMPTY_PROJECTION],
  },
  'ValidatingAdmissionPolicy with equal variables and a long expression': {
    path: '/apis/admissionregistration.orch.io/v1/validatingadmissionpolicies',
    valid: {
      spec: {
        matchConstraints: { resourceRules: [RULE] },
        variables: [
          { name: 'a', expression: '1' },
          { name: 'b', expression: '2' },
        ],
        validations: [{ expression: 'true && true' }],
      },
    },
    changes: [
      ['"name":"b"', '"name":"a"'],
      ['true && true', 'true &&\\n true'],
    ],
    worse: { spec: { validations: [{ expression: 'true' }, { expression: 'true &&\n true' }] } },
  },
  'Endpoints with an address that is ready and not ready': {
    path: `${DEFAULT}/endpoints`,
    valid: { subsets: [{ addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2' }] }] },
    changes: [['10.0.0.2', '10.0.0.1']],
  },
  'ClusterRole with a wildcard inside of a path segment': {
    path: '/apis/rbac.authorization.orch.io/v1/clusterroles',
    valid: { rules: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }] },
    changes: [['/a/*', '/a*']],
    worse: { rules: [{ verbs: ['get'], nonResourceURLs: ['/a*', '/*/b'] }] },
  },
  'CustomResourceDefinition whose kind is not in CamelCase': {
    path: '/apis/apiextensions.orch.io/v1/customresourcedefinitions',
    name: 'lows.example.com',
    valid: {
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'lows', kind: 'Low' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    },
    changes: [['"Low"', '"low"']],
  },
};

const client = (cluster: Cluster, { path, name = 'old' }: Old) => {
  const handle = createFetchHandler(cluster);
  return async (method: string, body?: unknown, type = 'application/json') => {
    const target = method === 'POST' ? path : `${path}/${name}?fieldManager=m`;
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await handle(
      new Request(`http://cluster${target}`, { method, headers: { 'content-type': type }, ...init }),
    );
    return { code: response.status, body: await response.json() };
  };
};

/** The object as an older version has stored it. */
async function storedObject(old: Old): Promise<ApiObject> {
  await using cluster = createCluster();
  const created = await client(cluster, old)('POST', { metadata: { name: old.name ?? 'old' }, ...old.valid });
  expect(created).toMatchObject({ code: 201 });
  let text = JSON.stringify(created.body);
  for (const [from, to] of old.changes) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  return JSON.parse(text) as ApiObject;
}

function journalOf(object: ApiObject, { path }: Old): Journal {
  const revision = Number(object.metadata.resourceVersion);
  const [, group] = /^\/apis\/([^/]+)/.exec(path) ?? [];
  const resource = path.slice(path.lastIndexOf('/') + 1);
  const { name, namespace = '' } = object.metadata;
  const key = { storageKey: group === undefined ? resource : `${resource}.${group}`, namespace, name };
  return {
    load: () => ({ checkpoint: { revision, dialect: 'orch', objects: [{ key, object }] }, records: [] }),
    append: () => undefined,
    reset: () => undefined,
    whenDurable: () => undefined,
    durableRevision: Number.POSITIVE_INFINITY,
    close: async () => undefined,
  };
}

const SOURCES: readonly [string, (object: ApiObject, old: Old) => Cluster][] = [
  [
    'a state',
    (object) => createCluster({ from: { resourceVersion: `${object.metadata.resourceVersion}`, objects: [object] } }),
  ],
  ['a journal', (object, old) => createCluster({ journal: journalOf(object, old) })],
];

describe.each(Object.entries(OLD))('%s', (_name, old) => {
  test.each(SOURCES)('from %s', async (_source, open) => {
    const stored = await storedObject(old);
    await using cluster = open(stored, old);
    const send = client(cluster, old);
    const merge = (patch: object) => send('PATCH', patch, 'application/merge-patch+json');
    const read = await send('GET');
    expect(read).toMatchObject({ code: 200, body: { metadata: { uid: stored.metadata.uid } } });
    const valid = { metadata: { name: 'other', namespace: read.body.metadata.namespace } };
    expect(await send('POST', { ...read.body, ...valid, status: undefined })).toMatchObject({ code: 422 });
    expect(await send('PUT', read.body)).toMatchObject({ code: 200 });
    expect(await merge({ metadata: { labels: { x: 'y' }, finalizers: ['example.com/x'] } })).toMatchObject({
      code: 200,
    });
    const { apiVersion, kind, metadata } = read.body;
    const applied = { apiVersion, kind, metadata: { name: metadata.name, annotations: { q: '1' } } };
    expect(await send('PATCH', applied, 'application/apply-patch+yaml')).toMatchObject({ code: 200 });
    if (old.worse !== undefined) expect(await merge(old.worse)).toMatchObject({ code: 422 });
    expect(await send('DELETE')).toMatchObject({ code: 200 });
    expect(await merge({ metadata: { finalizers: null } })).toMatchObject({ code: 200 });
    expect(await send('GET')).toMatchObject({ code: 404 });
  });
});
