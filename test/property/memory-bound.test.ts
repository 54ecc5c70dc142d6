/**
 * Bodies designed to fill memory, sent to a server with a small heap: it rejects each of them and survives.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A cluster with every kind needs about 40 MB; the rest is for one 3 MB body in its most expensive form. */
const HEAP_MB = 320;

const SERVER = `
  import { createCluster } from './src/cluster/full-cluster.js';
  import { createFetchHandler } from './src/http/index.js';
  import { protobuf } from './src/codec/protobuf/index.js';
  import { cbor } from './src/codec/cbor/index.js';
  const cluster = createCluster({ dialect: 'kubernetes', featureGates: { CBORServingAndStorage: true } });
  const handle = createFetchHandler(cluster, { codecs: [protobuf, cbor] });
  const LIMIT = 3 * 1024 * 1024;
  const text = (value) => new TextEncoder().encode(value);
  const filled = (head, byte) => { const bytes = new Uint8Array(LIMIT).fill(byte); bytes.set(head); return bytes; };
  const repeated = (unit, head = []) => { const bytes = new Uint8Array(LIMIT); bytes.set(head); for (let at = head.length; at + unit.length <= LIMIT; at += unit.length) bytes.set(unit, at); return bytes; };
  const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const PODS = '/api/v1/namespaces/default/pods';
  const empties = (count) => Array(count).fill('{}').join(',');
  const bodies = [
    ['application/json', text('{"metadata":{"ownerReferences":[' + empties(1_040_000) + ']}}'), REVIEWS],
    ['application/json', text('{"metadata":{"ownerReferences":[' + empties(249_000) + ']}}'), REVIEWS],
    ['application/json', text('{"metadata":{"name":"a"},"spec":{"containers":[' + empties(249_000) + ']}}'), PODS],
    ['application/yaml', text('a: [' + empties(1_000_000) + ']'), PODS],
    ['application/json', text('['.repeat(LIMIT))],
    ['application/json', text('{"metadata":{"name":"a"},"data":{' + '"a":{},'.repeat(400_000))],
    ['application/json', text('{"metadata":{"name":"a"},"data":[' + '0,'.repeat(1_500_000) + '0]}')],
    ['application/yaml', text('- '.repeat(LIMIT / 2))],
    ['application/yaml', text('a: [' + '0,'.repeat(1_500_000))],
    ['application/yaml', text('a0: &a0 [x]\\n' + Array.from({ length: 30 }, (_, i) => 'a' + (i + 1) + ': &a' + (i + 1) + ' [' + Array(9).fill('*a' + i).join(',') + ']\\n').join(''))],
    ['application/vnd.kubernetes.protobuf', filled([0x6b, 0x38, 0x73, 0], 0x0b)],
    ['application/vnd.kubernetes.protobuf', repeated([0x12, 0], [0x6b, 0x38, 0x73, 0])],
    ['application/cbor', filled([0xd9, 0xd9, 0xf7], 0x81)],
    ['application/cbor', filled([0xd9, 0xd9, 0xf7, 0x9a, 0, 0x2f, 0xff, 0xf0], 0xa0)],
    ['application/cbor', filled([0xd9, 0xd9, 0xf7, 0xba, 0, 0x17, 0xff, 0xf0], 0x40)],
  ];
  const codes = [];
  for (const [type, body, path = '/api/v1/namespaces/default/configmaps'] of bodies) {
    const response = await handle(new Request('http://cluster.local' + path, { method: 'POST', headers: { 'content-type': type }, body }));
    await response.text();
    codes.push(response.status);
  }
  console.log(JSON.stringify(codes));
`;

test('rejects bodies that would fill memory with a small heap', { timeout: 120_000 }, async () => {
  const { outputFiles } = await build({
    stdin: { contents: SERVER, resolveDir: root, loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    logLevel: 'silent',
  });
  const program = outputFiles[0]?.text ?? '';
  const run = spawnSync(process.execPath, [`--max-old-space-size=${HEAP_MB}`, '--input-type=module'], {
    input: program,
    encoding: 'utf8',
    cwd: root,
    timeout: 100_000,
  });
  expect(run.stderr).toBe('');
  const codes: number[] = JSON.parse(run.stdout);
  expect(codes).toHaveLength(15);
  expect(codes.filter((code) => code < 400 || code >= 500)).toEqual([]);
});
