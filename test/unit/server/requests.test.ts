/** The entry point of the server: which requests it accepts. */
import type { ApiRequest } from 'orchplane';
import { defineKind, valueBody } from 'orchplane';
import { ConfigMap, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { failureOf } from './watch-reader.js';

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
const namespaces = { group: '', version: 'v1', resource: 'namespaces' };

async function send(request: Partial<ApiRequest> & Pick<ApiRequest, 'verb'>): Promise<unknown> {
  return testCluster().send({ resource: configMaps, options: {}, ...request });
}

describe('the server', () => {
  test.each([
    ['for a resource that is not served', { verb: 'list', resource: { ...configMaps, resource: 'nopes' } }, 404],
    ['for a version that is not served', { verb: 'list', resource: { ...configMaps, version: 'v2' } }, 404],
    ['for a group that is not served', { verb: 'list', resource: { ...configMaps, group: 'example.com' } }, 404],
    ['for one object without a name', { verb: 'get', namespace: 'default' }, 400],
    ['for one object of a namespaced kind without a namespace', { verb: 'get', name: 'a' }, 400],
    ['to create without a namespace', { verb: 'create', body: valueBody({}) }, 405],
    ['to delete all namespaces', { verb: 'deletecollection', resource: namespaces }, 405],
    ['for an unknown subresource', { verb: 'get', namespace: 'default', name: 'a', subresource: 'scale' }, 404],
    [
      'for an inherited property name as a subresource',
      { verb: 'get', name: 'a', resource: namespaces, subresource: 'toString' },
      404,
    ],
    [
      'for a verb that a subresource lacks',
      { verb: 'get', name: 'default', resource: namespaces, subresource: 'finalize' },
      405,
    ],
  ] as const)('rejects a request %s', async (_what, request, code) => {
    expect(await failureOf(send(request))).toMatchObject({ code });
  });

  test('rejects a create without a body', async () => {
    expect(await failureOf(send({ verb: 'create', namespace: 'default' }))).toMatchObject({
      reason: 'BadRequest',
      message:
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    });
  });

  test('rejects an apply body without a kind', async () => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const options = { fieldManager: 'm' };
    const request = { verb: 'patch', resource: configMaps, namespace: 'default', name: 'a', options } as const;
    const patch = async () => cluster.send({ ...request, patchType: 'apply', body: valueBody({}) });
    expect(await failureOf(patch())).toMatchObject({ code: 400, message: 'invalid object type: /, Kind=' });
  });

  test('reports all invalid options of a request', async () => {
    const options = { dryRun: ['Some'], fieldValidation: 'Loose', fieldManager: 'a\nb' };
    const error = await failureOf(send({ verb: 'create', namespace: 'default', options, body: valueBody({}) }));
    expect(error).toMatchObject({
      code: 422,
      message:
        'CreateOptions.meta.orch.io "" is invalid: [fieldManager: Invalid value: "a\\nb": invalid character U+000A (at position 1), dryRun: Unsupported value: []string{"Some"}: supported values: "All", fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"]',
    });
  });

  test('rejects the force option in a patch other than apply, also if it is false', async () => {
    const error = await failureOf(
      send({
        verb: 'patch',
        namespace: 'default',
        name: 'a',
        patchType: 'merge',
        options: { force: false },
        body: valueBody({}),
      }),
    );
    expect(error).toMatchObject({
      code: 422,
      message: 'PatchOptions.meta.orch.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    });
  });

  test.each([
    ['a list with resourceVersionMatch but without resourceVersion', { resourceVersionMatch: 'Exact' }],
    [
      'a list with resourceVersionMatch Exact and resourceVersion 0',
      { resourceVersionMatch: 'Exact', resourceVersion: '0' },
    ],
    ['a list with an unknown resourceVersionMatch', { resourceVersionMatch: 'About', resourceVersion: '1' }],
    ['a list with sendInitialEvents', { sendInitialEvents: true }],
  ])('rejects %s', async (_what, options) => {
    expect(await failureOf(send({ verb: 'list', options }))).toMatchObject({ code: 422, reason: 'Invalid' });
  });
});

describe('the served kinds', () => {
  const Widget = defineKind({ apiVersion: 'example.com/v1', kind: 'Widget', scope: 'Namespaced', body: {} });

  test('serves an installed kind, also to clients that were created before', async () => {
    const cluster = testCluster();
    const widgets = cluster.api(Widget);
    expect(await failureOf(widgets.list())).toMatchObject({ code: 404 });
    cluster.install(Widget);
    expect((await widgets.list()).kind).toBe('WidgetList');
  });

  test('accepts a kind that is installed twice, but not with the names of another kind', () => {
    const cluster = testCluster();
    cluster.install(Widget);
    cluster.install(Widget);
    const Other = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      scope: 'Cluster',
      body: { a: z.string() },
    });
    expect(() => cluster.install(Other)).toThrow(
      'orchplane: another kind is already served as widgets.example.com or Widget.example.com in example.com/v1',
    );
  });

  test('serves only the kinds that the cluster was given, and namespaces', async () => {
    const cluster = testCluster({ kinds: [Widget] });
    expect((await cluster.api(Namespace).list()).items).toHaveLength(4);
    expect((await cluster.api(Widget).list()).items).toEqual([]);
    expect(await failureOf(cluster.api(ConfigMap).list())).toMatchObject({ code: 404 });
    expect(cluster.resolve(configMaps)).toBeUndefined();
    expect(cluster.resolve({ group: 'example.com', version: 'v1', resource: 'widgets' })?.kind).toBe(Widget);
  });

  test('keeps the kinds of two clusters in one process separate', async () => {
    const [left, right] = [testCluster(), testCluster()];
    left.install(Widget);
    await left.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect(await right.api(ConfigMap).find('a')).toBeUndefined();
    expect(await failureOf(right.api(Widget).list())).toMatchObject({ code: 404 });
  });
});
