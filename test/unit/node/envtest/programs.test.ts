/** The servers that envtest starts: certificates, authentication, admission plugins and health checks. */
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Namespace, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startApiServer } from '../../../../src/node/envtest/api-server.js';
import { startEtcd } from '../../../../src/node/envtest/etcd.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'orchplane-envtest-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function start(...flags: string[]) {
  const lines: string[] = [];
  const port = await freePort();
  const common = [`--secure-port=${port}`, '--bind-address=127.0.0.1', `--cert-dir=${folder}`];
  const server = await startApiServer([...common, ...flags], (line) => lines.push(line));
  const request = (path: string, token?: string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      // The certificate file contains what a client must trust.
      const agent = new Agent({ ca: readFileSync(join(folder, 'apiserver.crt')) });
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      get(`${server.served.url}${path}`, { agent, headers }, async (response) => {
        resolve({ status: response.statusCode, body: await text(response) });
        agent.destroy();
      }).on('error', reject);
    });
  return { server, request, lines };
}

describe('startApiServer', () => {
  test('writes its certificate to --cert-dir and answers health checks without credentials', async () => {
    const { server, request, lines } = await start('--authorization-mode=RBAC', '--unheard-of=1');
    await using _ = server;
    expect(existsSync(join(folder, 'apiserver.key'))).toBe(true);
    expect(await request('/healthz')).toEqual({ status: 200, body: 'ok' });
    expect(await request('/readyz')).toMatchObject({ status: 200 });
    expect(await request('/api/v1/pods')).toMatchObject({ status: 403 });
    expect(lines).toEqual(['warning: the flag --unheard-of is ignored']);
  });

  test('uses an existing certificate again', async () => {
    await (await start()).server[Symbol.asyncDispose]();
    const before = readFileSync(join(folder, 'apiserver.crt'), 'utf8');
    const { server, request } = await start();
    await using _ = server;
    expect(await request('/healthz')).toMatchObject({ status: 200 });
    expect(readFileSync(join(folder, 'apiserver.crt'), 'utf8')).toBe(before);
  });

  test('authenticates the tokens of a file and signs service account tokens with the given key', async () => {
    writeFileSync(join(folder, 'tokens.csv'), 'secret,admin,1,"system:masters"\n');
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }));
    const { server, request } = await start(
      '--authorization-mode=Node,RBAC',
      `--token-auth-file=${folder}/tokens.csv`,
      `--service-account-signing-key-file=${folder}/sa.key`,
      '--service-account-issuer=https://issuer.example/',
    );
    await using _ = server;
    expect(await request('/api/v1/pods', 'secret')).toMatchObject({ status: 200 });
    expect(await request('/api/v1/pods', 'other')).toMatchObject({ status: 401 });
    const configuration = await request('/.well-known/openid-configuration', 'secret');
    expect(JSON.parse(configuration.body)).toMatchObject({ issuer: 'https://issuer.example/' });
  });

  test('enables the ServiceAccount plugin unless a flag disables it, and runs no controllers', async () => {
    const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    const first = await start();
    const pods = first.server.cluster.api(Pod);
    await expect(pods.create(pod)).rejects.toThrow('error looking up service account default/default');
    const namespaces = first.server.cluster.api(Namespace);
    await namespaces.create({ metadata: { name: 'gone' } });
    await namespaces.delete('gone');
    expect(await namespaces.get('gone')).toMatchObject({ status: { phase: 'Terminating' } });
    await first.server[Symbol.asyncDispose]();
    const second = await start('--disable-admission-plugins=ServiceAccount');
    await using _ = second.server;
    expect(await second.server.cluster.api(Pod).create(pod)).toMatchObject({ metadata: { name: 'a' } });
  });

  test('rejects an unknown admission plugin', async () => {
    await expect(start('--enable-admission-plugins=Nonsense')).rejects.toThrow('the plugin "Nonsense" is unknown');
  });
});

describe('startEtcd', () => {
  test('answers health checks on its client URLs until it is stopped', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const stop = await startEtcd([`--listen-client-urls=${url}`, '--data-dir=/tmp/x', '--unsafe-no-fsync=true']);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ health: 'true', reason: '' });
    expect(await (await fetch(`${url}/version`)).json()).toMatchObject({ etcdserver: '3.5.21' });
    stop();
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });
});
