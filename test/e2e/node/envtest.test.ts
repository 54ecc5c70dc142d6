/** The programs of `orchplane envtest` as processes, started and stopped as envtest does. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProgram } from './built-program.js';

let folder: string;
let program: string;
let certificates: string;

beforeAll(async () => {
  ({ folder, program } = await buildProgram('orchplane-envtest-'));
  certificates = mkdtempSync(join(tmpdir(), 'orchplane-certificates-'));
}, 60_000);

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(certificates, { recursive: true });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('the kube-apiserver of "orchplane envtest"', () => {
  test('serves with a certificate in --cert-dir, runs no controllers, writes no other files and stops on SIGTERM', async () => {
    const assets = join(folder, 'assets');
    const printed = execFileSync(process.execPath, [program, 'envtest', assets], { encoding: 'utf8' });
    expect(printed).toBe(`export KUBEBUILDER_ASSETS='${assets}'\n`);
    const port = await freePort();
    writeFileSync(join(certificates, 'tokens.csv'), 'secret,admin,1,"system:masters"\n');
    const temporary = join(folder, 'temporary');
    mkdirSync(temporary);
    const args = [
      `--secure-port=${port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${certificates}`,
      `--token-auth-file=${certificates}/tokens.csv`,
      '--authorization-mode=RBAC',
      '--disable-admission-plugins=ServiceAccount',
      '--etcd-servers=http://127.0.0.1:2379',
      '--unheard-of=1',
    ];
    const env = { ...process.env, TMPDIR: temporary };
    const child = spawn(join(assets, 'kube-apiserver'), args, { env });
    const [output, errors] = [text(child.stdout), text(child.stderr)];
    const send = (method: string, path: string, options: { readonly token?: string; readonly body?: unknown } = {}) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        // The certificate file contains what a client must trust.
        const agent = new Agent({ ca: readFileSync(join(certificates, 'apiserver.crt')) });
        const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
        const headers = { ...authorization, 'content-type': 'application/json' };
        const sent = request(`https://127.0.0.1:${port}${path}`, { method, agent, headers }, async (response) => {
          resolve({ status: response.statusCode, body: await text(response) });
        });
        sent.on('error', reject).end(options.body === undefined ? undefined : JSON.stringify(options.body));
      });
    const healthy = () => send('GET', '/healthz').catch(() => ({ status: 0, body: '' }));
    const waiting = async () =>
      (
        await Promise.resolve()
          .then(healthy)
          .catch(() => ({ body: '' }))
      ).body;
    await expect.poll(waiting, { timeout: 20_000 }).toBe('ok');
    expect(await send('GET', '/readyz')).toMatchObject({ status: 200 });
    expect(await send('GET', '/api/v1/pods')).toMatchObject({ status: 403 });
    const token = 'secret';
    const body = { metadata: { name: 'gone' } };
    expect(await send('POST', '/api/v1/namespaces', { token, body })).toMatchObject({ status: 201 });
    expect(await send('DELETE', '/api/v1/namespaces/gone', { token })).toMatchObject({ status: 200 });
    const namespace = await send('GET', '/api/v1/namespaces/gone', { token });
    expect(JSON.parse(namespace.body)).toMatchObject({ status: { phase: 'Terminating' } });
    expect(readdirSync(temporary)).toEqual([]);
    const start = performance.now();
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(performance.now() - start).toBeLessThan(5_000);
    expect(await errors).toBe('orchplane: the flag --unheard-of is ignored\n');
    expect(await output).toBe('');
  }, 60_000);
});
