/** Compressed responses over sockets, with back pressure. */
import { gunzipSync } from 'node:zlib';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { serve } from 'orchplane/node';
import { describe, expect, test } from 'vitest';
import { gzipSource } from '../../../src/node/byte-sources.js';
import { exchange } from './sockets.js';

describe('gzipSource', () => {
  test('compresses a stream without loss', async () => {
    const parts = ['a', 'b'.repeat(100_000), 'c'].map((part) => new TextEncoder().encode(part));
    const source = gzipSource({ read: async () => parts.shift(), cancel: () => undefined });
    const chunks: Uint8Array[] = [];
    for (let chunk = await source.read(); chunk !== undefined; chunk = await source.read()) chunks.push(chunk);
    expect(gunzipSync(Buffer.concat(chunks)).toString()).toBe(`a${'b'.repeat(100_000)}c`);
  });

  test('reads only as much as its reader needs, and stops when cancelled', async () => {
    let taken = 0;
    let isCancelled = false;
    // Incompressible data.
    const noise = () => crypto.getRandomValues(new Uint8Array(65_536));
    const source = gzipSource({
      async read() {
        taken++;
        return noise();
      },
      cancel() {
        isCancelled = true;
      },
    });
    await source.read();
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(taken).toBeLessThan(20);
    for (let bytes = 0; bytes < 200_000; ) bytes += (await source.read())?.length ?? 0;
    const reading = Promise.all([source.read(), source.read(), source.read(), source.read()]);
    source.cancel();
    expect(isCancelled).toBe(true);
    // A client that goes away is no error.
    expect((await reading).at(-1)).toBeUndefined();
    expect(await source.read()).toBeUndefined();
  });

  test('fails when its source stream fails', async () => {
    const source = gzipSource({ read: () => Promise.reject(new Error('lost')), cancel: () => undefined });
    await expect(source.read()).rejects.toThrow('lost');
  });

  test('compresses responses over a socket', async () => {
    const cluster = createCluster();
    for (const name of ['a', 'b', 'c']) {
      await cluster.api(ConfigMap).create({ metadata: { name }, data: { large: 'x'.repeat(100_000) } });
    }
    await using server = await serve(cluster, { anonymous: true });
    const path = '/api/v1/namespaces/default/configmaps';
    const plain = await fetch(server.url + path, { headers: { 'accept-encoding': 'gzip' } });
    expect(plain.headers.get('content-encoding')).toBe('gzip');
    expect((await plain.json()).items).toHaveLength(3);
    const head = `HEAD ${path} HTTP/1.0\r\nAccept-Encoding: gzip\r\n\r\n`;
    expect(await exchange(server.port, head)).toMatch(/^HTTP\/1\.1 405/);
  });
});
