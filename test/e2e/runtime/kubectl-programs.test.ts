/** kubectl against pods that run, over TLS: programs of this process and processes of this machine. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCluster } from 'orchplane';
import { controllers, standardControllers } from 'orchplane/controllers';
import { nodeSockets, processImages, type ServedCluster, serve } from 'orchplane/node';
import { type Program, runtime } from 'orchplane/runtime';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findBinaries, minorOf } from '../kubectl/binaries.js';
import { type Running, startProgram } from '../kubectl/process.js';

const binary = findBinaries()
  .filter((each) => minorOf(each) >= 31)
  .at(-1);

/** The metrics API is available when its check has run. */
const WAIT = { timeout: 30_000, interval: 500 };

const web: Program = async ({ listen, log, stdin, use, untilStopped }) => {
  use({ cpu: '250m', memory: '64Mi' });
  listen(8080, (request) => new Response(`hello from ${new URL(request.url).pathname}\n`));
  log('listening');
  void (async () => {
    for await (const bytes of stdin as unknown as AsyncIterable<Uint8Array>)
      log('read', new TextDecoder().decode(bytes).trim());
  })();
  await untilStopped();
};

describe.skipIf(binary === undefined)('kubectl and pods that run', () => {
  let server: ServedCluster;
  let close: () => Promise<void>;
  let folder: string;
  const running: Running[] = [];

  beforeAll(async () => {
    const images = { ...processImages({ busybox: { command: [], args: ['sh'] } }), web };
    const cluster = createCluster({
      dialect: 'kubernetes',
      controllers: controllers([
        ...standardControllers(),
        ...runtime({ images, nodes: ['node-1', 'node-2'], network: { sockets: nodeSockets }, metrics: true }),
      ]),
    });
    server = await serve(cluster, { tls: true, tokens: { secret: { user: 'admin', groups: ['system:masters'] } } });
    close = () => cluster.close();
    folder = await mkdtemp(join(tmpdir(), 'orchplane-kubectl-programs-'));
    await writeFile(join(folder, 'kubeconfig'), server.kubeconfig);
    await ok('run', 'web', '--image=web', '--stdin', '--attach=false', '--port=8080');
    await ok('run', 'box', '--image=busybox', '--', 'sh', '-c', 'echo ready; sleep 600');
    await ok('wait', '--for=condition=Ready', 'pod/web', 'pod/box', '--timeout=30s');
  }, 60_000);

  afterAll(async () => {
    for (const each of running) each.stop();
    await Promise.all(running.map(({ ended }) => ended));
    await server.close();
    await close();
    await rm(folder, { recursive: true });
  });

  const start = (...args: readonly string[]): Running => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
    const started = startProgram(binary?.path ?? '', args, { cwd: folder, env });
    running.push(started);
    return started;
  };
  const ok = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await start(...args).ended;
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };

  test('logs and exec', async () => {
    expect(await ok('logs', 'web')).toBe('listening\n');
    expect(await ok('logs', 'box')).toBe('ready\n');
    expect(await ok('exec', 'web', '--', 'echo', 'a', 'b')).toBe('a b\n');
    expect((await start('exec', 'box', '--', 'sh', '-c', 'exit 5').ended).code).toBe(5);
  });

  test('attach', async () => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') };
    const attached = startProgram(binary?.path ?? '', ['attach', '-i', 'web'], {
      cwd: folder,
      env,
      input: 'first words\n',
    });
    running.push(attached);
    await attached.output(/read first words/);
    attached.stop();
  });

  test('port-forward', async () => {
    const forwarding = start('port-forward', 'pod/web', ':8080');
    const address = /127\.0\.0\.1:(\d+)/;
    const [, port] = address.exec(await forwarding.output(address)) ?? [];
    expect(await (await fetch(`http://127.0.0.1:${port}/orders`)).text()).toBe('hello from /orders\n');
    forwarding.stop();
  });

  test('cp', async () => {
    await writeFile(join(folder, 'note.txt'), 'some text');
    await ok('cp', 'note.txt', 'box:copied.txt');
    await ok('cp', 'box:copied.txt', 'back.txt');
    expect(await readFile(join(folder, 'back.txt'), 'utf8')).toBe('some text');
  });

  test('proxy', async () => {
    expect(await ok('get', '--raw', '/api/v1/namespaces/default/pods/web:8080/proxy/stock')).toBe(
      'hello from /stock\n',
    );
  });

  test('top', { timeout: 60_000 }, async () => {
    await vi.waitFor(async () => {
      expect(await ok('top', 'pods', '--no-headers')).toMatch(/web +250m +64Mi/);
    }, WAIT);
    expect(await ok('top', 'nodes', '--no-headers')).toMatch(/node-\d +\d+m +\d+% +64Mi/);
  });

  test('debug', async () => {
    await ok(
      'debug',
      'web',
      '--image=busybox',
      '--container=probe',
      '--attach=false',
      '--',
      'sh',
      '-c',
      'echo inspected',
    );
    await vi.waitFor(async () => expect(await ok('logs', 'web', '-c', 'probe')).toBe('inspected\n'), WAIT);
  });

  test('drain', async () => {
    const node = await ok('get', 'pod', 'box', '-o', 'jsonpath={.spec.nodeName}');
    await ok('drain', node, '--force', '--ignore-daemonsets', '--grace-period=1', '--timeout=30s');
    expect(await ok('get', 'pods', '--field-selector', `spec.nodeName=${node}`, '-o', 'name')).toBe('');
  });
});
