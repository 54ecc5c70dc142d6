/**
 * Malformed bodies in every encoding and for every verb with a body: each gets a Status, nothing is stored, and the server
 * continues.
 */
import { createCluster } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { jsonCodec } from '../../src/codec/json.js';
import { yaml } from '../../src/codec/yaml.js';
import { kubernetesDialect } from '../../src/meta/dialect.js';
import fc from './seeded.js';

const ENCODINGS = [jsonCodec, yaml, protobuf, cbor];
const COLLECTION = '/api/v1/namespaces/default/configmaps';

/** Requests with a body by method and path; a request with its own content type accepts no other. */
const ADDRESSES: readonly (readonly [method: string, path: string, type?: string])[] = [
  ['POST', COLLECTION],
  ['PUT', `${COLLECTION}/kept`],
  ['DELETE', `${COLLECTION}/absent`],
  ['PATCH', `${COLLECTION}/kept`, 'application/json-patch+json'],
  ['PATCH', `${COLLECTION}/kept`, 'application/merge-patch+json'],
  ['PATCH', `${COLLECTION}/kept`, 'application/strategic-merge-patch+json'],
  ['PATCH', `${COLLECTION}/kept?fieldManager=f`, 'application/apply-patch+yaml'],
  ['PATCH', `${COLLECTION}/kept?fieldManager=f`, 'application/apply-patch+cbor'],
];

async function start() {
  const cluster = createCluster({ dialect: 'kubernetes', featureGates: { CBORServingAndStorage: true } });
  await cluster.api(ConfigMap).create({ metadata: { name: 'kept' }, data: { k: 'v' } });
  const faults: unknown[] = [];
  const handle = createFetchHandler(cluster, { codecs: [protobuf, cbor], onError: (error) => faults.push(error) });
  return { cluster, handle, faults };
}

const document = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'sent', labels: { a: 'b' }, annotations: { long: 'x'.repeat(40) } },
  data: { k: 'v', ü: '\u{1f600}' },
  binaryData: { b: 'AQID' },
};

function encoded(index: number): Uint8Array {
  const bytes = ENCODINGS[index % ENCODINGS.length]?.encode(document, { dialect: kubernetesDialect, pretty: false });
  return typeof bytes === 'string' ? new TextEncoder().encode(bytes) : (bytes ?? new Uint8Array());
}

/** Kinds of damage to a body. */
const damage = fc.oneof(
  fc.record({ type: fc.constant('cut' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    type: fc.constant('flip' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    by: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({
    type: fc.constant('insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    bytes: fc.uint8Array({ maxLength: 9 }),
  }),
  fc.record({ type: fc.constant('repeat' as const), at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ type: fc.constant('replace' as const), bytes: fc.uint8Array({ maxLength: 60 }) }),
);

function damaged(
  bytes: Uint8Array,
  faults: readonly (typeof damage extends fc.Arbitrary<infer Fault> ? Fault : never)[],
) {
  let out = [...bytes];
  for (const fault of faults) {
    const at = 'at' in fault ? Math.floor(fault.at * out.length) : 0;
    switch (fault.type) {
      case 'cut':
        out = out.slice(0, at);
        break;
      case 'flip':
        out = out.map((byte, index) => (index === at ? byte ^ fault.by : byte));
        break;
      case 'insert':
        out.splice(at, 0, ...fault.bytes);
        break;
      case 'repeat':
        out = [...out, ...out.slice(at)];
        break;
      case 'replace':
        out = [...fault.bytes];
    }
  }
  return Uint8Array.from(out);
}

test('responds to a damaged body with a Status and changes nothing unless the body is still valid', async () => {
  const { cluster, handle, faults } = await start();
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: ENCODINGS.length - 1 }),
      fc.nat({ max: ENCODINGS.length - 1 }),
      fc.constantFrom(...ADDRESSES),
      fc.array(damage, { minLength: 1, maxLength: 3 }),
      async (made, declared, [method, path, type], damages) => {
        const before = cluster.resourceVersion;
        const response = await handle(
          new Request(`http://cluster.local${path}`, {
            method,
            headers: { 'content-type': type ?? ENCODINGS[declared]?.mediaType(kubernetesDialect) ?? '' },
            body: damaged(encoded(made), damages),
          }),
        );
        const answer = await response.json();
        if (response.ok) return;
        expect(answer).toMatchObject({ kind: 'Status', status: 'Failure', code: response.status });
        expect(answer.message).not.toBe('');
        expect(cluster.resourceVersion).toBe(before);
      },
    ),
    { numRuns: 1_000 },
  );
  // No body causes an error of the library.
  expect(faults).toEqual([]);
  expect((await handle(new Request(`http://cluster.local${COLLECTION}/kept`))).status).toBe(200);
});

const text = (value: string) => new TextEncoder().encode(value);
const LIMIT = 3 * 1024 * 1024;

test.each([
  ['JSON nested 100,000 deep', 'application/json', text(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)],
  ['JSON with only open brackets', 'application/json', text('['.repeat(LIMIT))],
  ['JSON that ends inside a character', 'application/json', Uint8Array.from([...text('{"a":"'), 0xe2, 0x82])],
  ['JSON that is not UTF-8', 'application/json', Uint8Array.from([...text('{"kind":"'), 0xff, 0xfe, ...text('"}')])],
  ['YAML nested 50,000 deep', 'application/yaml', text('['.repeat(50_000))],
  ['YAML with exponential aliases', 'application/yaml', text(aliases(9))],
  ['protobuf without its prefix', 'application/vnd.kubernetes.protobuf', text('{"kind":"ConfigMap"}')],
  [
    'protobuf with a length beyond its end',
    'application/vnd.kubernetes.protobuf',
    Uint8Array.of(0x6b, 0x38, 0x73, 0, 0x12, 0xff, 0xff, 0xff, 0xff, 0x0f),
  ],
  [
    'protobuf nested 100,000 deep',
    'application/vnd.kubernetes.protobuf',
    Uint8Array.from([0x6b, 0x38, 0x73, 0, ...Array(100_000).fill(0x0b)]),
  ],
  [
    'a CBOR array that claims four billion items',
    'application/cbor',
    Uint8Array.of(0xd9, 0xd9, 0xf7, 0x9a, 0xff, 0xff, 0xff, 0xff),
  ],
  [
    'a CBOR string that claims more bytes than exist',
    'application/cbor',
    Uint8Array.of(0xd9, 0xd9, 0xf7, 0x5b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
  ],
  ['CBOR nested three million deep', 'application/cbor', new Uint8Array(LIMIT).fill(0x81)],
  ['CBOR with only tags', 'application/cbor', new Uint8Array(LIMIT).fill(0xc1)],
])('rejects %s quickly', async (_name, type, body) => {
  const { cluster, handle, faults } = await start();
  const before = cluster.resourceVersion;
  const request = (method: string, path: string) =>
    new Request(`http://cluster.local${path}`, { method, headers: { 'content-type': type }, body });
  for (const [method, path] of ADDRESSES.slice(0, 3)) {
    const response = await handle(request(method, path));
    expect([method, response.status < 300]).toEqual([method, false]);
    expect(await response.json()).toMatchObject({ kind: 'Status', status: 'Failure' });
  }
  expect(cluster.resourceVersion).toBe(before);
  expect(faults).toEqual([]);
});

/** Each level refers to the previous one nine times. */
function aliases(levels: number): string {
  let out = 'a0: &a0 [x]\n';
  for (let level = 1; level <= levels; level++) {
    out += `a${level}: &a${level} [${Array(9)
      .fill(`*a${level - 1}`)
      .join(',')}]\n`;
  }
  return out;
}

test('rejects a body with a content encoding without decompressing it', async () => {
  const { handle } = await start();
  const bomb = new Response(new Uint8Array(50 * 1024 * 1024)).body?.pipeThrough(new CompressionStream('gzip'));
  const body = new Uint8Array(await new Response(bomb).arrayBuffer());
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const response = await handle(new Request(`http://cluster.local${COLLECTION}`, { method: 'POST', headers, body }));
  expect(response.status).toBe(400);
});

test('rejects a body above the limit without reading all of it', async () => {
  const { handle } = await start();
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++;
      controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
    },
  });
  const request = new Request(`http://cluster.local${COLLECTION}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  } as RequestInit);
  const response = await handle(request);
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ reason: 'RequestEntityTooLarge' });
  expect(sent).toBeLessThan(60);
});
