/**
 * kubectl against pods of a fake runtime. Releases before 1.31 use SPDY, which is not supported. With ORCHPLANE_KUBECTL=all in
 * the environment every release runs the tests, otherwise the newest one does.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findBinaries, minorOf } from '../kubectl/binaries.js';
import { type Running, startProgram } from '../kubectl/process.js';
import { eventually } from './channel-client.js';
import { type ServedRuntime, serveRuntime } from './served-runtime.js';

const suitable = findBinaries().filter((binary) => minorOf(binary) >= 31);
const binaries = process.env['ORCHPLANE_KUBECTL'] === 'all' ? suitable : suitable.slice(-1);

test.skipIf(binaries.length > 0)(
  'skips kubectl, because there is none of release 1.31 or newer in PATH',
  () => undefined,
);

const cases = binaries.flatMap((binary) => [
  { ...binary, thread: false, server: 'in the thread of the cluster' },
  { ...binary, thread: true, server: 'in a thread of its own' },
]);

describe.each(cases)('kubectl $release and a server $server', ({ path, thread }) => {
  let served: ServedRuntime;
  let folder: string;
  const running: Running[] = [];
  beforeAll(async () => {
    served = await serveRuntime({ thread });
    folder = await mkdtemp(join(tmpdir(), 'orchplane-runtime-kubectl-'));
  });
  afterAll(async () => {
    for (const each of running) each.stop();
    await Promise.all(running.map(({ ended }) => ended));
    await served[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
    expect(served.errors).toEqual([]);
    expect(served.fake.open).toEqual({ logs: 0, processes: 0, ports: 0 });
  });

  const start = (args: readonly string[], input?: string): Running => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: folder, KUBECONFIG: served.kubeconfig };
    const started = startProgram(path, args, { cwd: folder, env, ...(input === undefined ? {} : { input }) });
    running.push(started);
    return started;
  };
  const run = (args: readonly string[], input?: string) => start(args, input).ended;

  test('prints a log', async () => {
    const flags = ['--tail=5', '--since=1h', '--timestamps', '--previous', '--limit-bytes=100'];
    expect(await run(['logs', 'web', ...flags])).toEqual({ code: 0, stdout: 'one\ntwo\n', stderr: '' });
    expect(served.fake.requests.at(-1)?.query).toEqual({
      container: ['main'],
      limitBytes: ['100'],
      previous: ['true'],
      sinceSeconds: ['3600'],
      tailLines: ['5'],
      timestamps: ['true'],
    });
  });

  test('follows a log until it ends', async () => {
    const following = start(['logs', 'web', '-f']);
    await following.output(/two/);
    served.fake.writeLog('three');
    await following.output(/three/);
    served.fake.endLogs();
    expect(await following.ended).toMatchObject({ code: 0, stdout: 'one\ntwo\nthree\n' });
  });

  test('runs commands and ends with their exit code', async () => {
    expect(await run(['exec', 'web', '--', 'hello'])).toEqual({ code: 0, stdout: 'out\n', stderr: 'err\n' });
    const failed = await run(['exec', 'web', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect(failed).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\ncommand terminated with exit code 7\n' });
    expect(await run(['exec', 'web', '--', 'missing'])).toMatchObject({
      code: 1,
      stderr: 'error: there is no such command\n',
    });
    expect((await run(['exec', 'web', '--', 'crash'])).stderr).toContain('the runtime failed');
  });

  test('passes its input to a command', async () => {
    const input = 'line\n'.repeat(50_000);
    expect((await run(['exec', '-i', 'web', '--', 'cat'], input)).stdout === input).toBe(true);
    expect((await run(['exec', '-i', 'web', '--', 'wc', '-l'], input)).stdout.trim()).toBe('50000');
  });

  test('attaches to a pod', async () => {
    expect((await run(['attach', '-i', 'web'], 'hello\n')).stdout).toBe('attached\nhello\n');
  });

  test('copies files', async () => {
    const content = 'content\n'.repeat(200_000);
    await writeFile(join(folder, 'here'), content);
    expect(await run(['cp', 'here', `web:${join(folder, 'there')}`])).toMatchObject({ code: 0 });
    expect((await readFile(join(folder, 'there'), 'utf8')) === content).toBe(true);
    expect(await run(['cp', `web:${join(folder, 'there')}`, 'back'])).toMatchObject({ code: 0 });
    expect((await readFile(join(folder, 'back'), 'utf8')) === content).toBe(true);
  });

  test('forwards a port for several connections', async () => {
    const long = 'x'.repeat(1_000_000);
    const web = createServer((incoming, outgoing) => outgoing.end(`${incoming.url} ${long}`));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    served.fake.ports.set(80, (web.address() as AddressInfo).port);
    const forwarding = start(['port-forward', 'web', ':80', '--address=127.0.0.1']);
    const local = Number(/127\.0\.0\.1:(\d+) ->/.exec(await forwarding.output(/127\.0\.0\.1:\d+ ->/))?.[1]);
    const answers = await Promise.all(['/a', '/b', '/c', '/d', '/e'].map((each) => get(local, each)));
    expect(answers.map((answer) => answer.slice(0, 3))).toEqual(['/a ', '/b ', '/c ', '/d ', '/e ']);
    expect(answers.every(({ length }) => length === 1_000_003)).toBe(true);
    await eventually(() => served.fake.open.ports === 0);
    forwarding.stop();
    web.close();
  });

  test('reports a port on which nothing listens', async () => {
    const forwarding = start(['port-forward', 'web', ':81', '--address=127.0.0.1']);
    const local = Number(/127\.0\.0\.1:(\d+) ->/.exec(await forwarding.output(/127\.0\.0\.1:\d+ ->/))?.[1]);
    await expect(get(local, '/')).rejects.toThrow();
    const { code, stderr } = await forwarding.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('-> 81: error forwarding port 81 to pod web, uid : connection refused');
  });

  test('reads through proxies', async () => {
    served.fake.serveHttp = ({ url }) => new Response(new URL(url).pathname + new URL(url).search);
    const raw = '/api/v1/namespaces/default/pods/web/proxy/a/b?x=1';
    expect(await run(['get', '--raw', raw])).toEqual({ code: 0, stdout: '/a/b?x=1', stderr: '' });
    served.fake.serveHttp = () => Promise.reject(new Error('connection refused'));
    const failed = await run(['get', '--raw', raw]);
    expect(failed.stderr).toContain('error trying to reach service: connection refused');
  });
});

function get(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, host: '127.0.0.1', agent: false }, (response) => {
      let text = '';
      response.on('data', (part) => {
        text += String(part);
      });
      response.on('end', () => resolve(text));
    });
    sent.on('error', reject);
    sent.end();
  });
}
