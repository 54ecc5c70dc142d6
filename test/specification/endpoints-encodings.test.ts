/** docs/specification.md, E5 and E9: media types, encodings and compression. */
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { CRDS, configMap, MAPS, open, WIDGETS } from './http.js';

const PROTOBUF = 'application/vnd.orch.protobuf';
const CBOR = { featureGates: { CBORServingAndStorage: true } };

describe('media types', () => {
  test('E5.1: JSON is the default; YAML works for requests and responses', async () => {
    const { send } = open();
    const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  k: v\n';
    const created = await send('POST', MAPS, { body, headers: { 'content-type': 'application/yaml' } });
    expect(created.code).toBe(201);
    expect(created.headers.get('content-type')).toBe('application/json');
    const read = await send('GET', `${MAPS}/a`, { headers: { accept: 'application/yaml' } });
    expect(read.headers.get('content-type')).toBe('application/yaml');
    expect(read.body['text']).toContain('kind: ConfigMap');
  });

  test('E5.2: custom resources have no Protobuf; a client that accepts JSON too gets JSON', async () => {
    const { map, post, request } = open();
    await map('a');
    await post(CRDS, WIDGETS);
    const type = async (path: string, accept: string) => {
      const response = await request('GET', path, { headers: { accept } });
      return response.ok ? response.headers.get('content-type') : response.status;
    };
    const widgets = '/apis/example.com/v1/namespaces/default/widgets';
    const both = `${PROTOBUF}, application/json`;
    expect([await type(MAPS, both), await type(widgets, both)]).toEqual([PROTOBUF, 'application/json']);
    expect(await type(widgets, PROTOBUF)).toBe(406);
  });

  test('E5.3: Accept and Content-Type may differ; 406 if no accepted type is supported', async () => {
    const { send } = open();
    const headers = { 'content-type': 'application/json', accept: 'application/yaml' };
    const created = await send('POST', MAPS, { body: configMap('a'), headers });
    expect(created.body['text']).toContain('name: a');
    expect((await send('GET', MAPS, { headers: { accept: 'text/html' } })).code).toBe(406);
    expect((await send('POST', MAPS, { body: 'x', headers: { 'content-type': 'text/plain' } })).code).toBe(415);
  });

  test('E5.4: Protobuf has a prefix and an envelope with type, object, and no encoding', async () => {
    const { map, request } = open();
    await map('a');
    const response = await request('GET', `${MAPS}/a`, { headers: { accept: PROTOBUF } });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([...bytes.subarray(0, 4)]).toEqual([0x6b, 0x38, 0x73, 0x00]);
    const fields = readFields(bytes.subarray(4));
    const type = readFields(fields.get(1) ?? new Uint8Array());
    const text = (field: number) => new TextDecoder().decode(type.get(field));
    expect([text(1), text(2)]).toEqual(['v1', 'ConfigMap']);
    expect(new TextDecoder().decode(fields.get(2))).toContain('default');
    for (const field of [3, 4]) expect(fields.get(field) ?? new Uint8Array()).toHaveLength(0);
    // The same bytes are a valid body, and bytes without the prefix are not.
    const headers = { 'content-type': PROTOBUF };
    expect((await request('PUT', `${MAPS}/a`, { body: bytes, headers })).status).toBe(200);
    expect((await request('PUT', `${MAPS}/a`, { body: bytes.subarray(4), headers })).status).toBe(400);
  });

  test('E5.5: CBOR is off by default; with its gate it serves objects, watches and apply', async () => {
    expect((await open().send('GET', MAPS, { headers: { accept: 'application/cbor' } })).code).toBe(406);
    const { map, post, request } = open(CBOR);
    await map('a');
    await post(CRDS, WIDGETS);
    const accept = 'application/cbor';
    for (const path of [`${MAPS}/a`, '/apis/example.com/v1/namespaces/default/widgets']) {
      expect((await request('GET', path, { headers: { accept } })).headers.get('content-type')).toBe(
        'application/cbor',
      );
    }
    const object = new Uint8Array(await (await request('GET', `${MAPS}/a`, { headers: { accept } })).arrayBuffer());
    const put = await request('PUT', `${MAPS}/a`, { body: object, headers: { 'content-type': 'application/cbor' } });
    expect(put.status).toBe(200);
    const watched = await request('GET', `${MAPS}?watch=1`, { headers: { accept } });
    expect(watched.headers.get('content-type')).toBe('application/cbor-seq');
    await watched.body?.cancel();
    // {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}
    const text = (value: string) => [0x60 + value.length, ...new TextEncoder().encode(value)];
    const body = new Uint8Array([
      ...[0xa3, ...text('apiVersion'), ...text('v1'), ...text('kind'), ...text('ConfigMap')],
      ...[...text('metadata'), 0xa1, ...text('name'), ...text('b')],
    ]);
    const apply = { body, headers: { 'content-type': 'application/apply-patch+cbor' } };
    expect((await request('PATCH', `${MAPS}/b?fieldManager=m`, apply)).status).toBe(201);
    for (const type of ['json-patch', 'merge-patch', 'strategic-merge-patch']) {
      const sent = { body, headers: { 'content-type': `application/${type}+cbor` } };
      expect((await request('PATCH', `${MAPS}/b`, sent)).status).toBe(415);
    }
  });

  test('E9.1: large get and list responses are compressed for a client that accepts gzip', async () => {
    const { map, request } = open();
    await map('a', { data: { k: 'v'.repeat(200_000) } });
    for (const path of [MAPS, `${MAPS}/a`]) {
      const response = await request('GET', path, { headers: { 'accept-encoding': 'gzip' } });
      expect(response.headers.get('content-encoding')).toBe('gzip');
      const text = gunzipSync(await response.arrayBuffer()).toString();
      expect(text).toContain('vvvv');
      expect((await request('GET', path)).headers.get('content-encoding')).toBeNull();
    }
  });
});

/** The length-delimited fields of a Protobuf message by their number. */
function readFields(bytes: Uint8Array): Map<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  let at = 0;
  const varint = (): number => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    expect(tag & 7).toBe(2);
    const length = varint();
    fields.set(tag >> 3, bytes.subarray(at, at + length));
    at += length;
  }
  return fields;
}
