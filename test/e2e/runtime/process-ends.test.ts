/** Processes that leave other processes or many files behind. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { Pod } from 'orchplane/kinds';
import { nodeSockets, processImages } from 'orchplane/node';
import { runtime } from 'orchplane/runtime';
import { expect, test } from 'vitest';
import { removeFolder } from '../../../src/node/process-images/remove-folder.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';

test('a container ends with its process although another process keeps its output open', async () => {
  const images = processImages({ shell: { command: ['sh'] } }, { isolation: 'none' });
  await using cluster = createCluster({
    dialect: 'kubernetes',
    controllers: controllers([...standardControllers(), ...runtime({ images, network: { sockets: nodeSockets } })]),
  });
  await cluster.api(Pod).create({
    metadata: { name: 'parent' },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'c', image: 'shell', args: ['-c', 'echo begin; setsid sleep 20 & sleep 0.2; exit 3'] }],
    },
  });
  const ended = await cluster
    .api(Pod)
    .waitFor('parent', (pod) => pod?.status.phase === 'Failed', { timeoutMs: 10_000 });
  expect(ended?.status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(3);
  expect(await cluster.logs('parent').text()).toBe('begin\n');
});

test('removes a directory with many files without keeping the process busy', async () => {
  for (const count of [10, 20_000]) {
    const folder = await mkdtemp(join(tmpdir(), 'orchplane-many-'));
    mkdirSync(join(folder, 'inner'));
    for (let at = 0; at < count; at++) writeFileSync(join(folder, 'inner', String(at)), '');
    const spentMs = cpuTimer();
    removeFolder(folder);
    expect(spentMs()).toBeLessThan(400);
    for (let tries = 0; tries < 200 && existsSync(folder); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(existsSync(folder)).toBe(false);
  }
});
