/** The empty list in the bookmark that ends initial events: it has the encoding of the watch. */
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const WATCH =
  'http://cluster/api/v1/namespaces/default/configmaps?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1';
const KEY = 'kubernetes.io/initial-events-list-blueprint';

async function firstChunk(accept: string): Promise<Uint8Array> {
  const cluster = testCluster({ dialect: 'kubernetes', featureGates: { WatchList: true } });
  const handle = createFetchHandler(cluster, { codecs: [protobuf] });
  const response = await handle(new Request(WATCH, { headers: { accept } }));
  expect(response.status).toBe(200);
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return value as Uint8Array;
}

/** The text after the annotation's key in a protobuf map entry: a tag, a length and the value. */
function blueprintIn(bytes: Uint8Array): Uint8Array {
  const text = String.fromCharCode(...bytes);
  const start = text.indexOf(KEY) + KEY.length;
  const length = bytes[start + 1] ?? 0;
  expect(length).toBeLessThan(0x80);
  return Uint8Array.from(atob(text.slice(start + 2, start + 2 + length)), (each) => each.charCodeAt(0));
}

test.each([
  ['', 'v1', 'ConfigMapList'],
  [';as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'meta.k8s.io/v1', 'PartialObjectMetadataList'],
])('is protobuf in a protobuf watch%s', async (view, apiVersion, kind) => {
  const encoded = blueprintIn(await firstChunk(`application/vnd.kubernetes.protobuf${view}`));
  const field = (number: number, content: readonly number[]) => [(number << 3) | 2, content.length, ...content];
  const text = (value: string) => [...new TextEncoder().encode(value)];
  const listMeta = field(1, [...field(1, []), ...field(2, []), ...field(3, [])]);
  expect([...encoded]).toEqual([
    ...text('k8s\0'),
    ...field(1, [...field(1, text(apiVersion)), ...field(2, text(kind))]),
    ...field(2, listMeta),
    ...field(3, []),
    ...field(4, []),
  ]);
});

test('is JSON in a JSON watch', async () => {
  const { object } = JSON.parse(new TextDecoder().decode(await firstChunk('application/json')));
  expect(JSON.parse(atob(object.metadata.annotations[KEY]))).toEqual({
    kind: 'ConfigMapList',
    apiVersion: 'v1',
    metadata: {},
    items: null,
  });
});
