/** Which of several errors of a request is reported, and in which encoding, as in the reference server. */
import { defineKind, toCRD } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { createFetchHandler } from 'orchplane/http';
import { CustomResourceDefinition } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';

const PODS = '/api/v1/namespaces/default/pods';
const THINGS = '/apis/example.com/v1/namespaces/default/things';
const Thing = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  scope: 'Namespaced',
  body: { spec: z.object({ size: z.number() }).optional() },
});

async function start() {
  const cluster = testCluster({
    dialect: 'kubernetes',
    featureGates: { CBORServingAndStorage: true },
    runtimeConfig: 'api/all=true',
  });
  await cluster.api(CustomResourceDefinition).create(toCRD(Thing));
  await cluster.api(Thing).create({ metadata: { name: 'x' }, spec: { size: 1 } });
  const handle = createFetchHandler(cluster, { codecs: [cbor] });
  return async (method: string, path: string, headers: Record<string, string> = {}, body?: string) => {
    const answer = await handle(
      new Request(`http://c${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
    );
    const type = answer.headers.get('content-type') ?? '';
    const text = await answer.text();
    const { message } = type.includes('json') && text !== '' ? (JSON.parse(text) as { message?: string }) : {};
    return { code: answer.status, type, message, warning: answer.headers.get('warning') };
  };
}

test('an error before a resource is reached is not sent in an encoding behind a feature gate', async () => {
  const send = await start();
  const accept = 'application/cbor';
  expect(await send('GET', '/api/v1/nothing', { accept })).toMatchObject({ code: 404, type: 'application/json' });
  expect(await send('PATCH', PODS, { accept })).toMatchObject({ code: 405, type: 'application/json' });
  expect(await send('GET', `${PODS}?timeout=x`, { accept })).toMatchObject({ code: 400, type: 'application/json' });
  expect(await send('GET', `${PODS}/none`, { accept })).toMatchObject({ code: 404, type: 'application/cbor' });
  expect(await send('GET', `${THINGS}/none`, { accept })).toMatchObject({ code: 404, type: 'application/cbor' });
});

test('deletecollection validates its selectors before its body', async () => {
  const send = await start();
  const foreign = { 'content-type': 'foo/bar' };
  const exact = 'resourceVersionMatch=Exact&resourceVersion=0';
  expect(await send('DELETE', `${PODS}?${exact}`, foreign, '{}')).toMatchObject({ code: 422 });
  expect(await send('DELETE', `${THINGS}?fieldSelector=spec.color%3Dred`, foreign, '{}')).toMatchObject({
    code: 400,
    message: 'field label not supported: spec.color',
  });
  expect(await send('DELETE', THINGS, foreign, '{}')).toMatchObject({ code: 415 });
});

test('a connect subresource accepts any method and encoding, and rejects a dry run', async () => {
  const send = await start();
  const line = '/api/v1/namespaces/default/services/s/proxy';
  const missing = { code: 404, message: 'services "s" not found' };
  expect(await send('GET', line, { accept: 'text/plain' })).toMatchObject(missing);
  expect(await send('OPTIONS', line)).toMatchObject(missing);
  expect(await send('PATCH', line, { 'content-type': 'foo/bar' }, '{}')).toMatchObject(missing);
  expect(await send('HEAD', line)).toMatchObject({ code: 404 });
  expect(await send('PUT', `${line}?dryRun=All`)).toMatchObject({ code: 400, message: 'dryRun is not supported' });
  expect(await send('OPTIONS', `${PODS}/p/exec`)).toMatchObject({ code: 405 });
});

test('custom resources report an unknown kind, an unsupported patch and a wrong list view in order', async () => {
  const send = await start();
  const json = { 'content-type': 'application/json' };
  const why = `Object 'Kind' is missing in '{"metadata":{"name":"x"}}'`;
  const put = (query: string) => send('PUT', `${THINGS}/x${query}`, json, '{"metadata":{"name":"x"}}');
  expect((await put('')).message).toContain(`the object provided is unrecognized (must be of type Thing): ${why}`);
  expect((await put('?fieldValidation=Ignore')).message).toBe(
    `Thing in version "v1" cannot be handled as a Thing: ${why}`,
  );
  expect(await send('PATCH', THINGS, { 'content-type': 'foo/bar' }, '{}')).toMatchObject({ code: 415 });
  expect(await send('PATCH', THINGS, { 'content-type': 'application/merge-patch+json' }, '{}')).toMatchObject({
    code: 400,
    message: 'name must be provided',
  });
  // In the encoding that the client accepts.
  expect(await send('PUT', THINGS, { accept: 'application/cbor' }, '{}')).toMatchObject({
    code: 400,
    type: 'application/cbor',
  });
  const accept = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io';
  expect(await send('GET', `${THINGS}/x`, { accept })).toMatchObject({ code: 500, message: 'content is not a list' });
});

test('a deprecated kind adds its warning to a request that cannot be read', async () => {
  const send = await start();
  const { code, warning } = await send('GET', '/api/v1/componentstatuses?timeoutSeconds=x');
  expect(code).toBe(400);
  expect(warning).toContain('ComponentStatus is deprecated');
});
