/** Connections to pods with client-node: logs, commands, attached streams and ports. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Attach, CoreV1Api, Exec, Log, PortForward, type V1Status } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFakeRuntime, type FakeRuntime } from '../../unit/runtime/fake-runtime.js';
import { createPod } from '../runtime/served-runtime.js';
import { openSite, type Site, ways } from './sites.js';

describe.each(ways)('client-node and pods (%s)', (way) => {
  let site: Site;
  let fake: FakeRuntime;
  beforeAll(async () => {
    site = await openSite(way);
    fake = createFakeRuntime();
    site.cluster.runtimeSlot.runtime = fake;
    await createPod(site.cluster);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  async function execute(
    command: string[],
    input?: string,
  ): Promise<{ stdout: string; stderr: string; status: V1Status }> {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const stdin = input === undefined ? null : new PassThrough();
    const status = new Promise<V1Status>((resolve, reject) => {
      new Exec(site.config)
        .exec('default', 'web', 'main', command, stdout, stderr, stdin, false, resolve)
        .catch(reject);
    });
    stdin?.end(input);
    const output = Promise.all([text(stdout), text(stderr)]);
    return { status: await status, stdout: (await output)[0], stderr: (await output)[1] };
  }

  test('reads a log', async () => {
    const core = site.config.makeApiClient(CoreV1Api);
    expect(await core.readNamespacedPodLog({ namespace: 'default', name: 'web', tailLines: 5 })).toBe('one\ntwo\n');
    const output = new PassThrough();
    const stop = await new Log(site.config).log('default', 'web', 'main', output, { follow: true });
    const [first] = (await once(output, 'data')) as [Buffer];
    expect(first.toString()).toBe('one\ntwo\n');
    stop.abort();
    while (fake.open.logs > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test('runs commands', async () => {
    const { stdout, stderr, status } = await execute(['sh', '-c', 'echo out; echo err >&2; exit 3']);
    expect([stdout, stderr]).toEqual(['out\n', 'err\n']);
    expect(status).toMatchObject({ reason: 'NonZeroExitCode', details: { causes: [{ message: '3' }] } });
    expect(await execute(['cat'], 'input')).toMatchObject({ stdout: 'input', status: { status: 'Success' } });
  });

  test('attaches to a pod', async () => {
    const output = new PassThrough();
    const input = new PassThrough();
    const socket = await new Attach(site.config).attach('default', 'web', 'main', output, null, input, false);
    input.end('hello');
    await once(socket, 'close');
    expect(String(output.read())).toBe('attached\nhello');
  });

  test('forwards a port', async () => {
    const echo = createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    fake.ports.set(7, (echo.address() as AddressInfo).port);
    const output = new PassThrough();
    const input = new PassThrough();
    const forwarder = new PortForward(site.config);
    const socket = (await forwarder.portForward('default', 'web', [7], output, null, input)) as { close(): void };
    input.write('ping');
    let received = '';
    while (received !== 'ping') received += String(((await once(output, 'data')) as [Buffer])[0]);
    socket.close();
    while (fake.open.ports > 0) await new Promise((resolve) => setImmediate(resolve));
    echo.close();
  });
});
