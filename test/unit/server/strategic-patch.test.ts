/** Strategic merge patches through the server: decoding, the patched version, and unknown and duplicate fields. */
import { defineKind, strategicPatch, valueBody } from 'orchplane';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, HorizontalPodAutoscalerV1, Service } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { RequestBody } from '../../../src/protocol/body.js';
import { parseJson } from '../../../src/text/json/parse-json.js';
import { failureOf } from './watch-reader.js';

const labels = { app: 'd' };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } };

let cluster: TestCluster;
let warnings: string[];

beforeEach(async () => {
  warnings = [];
  cluster = testCluster({ client: { onWarning: (warning) => warnings.push(warning) } });
  await cluster.api(Deployment).create(deployment);
});

/** A strategic patch as text, so that it can contain duplicate keys. */
function textBody(text: string): RequestBody {
  return { read: () => parseJson(text), summary: () => text };
}

async function send(body: RequestBody, fieldValidation?: 'Strict' | 'Warn' | 'Ignore', subresource?: string) {
  return cluster.send({
    verb: 'patch',
    resource: { group: 'apps', version: 'v1', resource: 'deployments' },
    namespace: 'default',
    name: 'd',
    patchType: 'strategic',
    options: fieldValidation === undefined ? {} : { fieldValidation },
    ...(subresource === undefined ? {} : { subresource }),
    body,
  });
}

const patch = (body: unknown, fieldValidation?: 'Strict' | 'Warn' | 'Ignore') => send(valueBody(body), fieldValidation);

describe('a strategic patch', () => {
  test('merges a strategic patch and sets the defaults of missing fields again', async () => {
    const patched = await cluster.api(Deployment).patch(
      'd',
      strategicPatch({
        spec: { strategy: { $retainKeys: [] }, template: { spec: { containers: [{ name: 'side', image: 'x:1' }] } } },
      }),
    );
    expect(patched.spec.template.spec?.containers.map(({ name }) => name)).toEqual(['side', 'c']);
    expect(patched.spec.template.spec?.containers[0]?.imagePullPolicy).toBe('IfNotPresent');
    expect(patched.spec.strategy?.type).toBe('RollingUpdate');
  });

  test('writes nothing for a strategic patch that changes nothing', async () => {
    const before = cluster.resourceVersion;
    await patch({ spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } } });
    await patch(null);
    expect(cluster.resourceVersion).toBe(before);
  });

  test('accepts any kind and apiVersion in a strategic patch', async () => {
    expect(await patch({ kind: 'Pod', apiVersion: 'v7', spec: { replicas: 2 } })).toMatchObject({
      object: { kind: 'Deployment', apiVersion: 'apps/v1', spec: { replicas: 2 } },
    });
  });

  test('applies a strategic patch to the version of the URL', async () => {
    const scaleTargetRef = { kind: 'Deployment', name: 'd' };
    await cluster
      .api(HorizontalPodAutoscaler)
      .create({ metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 3 } });
    const old = cluster.api(HorizontalPodAutoscalerV1);
    const patched = await old.patch('h', strategicPatch({ spec: { targetCPUUtilizationPercentage: 70 } }));
    expect(patched.spec.targetCPUUtilizationPercentage).toBe(70);
    const metrics = (await cluster.api(HorizontalPodAutoscaler).get('h')).spec.metrics;
    expect(metrics).toMatchObject([{ type: 'Resource', resource: { target: { averageUtilization: 70 } } }]);
  });

  test('applies a strategic patch to view subresources', async () => {
    await send(valueBody({ spec: { $patch: 'replace', replicas: 4 } }), undefined, 'scale');
    expect((await cluster.api(Deployment).get('d')).spec.replicas).toBe(4);
  });

  test('responds with a conflict to a strategic patch with a stale resourceVersion', async () => {
    expect(await failureOf(patch({ metadata: { resourceVersion: '1' } }))).toMatchObject({ reason: 'Conflict' });
  });

  test('rejects a strategic patch that deletes the whole object because of the missing name', async () => {
    expect(await failureOf(patch({ $patch: 'delete' }))).toMatchObject({
      code: 400,
      message: 'the name of the object (d based on URL) was undeterminable: name must be provided',
    });
  });

  test('truncates an integer in a strategic patch that exceeds 32 bits', async () => {
    expect(await patch({ spec: { replicas: 2 ** 32 + 5 } })).toMatchObject({ object: { spec: { replicas: 5 } } });
  });
});

describe('a rejected strategic patch', () => {
  test.each([
    ['fails for an array', '[]', 400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    [
      'fails for a wrong type, with the patch in the message',
      '{"spec":{"strategy":{"$retainKeys":[]},"replicas":"x"}}',
      422,
      ' "" is invalid: patch: Invalid value: "map[spec:map[replicas:x strategy:map[]]]": unrecognized type: int32',
    ],
    [
      'fails for an invalid time, with the message of the time parser',
      '{"metadata":{"creationTimestamp":1}}',
      422,
      ' "" is invalid: patch: Invalid value: "map[metadata:map[creationTimestamp:1]]": json: cannot unmarshal number into Go value of type string',
    ],
  ])('a strategic patch %s', async (_what, text, code, message) => {
    expect(await failureOf(send(textBody(text)))).toMatchObject({ code, message });
  });

  test('rejects a strategic patch of user-defined kinds and their views before the object is read', async () => {
    const Widget = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      scope: 'Namespaced',
      body: { spec: z.object({ size: z.number() }) },
    });
    const widgets = testCluster({ kinds: [Widget] }).api(Widget);
    expect(await failureOf(widgets.patch('missing', strategicPatch({ spec: { size: 2 } })))).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
      message:
        'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor',
    });
  });

  test('responds with NotFound to a strategic patch of a missing object before the patch is decoded', async () => {
    const missing = cluster.api(ConfigMap).patch('missing', strategicPatch<never>([] as never));
    expect(await failureOf(missing)).toMatchObject({ reason: 'NotFound' });
  });
});

describe('unknown and duplicate fields of a strategic patch', () => {
  const text = '{"zz":1,"spec":{"replicas":1,"replicas":2,"foo":"bar"},"bogus":{}}';
  const findings = [
    'duplicate field "spec.replicas"',
    'unknown field "bogus"',
    'unknown field "spec.foo"',
    'unknown field "zz"',
  ];

  test('warns about duplicate fields first and unknown fields by name in a strategic patch', async () => {
    expect(await send(textBody(text))).toMatchObject({ warnings: findings, object: { spec: { replicas: 2 } } });
  });

  test('rejects duplicate and unknown fields of a strategic patch together if fieldValidation is Strict', async () => {
    expect(await failureOf(send(textBody(text), 'Strict'))).toMatchObject({
      code: 422,
      message: ` "" is invalid: patch: Invalid value: "map[bogus:map[] spec:map[foo:bar replicas:2] zz:1]": strict decoding error: ${findings.join(', ')}`,
    });
  });

  test('ignores duplicate and unknown fields of a strategic patch if fieldValidation is Ignore', async () => {
    expect(await send(textBody(text), 'Ignore')).toMatchObject({ warnings: [], object: { spec: { replicas: 2 } } });
  });

  test('reports no unknown fields of a strategic patch if a field has the wrong type', async () => {
    expect(await failureOf(patch({ bogus: 1, spec: 'x' }, 'Strict'))).toMatchObject({
      message: ' "" is invalid: patch: Invalid value: "map[bogus:1 spec:x]": cannot restore struct from: string',
    });
  });
});

test('removes the elements in a $deleteFromPrimitiveList directive', async () => {
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a', finalizers: ['x.io/a', 'x.io/b'] } });
  const patched = await configMaps.patch(
    'a',
    strategicPatch({ metadata: { finalizers: ['x.io/c'], '$deleteFromPrimitiveList/finalizers': ['x.io/a'] } }),
  );
  expect(patched.metadata.finalizers).toEqual(['x.io/c', 'x.io/b']);
  expect(warnings).toEqual([]);
});

test('replaces a map with $patch replace, and orders a list with $setElementOrder', async () => {
  const services = cluster.api(Service);
  await services.create({ metadata: { name: 's', labels: { a: '1' } }, spec: { ports: [{ port: 80 }] } });
  const patched = await services.patch(
    's',
    strategicPatch({
      metadata: { labels: { $patch: 'replace', b: '2' } },
      spec: {
        ports: [
          { port: 81, name: 'more' },
          { port: 80, name: 'web' },
        ],
        '$setElementOrder/ports': [{ port: 81 }, { port: 80 }],
      },
    }),
  );
  expect(patched.metadata.labels).toEqual({ b: '2' });
  expect(patched.spec.ports?.map(({ name }) => name)).toEqual(['more', 'web']);
});
