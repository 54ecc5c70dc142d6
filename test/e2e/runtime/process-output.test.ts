/** A process waits for a client that does not read its output. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { Pod } from 'orchplane/kinds';
import { nodeSockets, processImages, serve } from 'orchplane/node';
import { runtime } from 'orchplane/runtime';
import { expect, test } from 'vitest';
import { connect, execPath } from './channel-client.js';
import { TOKEN } from './served-runtime.js';

const BLOCK = 65_536;
const COUNT = 2000;

test('a process waits for a client that does not read its output, and ends when the client has read it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-output-'));
  const images = processImages({ shell: { command: ['sh'] } }, { isolation: 'none' });
  await using cluster = createCluster({
    dialect: 'kubernetes',
    controllers: controllers([...standardControllers(), ...runtime({ images, network: { sockets: nodeSockets } })]),
  });
  const server = await serve(cluster, { tls: true, token: TOKEN });
  await cluster.api(Pod).create({
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'c', image: 'shell', args: ['-c', 'sleep 1000'] }] },
  });
  await cluster.api(Pod).waitFor('web', (pod) => pod?.status.phase === 'Running', { timeoutMs: 10_000 });
  const marker = join(folder, 'finished');
  const script = `dd if=/dev/zero bs=${BLOCK} count=${COUNT} 2>/dev/null; touch ${marker}`;
  const client = await connect({ server }, execPath(['sh', '-c', script]), { isPaused: true });
  // Without back pressure the process would end within this time.
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(existsSync(marker)).toBe(false);
  client.webSocket.resume();
  expect(await client.status()).toEqual({ metadata: {}, status: 'Success' });
  expect(existsSync(marker)).toBe(true);
  const lengths = client.messages.map((message) => (message[0] === 1 ? message.length - 1 : 0));
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(BLOCK * COUNT);
  await server.close();
  await rm(folder, { recursive: true });
});
