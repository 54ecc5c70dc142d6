/** OpenAPI 3 documents, one for each group and version. */
import { builtInKinds, ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineKind } from '../../../../src/kinds/define-kind.js';
import { dialects, kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import { openApiV3, openApiV3Paths } from '../../../../src/registry/openapi/v3.js';
import { intOrString } from '../../../../src/schema/declare.js';
import { hint, mapList } from '../../../../src/schema/hints.js';
import { allDocuments, allSteps, documentAt, operationsOf, servedIn } from './documents.js';

const CORE = documentAt('api/v1', servedIn(kubernetesDialect), kubernetesDialect);
const APPS = documentAt('apis/apps/v1', servedIn(kubernetesDialect), kubernetesDialect);
const REF = '#/components/schemas/';

describe('paths of OpenAPI 3 documents', () => {
  test('lists the paths of groups, versions and discovery', () => {
    const served = servedIn(orchDialect, [ConfigMap, Deployment]);
    expect([...openApiV3Paths(served).keys()]).toEqual([
      'api',
      'api/v1',
      'apis',
      'apis/apps',
      'apis/apps/v1',
      'version',
    ]);
  });

  test.each(['apis/nope', 'apis/apps/v2', 'api/v2', '', 'apis/'])('returns no document for the path %j', (place) => {
    const options = { dialect: orchDialect, serverVersion: 'v1.33.1' };
    expect(allSteps(openApiV3(place, servedIn(orchDialect), options))).toBeUndefined();
  });

  test.each([
    ['api', '/api/', 'getCoreAPIVersions', 'core'],
    ['apis', '/apis/', 'getAPIVersions', 'apis'],
    [
      'apis/rbac.authorization.k8s.io',
      '/apis/rbac.authorization.k8s.io/',
      'getRbacAuthorizationAPIGroup',
      'rbacAuthorization',
    ],
    ['version', '/version/', 'getCodeVersion', 'version'],
  ])('publishes the discovery operation at %s', (place, path, id, tag) => {
    const document = documentAt(place, servedIn(kubernetesDialect), kubernetesDialect);
    expect(document.paths[path]?.['get']).toMatchObject({ operationId: id, tags: [tag] });
  });
});

describe.each(dialects.map((dialect) => [dialect.name, dialect] as const))(
  'OpenAPI 3 documents in the %s dialect',
  (_name, dialect) => {
    const documents = allDocuments(dialect);

    test('contains no dangling references', () => {
      const dangling: string[] = [];
      for (const [place, document] of documents) {
        const text = JSON.stringify(document);
        for (const [, name = ''] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
          if (document.components.schemas[name] === undefined) dangling.push(`${place}: ${name}`);
        }
      }
      expect(dangling).toEqual([]);
    });

    test('contains only names of its dialect', () => {
      const token =
        dialect === orchDialect
          ? /io\.k8s|\.k8s\.io|x-kubernetes-|vnd\.kubernetes/
          : /io\.orch|orch\.io|x-orch-|vnd\.orch/;
      const mixed = [...documents].filter(([, document]) => token.test(JSON.stringify(document)));
      expect(mixed.map(([place]) => place)).toEqual([]);
    });

    test('contains each operationId once', () => {
      const ids = [...documents.values()].flatMap((document) =>
        Object.values(document.paths).flatMap((item) =>
          operationsOf(item).map(([, operation]) => operation.operationId),
        ),
      );
      expect(ids.length).toBeGreaterThan(900);
      expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    });
  },
);

test('returns the header of an OpenAPI 3 document', () => {
  expect(APPS).toMatchObject({ openapi: '3.0.0', info: { title: 'Kubernetes', version: 'v1.33.1' } });
});

describe('OpenAPI 3 operations', () => {
  const operationsAt = (path: string) =>
    operationsOf(APPS.paths[path]).map(([method, operation]) => [
      method,
      operation.operationId,
      operation['x-kubernetes-action'],
    ]);

  test.each([
    [
      '/apis/apps/v1/namespaces/{namespace}/deployments',
      [
        ['get', 'listAppsV1NamespacedDeployment', 'list'],
        ['post', 'createAppsV1NamespacedDeployment', 'post'],
        ['delete', 'deleteAppsV1CollectionNamespacedDeployment', 'deletecollection'],
      ],
    ],
    [
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}',
      [
        ['get', 'readAppsV1NamespacedDeployment', 'get'],
        ['put', 'replaceAppsV1NamespacedDeployment', 'put'],
        ['patch', 'patchAppsV1NamespacedDeployment', 'patch'],
        ['delete', 'deleteAppsV1NamespacedDeployment', 'delete'],
      ],
    ],
    ['/apis/apps/v1/deployments', [['get', 'listAppsV1DeploymentForAllNamespaces', 'list']]],
    [
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale',
      [
        ['get', 'readAppsV1NamespacedDeploymentScale', 'get'],
        ['put', 'replaceAppsV1NamespacedDeploymentScale', 'put'],
        ['patch', 'patchAppsV1NamespacedDeploymentScale', 'patch'],
      ],
    ],
    ['/apis/apps/v1/watch/deployments', [['get', 'watchAppsV1DeploymentListForAllNamespaces', 'watchlist']]],
    [
      '/apis/apps/v1/watch/namespaces/{namespace}/deployments/{name}',
      [['get', 'watchAppsV1NamespacedDeployment', 'watch']],
    ],
  ])('publishes the operations at %s', (path, expected) => {
    expect(operationsAt(path)).toEqual(expected);
  });

  test('lists every patch format and the parameters of a patch', () => {
    const patch = APPS.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}']?.['patch'];
    expect(Object.keys(patch?.requestBody?.content ?? {})).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(patch?.parameters?.map(({ name }) => name)).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
    expect(patch?.['x-kubernetes-group-version-kind']).toEqual({ group: 'apps', kind: 'Deployment', version: 'v1' });
  });

  test('lists parameters common to all operations at the path', () => {
    const item = CORE.paths['/api/v1/namespaces/{namespace}/pods/{name}/eviction'];
    expect(item?.parameters?.map(({ name }) => name)).toEqual([
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'name',
      'namespace',
      'pretty',
    ]);
    expect(item?.['post']?.parameters).toBeUndefined();
  });

  test('uses the kind of a subresource with its own kind', () => {
    const post = CORE.paths['/api/v1/namespaces/{namespace}/pods/{name}/eviction']?.['post'];
    expect(post?.['x-kubernetes-group-version-kind']).toEqual({ group: 'policy', kind: 'Eviction', version: 'v1' });
    expect(post?.requestBody?.content['*/*']?.schema.$ref).toBe(`${REF}io.k8s.api.policy.v1.Eviction`);
  });

  test('lists the streaming media types of a list', () => {
    const list = CORE.paths['/api/v1/pods']?.['get'];
    expect(Object.keys(list?.responses['200']?.content ?? {})).toEqual([
      'application/json',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/json;stream=watch',
      'application/vnd.kubernetes.protobuf;stream=watch',
    ]);
  });

  test('lists CBOR media types only when CBOR is enabled', () => {
    const options = { dialect: orchDialect, serverVersion: 'v1.33.1', cbor: true };
    const document = allSteps(openApiV3('api/v1', servedIn(orchDialect), options));
    for (const type of ['application/cbor', 'application/cbor-seq', 'application/apply-patch+cbor']) {
      expect(JSON.stringify(document)).toContain(`"${type}"`);
      expect(JSON.stringify(CORE)).not.toContain(`"${type}"`);
    }
  });

  test('publishes the response kind of a delete', () => {
    const answer = (path: string) => JSON.stringify(CORE.paths[path]?.['delete']?.responses['200']);
    expect(answer('/api/v1/namespaces/{namespace}/pods/{name}')).toContain('core.v1.Pod"');
    expect(answer('/api/v1/namespaces/{namespace}/configmaps/{name}')).toContain('meta.v1.Status"');
  });
});

describe('OpenAPI 3 types', () => {
  const schema = (name: string) => CORE.components.schemas[`io.k8s.api.core.v1.${name}`];

  test('publishes a kind with its metadata and fields', () => {
    expect(schema('Pod')).toEqual({
      description: 'Containers that run together on one node.',
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: expect.any(String) },
        kind: { type: 'string', description: expect.any(String) },
        metadata: {
          allOf: [{ $ref: `${REF}io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta` }],
          description: expect.any(String),
          default: {},
        },
        spec: {
          allOf: [{ $ref: `${REF}io.k8s.api.core.v1.PodSpec` }],
          description: expect.any(String),
          default: {},
        },
        status: {
          allOf: [{ $ref: `${REF}io.k8s.api.core.v1.PodStatus` }],
          description: expect.any(String),
          default: {},
        },
      },
      'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
    });
  });

  test('publishes the merge keys of a list', () => {
    expect(schema('PodSpec')?.properties?.['containers']).toEqual({
      type: 'array',
      items: { allOf: [{ $ref: `${REF}io.k8s.api.core.v1.Container` }], default: {} },
      description: expect.any(String),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      'x-kubernetes-patch-merge-key': 'name',
      'x-kubernetes-patch-strategy': 'merge',
    });
  });

  test('publishes types with a special JSON form', () => {
    const { schemas } = CORE.components;
    const form = (name: string) => ({ ...schemas[name], description: undefined });
    expect(form('io.k8s.apimachinery.pkg.util.intstr.IntOrString')).toEqual({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    });
    expect(form('io.k8s.apimachinery.pkg.api.resource.Quantity')).toEqual({
      oneOf: [{ type: 'string' }, { type: 'number' }],
    });
    expect(form('io.k8s.apimachinery.pkg.apis.meta.v1.Time')).toEqual({ type: 'string', format: 'date-time' });
    expect(schema('Secret')?.properties?.['data']).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'string', format: 'byte' },
    });
  });

  test('publishes DeleteOptions in every group', () => {
    const kinds = APPS.components.schemas['io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions'];
    expect(kinds?.['x-kubernetes-group-version-kind']).toEqual([
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'apps', kind: 'DeleteOptions', version: 'v1' },
    ]);
  });

  test('keeps the kind of an object embedded in another one', () => {
    const claim = APPS.components.schemas['io.k8s.api.core.v1.PersistentVolumeClaim'];
    expect(claim?.['x-kubernetes-group-version-kind']).toEqual([
      { group: '', kind: 'PersistentVolumeClaim', version: 'v1' },
    ]);
  });
});

describe('OpenAPI 3 of a user-defined kind', () => {
  const Widget = defineKind({
    apiVersion: 'stable.example.com/v1',
    kind: 'Widget',
    scope: 'Namespaced',
    body: {
      spec: z.object({
        size: z.string().default('m'),
        parts: mapList(z.object({ name: z.string(), weight: z.int32().optional() }), 'name').optional(),
        tags: z.array(z.string()).optional(),
        port: hint(z.unknown(), { builtIn: intOrString().node }).optional(),
        free: z.unknown().optional(),
        note: z.string().nullable().optional(),
      }),
    },
  });
  const served = servedIn(orchDialect, [Pod, Widget]);
  const document = documentAt('apis/stable.example.com/v1', served, orchDialect);

  test('names the schema by the reversed group and inlines its fields', () => {
    expect(document.components.schemas['com.example.stable.v1.Widget']).toEqual({
      type: 'object',
      properties: {
        apiVersion: { type: 'string', description: expect.any(String) },
        kind: { type: 'string', description: expect.any(String) },
        metadata: {
          allOf: [{ $ref: `${REF}io.orch.apimachinery.pkg.apis.meta.v1.ObjectMeta` }],
          description: expect.any(String),
        },
        spec: {
          type: 'object',
          properties: {
            free: { 'x-orch-preserve-unknown-fields': true },
            note: { type: 'string', nullable: true },
            parts: {
              type: 'array',
              items: {
                type: 'object',
                properties: { name: { type: 'string' }, weight: { type: 'integer', format: 'int32' } },
                required: ['name'],
              },
              'x-orch-list-type': 'map',
              'x-orch-list-map-keys': ['name'],
            },
            port: { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-orch-int-or-string': true },
            size: { type: 'string', default: 'm' },
            tags: { type: 'array', items: { type: 'string' } },
          },
        },
      },
      required: ['spec'],
      'x-orch-group-version-kind': [{ group: 'stable.example.com', kind: 'Widget', version: 'v1' }],
    });
  });

  test('publishes only text formats and no strategic merge patch', () => {
    const item = document.paths['/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}'];
    expect(item?.['get']?.operationId).toBe('readStableExampleComV1NamespacedWidget');
    expect(item?.['get']?.tags).toEqual(['stableExampleCom_v1']);
    expect(Object.keys(item?.['patch']?.requestBody?.content ?? {})).toEqual([
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(Object.keys(item?.['get']?.responses['200']?.content ?? {})).toEqual([
      'application/json',
      'application/yaml',
    ]);
  });

  test('publishes no deprecated watch paths', () => {
    expect(Object.keys(document.paths).filter((path) => path.includes('/watch/'))).toEqual([]);
  });
});

test('publishes a path for every served kind', () => {
  const paths = new Set([...allDocuments(orchDialect).values()].flatMap((document) => Object.keys(document.paths)));
  const missing = servedIn(orchDialect, builtInKinds).filter(
    ({ gvr }) => ![...paths].some((path) => path.endsWith(`/${gvr.resource}`) && path.includes(`/${gvr.version}/`)),
  );
  expect(missing.map(({ gvk }) => gvk.kind)).toEqual([]);
});
