/** Request bodies whose type is registered but not served. */
import type { ClusterOptions } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CLAIMS = '/apis/resource.k8s.io/v1beta2/namespaces/default/resourceclaims';

function sender(options: Partial<ClusterOptions> = {}) {
  const cluster = testCluster({ dialect: 'kubernetes', ...options });
  const handle = createFetchHandler(cluster);
  const send = async (path: string, body: object, method = 'POST') => {
    const headers = { 'content-type': 'application/json' };
    const answer = await handle(new Request(`http://c${path}`, { method, headers, body: JSON.stringify(body) }));
    return (await answer.json()) as { code?: number; message?: string };
  };
  return { cluster, send };
}

describe('a body of another registered type', () => {
  test.each([
    ['v1', 'ConfigMapList', 'v1.ConfigMapList'],
    ['v1', 'List', 'v1.List'],
    ['v1', 'Status', 'v1.Status'],
    ['apps/v1', 'DeleteOptions', 'v1.DeleteOptions'],
    ['apps/v1beta2', 'ListOptions', 'v1.ListOptions'],
    ['apps/v1beta1', 'Deployment', 'v1beta1.Deployment'],
    ['apps/v1beta1', 'DeploymentList', 'v1beta1.DeploymentList'],
    ['extensions/v1beta1', 'Ingress', 'v1beta1.Ingress'],
  ])('rejects a body of the registered type %s %s because no conversion exists', async (apiVersion, kind, goType) => {
    const version = apiVersion.split('/').at(-1);
    expect(await sender().send(MAPS, { apiVersion, kind, metadata: { name: 'x' } })).toMatchObject({
      code: 400,
      message: `${kind} in version "${version}" cannot be handled as a ConfigMap: converting (${goType}) to (core.ConfigMap): unknown conversion`,
    });
  });
});

describe('a body of an unregistered type', () => {
  test.each([
    ['v1', 'TokenReviewList'],
    ['authentication.k8s.io/v1', 'TokenReviewList'],
    ['apps/v1', 'List'],
    ['apps/v9', 'DeleteOptions'],
    ['e.com/v1', 'Widget'],
    ['e.com/v1', 'WidgetList'],
  ])('rejects a body of the unregistered type %s %s as unrecognized', async (apiVersion, kind) => {
    const { send } = sender();
    const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
    const spec = { group: 'e.com', scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions };
    await send('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'widgets.e.com' },
      spec,
    });
    expect((await send(MAPS, { apiVersion, kind, metadata: { name: 'x' } })).message).toContain(
      `no kind "${kind}" is registered for version "${apiVersion}"`,
    );
  });
});

test('rejects a body in a version of the kind that is no longer served', async () => {
  const { send } = sender();
  for (const apiVersion of ['apps/v1beta1', 'apps/v1beta2', 'extensions/v1beta1']) {
    expect(await send(DEPLOYMENTS, { apiVersion, kind: 'Deployment', metadata: { name: 'x' } })).toMatchObject({
      code: 400,
      message: `the API version in the data (${apiVersion}) does not match the expected API version (apps/v1)`,
    });
  }
});

test('rejects a body in a version of the kind that is not enabled', async () => {
  const { send } = sender({
    runtimeConfig: 'resource.k8s.io/v1beta2=true',
    featureGates: { DynamicResourceAllocation: true },
  });
  const old = { apiVersion: 'resource.k8s.io/v1beta1', kind: 'ResourceClaim', metadata: { name: 'x' }, spec: {} };
  expect((await send(CLAIMS, old)).message).toBe(
    'the API version in the data (resource.k8s.io/v1beta1) does not match the expected API version (resource.k8s.io/v1beta2)',
  );
});

test('recognizes types by the names of either dialect', async () => {
  const { send } = sender({ dialect: 'orch' });
  const path = '/apis/rbac.authorization.orch.io/v1/clusterroles';
  const body = { apiVersion: 'rbac.authorization.orch.io/v1beta1', kind: 'ClusterRole', metadata: { name: 'x' } };
  expect((await send(path, body)).message).toContain('does not match the expected API version');
});

test('requires the body of a delete to be DeleteOptions', async () => {
  const { send } = sender();
  await send(MAPS, { metadata: { name: 'a' } });
  const scheme = '"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27"';
  expect(await send(`${MAPS}/a`, { kind: 'ConfigMap', apiVersion: 'v1' }, 'DELETE')).toMatchObject({
    code: 500,
    message: `no kind "ConfigMap" is registered for version "v1" in scheme ${scheme}`,
  });
  expect(await send(`${MAPS}/a`, { kind: 'Foo' }, 'DELETE')).toMatchObject({
    message: `no kind "Foo" is registered for version "meta.k8s.io/v1" in scheme ${scheme}`,
  });
  expect(await send(`${MAPS}/a`, { kind: 'UpdateOptions', apiVersion: 'v1' }, 'DELETE')).toMatchObject({
    code: 500,
    message: 'converting (v1.UpdateOptions) to (v1.DeleteOptions): unknown conversion',
  });
  expect(await send(`${MAPS}/a`, { kind: 'DeleteOptions', apiVersion: 'v2' }, 'DELETE')).toMatchObject({
    status: 'Success',
  });
});

test('decodes the metadata of custom resources separately', async () => {
  const { send } = sender();
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }];
  const spec = { group: 'e.com', scope: 'Cluster', names: { plural: 'widgets', kind: 'Widget' }, versions };
  await send('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { metadata: { name: 'widgets.e.com' }, spec });
  const widget = { apiVersion: 'e.com/v1', kind: 'Widget', metadata: { name: 'a', labels: { a: 1 } } };
  expect((await send('/apis/e.com/v1/widgets', widget)).message).toBe(
    'Widget in version "v1" cannot be handled as a Widget: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
  );
});
