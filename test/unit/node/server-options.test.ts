/** Flags of `serve` that read files, with real servers. */
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { certificateSigning, controllers } from '../../../src/controllers/index.js';
import { CertificateSigningRequest, Namespace, Pod, Service, ServiceAccount } from '../../../src/kinds/index.js';
import { UsageError } from '../../../src/node/commands/command.js';
import { serve } from '../../../src/node/index.js';
import { readServerOptions } from '../../../src/node/server-options.js';
import { providerKey, signToken, startProvider } from '../auth/authentication/openid-provider.js';
import { requestFor } from '../controllers/certificate-requests.js';
import { type Issued, issue, listen } from '../webhook/tls-servers.js';
import { settingsWithFlags } from './commands/serve-settings.js';

let folder: string;
let warnings: string[];
let printed: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'flags-'));
  warnings = [];
  printed = '';
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a file and returns its path. */
async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function optionsOf(...args: string[]) {
  const { flags, tls } = settingsWithFlags(...args);
  return readServerOptions(flags, {
    host: '127.0.0.1',
    tls,
    accountKey: undefined,
    writeOut: (line) => {
      printed += line;
    },
    warn: (warning) => warnings.push(warning),
  });
}

/** A server with these flags, as the command starts it. */
async function start(...args: string[]) {
  const options = await optionsOf(...args);
  const signing = controllers([certificateSigning(options.signing)]);
  const cluster = createCluster({ dialect: 'kubernetes', controllers: signing, ...options.cluster });
  const { clientCa, requestHeader } = options;
  const server = await serve(cluster, { token: 'admin', tls: options.tls ?? true, clientCa, requestHeader });
  const call = async (
    path: string,
    use: { token?: string; certificate?: Pick<Issued, 'pem' | 'key'>; headers?: object; body?: object } = {},
  ) => {
    const { token, certificate, headers = {}, body } = use;
    const outgoing = request(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ca: server.caCertificate,
      allowPartialTrustChain: true,
      agent: false,
      ...(certificate && { cert: certificate.pem, key: certificate.key }),
      headers: {
        'content-type': 'application/json',
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
    } as object);
    outgoing.end(body && JSON.stringify(body));
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { code: answer.statusCode, body: JSON.parse(await text(answer)) };
  };
  const whoAmI = async (use: Parameters<typeof call>[1]) =>
    (await call('/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: {}, ...use })).body.status?.userInfo;
  return {
    cluster,
    server,
    call,
    whoAmI,
    async [Symbol.asyncDispose]() {
      await server.close();
      await cluster.close();
      await options[Symbol.asyncDispose]();
    },
  };
}

describe('certificates', () => {
  test('--tls-cert-file and --tls-private-key-file name the certificate of the server', async () => {
    const own = await issue({ hosts: ['127.0.0.1'] });
    const cert = await file('tls.crt', own.pem);
    const key = await file('tls.key', own.key);
    await using site = await start('--tls-cert-file', cert, '--tls-private-key-file', key);
    expect((await site.call('/version')).code).toBe(200);
    expect(site.server.kubeconfig).toContain(Buffer.from(own.pem).toString('base64'));
    const other = await file('other.key', (await issue({})).key);
    await expect(optionsOf('--tls-cert-file', cert, '--tls-private-key-file', other)).rejects.toThrow(UsageError);
    await expect(optionsOf('--tls-cert-file', join(folder, 'no'), '--tls-private-key-file', key)).rejects.toThrow(
      /^--tls-cert-file .*no: no such file or directory$/,
    );
  });

  test('--cert-dir keeps a generated certificate', async () => {
    const dir = join(folder, 'certs');
    const first = await optionsOf('--cert-dir', dir);
    expect(((await stat(join(dir, 'apiserver.key'))).mode & 0o777).toString(8)).toBe('600');
    await using site = await start('--cert-dir', dir);
    expect(site.server.caCertificate).toBe(first.tls?.ca);
    expect((await site.call('/version')).code).toBe(200);
    await rm(join(dir, 'apiserver.key'));
    await expect(optionsOf('--cert-dir', dir)).rejects.toThrow('apiserver.key is missing');
    await expect(optionsOf('--cert-dir', dir, '--no-tls')).rejects.toThrow('--no-tls contradicts');
  });

  test('--client-ca-file and --requestheader-… name the authorities of clients', async () => {
    const users = await issue({ name: 'users', ca: true });
    const proxies = await issue({ name: 'proxies', ca: true });
    await using site = await start(
      `--client-ca-file=${await file('users.crt', users.pem)}`,
      `--requestheader-client-ca-file=${await file('proxies.crt', proxies.pem)}`,
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-allowed-names=front-proxy',
    );
    const alice = await issue({ name: 'alice', issuer: users, isForClients: true });
    expect(await site.whoAmI({ certificate: alice })).toMatchObject({ username: 'alice' });
    const proxy = await issue({ name: 'front-proxy', issuer: proxies, isForClients: true });
    const headers = { 'X-Remote-User': 'bob' };
    expect(await site.whoAmI({ certificate: proxy, headers })).toMatchObject({ username: 'bob' });
  });

  test.each(['pkcs8', 'sec1'] as const)(
    '--cluster-signing-… name the authority of signed requests (key format %s)',
    async (type) => {
      const users = await issue({ name: 'users', ca: true });
      const ca = await file('users.crt', users.pem);
      const key = await file('users.key', createPrivateKey(users.key).export({ format: 'pem', type }).toString());
      await using site = await start(
        `--client-ca-file=${ca}`,
        `--cluster-signing-cert-file=${ca}`,
        `--cluster-signing-key-file=${key}`,
        '--cluster-signing-duration=2h',
        '--controllers=standard',
      );
      const made = await requestFor({ commonName: 'alice', organizations: ['dev'] });
      const requests = site.cluster.api(CertificateSigningRequest);
      const stored = await requests.create({
        metadata: { name: 'alice' },
        spec: { request: btoa(made.pem), signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
      });
      const conditions = [{ type: 'Approved', status: 'True' }] as const;
      await requests.subresource('approval').update('alice', { ...stored, status: { conditions } });
      await site.cluster.settle();
      const pem = atob((await requests.get('alice')).status.certificate ?? '');
      const end = Date.parse(new X509Certificate(pem).validTo);
      expect(Math.abs(end - Date.now() - 2 * 3_600_000)).toBeLessThan(60_000);
      const user = await site.whoAmI({ certificate: { pem, key: made.privateKey } });
      expect(user).toMatchObject({ username: 'alice', groups: ['dev', 'system:authenticated'] });
    },
  );

  test('--cluster-signing-key-file must be the key of the certificate', async () => {
    const own = await issue({ name: 'users', ca: true });
    const cert = await file('ca.crt', own.pem);
    const other = await file('other.key', (await issue({})).key);
    const edwards = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const signing = (key: string, ...more: string[]) =>
      optionsOf('--controllers=ready', '--cluster-signing-cert-file', cert, '--cluster-signing-key-file', key, ...more);
    await expect(signing(other)).rejects.toThrow('is not the key of the certificate');
    await expect(signing(await file('edwards.key', edwards))).rejects.toThrow('is not the key of the certificate');
    await expect(signing(cert)).rejects.toThrow(/^--cluster-signing-key-file: /);
    await expect(signing(join(folder, 'no'))).rejects.toThrow('no such file or directory');
    await expect(optionsOf('--cluster-signing-cert-file', cert)).rejects.toThrow('must be given together');
    await expect(optionsOf('--cluster-signing-duration', '1h')).rejects.toThrow('need --controllers standard or ready');
    await expect(signing(other, '--cluster-signing-duration=-1h')).rejects.toThrow('must be positive, got "-1h"');
  });
});

describe('tokens', () => {
  test('--token-auth-file adds users', async () => {
    const tokens = await file('tokens.csv', 'secret,alice,1,"dev,ops"\n,x,y\n');
    await using site = await start('--token-auth-file', tokens);
    expect(await site.whoAmI({ token: 'secret' })).toMatchObject({
      username: 'alice',
      uid: '1',
      groups: ['dev', 'ops', 'system:authenticated'],
    });
    expect(await site.whoAmI({ token: 'admin' })).toMatchObject({ username: 'admin' });
    expect(warnings).toEqual([expect.stringContaining('empty token has been found')]);
    const short = await file('short.csv', 'a,b\n');
    await expect(optionsOf('--token-auth-file', short)).rejects.toThrow('must have at least 3 columns');
  });

  test('--service-account-… name issuers and keys', async () => {
    const pem = { type: 'pkcs8', format: 'pem' } as const;
    const old = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const current = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const oldKey = await file('old.key', String(old.privateKey.export(pem)));
    const oldPublic = old.publicKey.export({ type: 'spki', format: 'pem' });
    const keys = await file('keys.pem', `${current.privateKey.export(pem)}\n${oldPublic}`);
    const currentKey = await file('current.key', String(current.privateKey.export({ type: 'pkcs1', format: 'pem' })));
    const tokenOf = async (...args: string[]) => {
      await using site = await start(...args);
      await site.cluster.api(ServiceAccount).create({ metadata: { name: 'robot' } });
      const path = '/api/v1/namespaces/default/serviceaccounts/robot/token';
      return (await site.call(path, { token: 'admin', body: { spec: { audiences: ['https://new'] } } })).body.status
        .token;
    };
    const token = await tokenOf('--service-account-issuer=https://old', `--service-account-signing-key-file=${oldKey}`);
    await using site = await start(
      '--service-account-issuer=https://new',
      '--service-account-issuer=https://old',
      `--service-account-signing-key-file=${currentKey}`,
      `--service-account-key-file=${keys}`,
    );
    const { body } = await site.call('/openid/v1/jwks', { token: 'admin' });
    expect(body.keys.map(({ alg }: { alg: string }) => alg)).toEqual(['RS256', 'ES256']);
    const review = { spec: { token } };
    // The signature is valid; the account of the other cluster does not exist here.
    const { status } = (
      await site.call('/apis/authentication.k8s.io/v1/tokenreviews', { token: 'admin', body: review })
    ).body;
    expect(status.error).toContain('serviceaccounts "robot" not found');
    await expect(
      optionsOf(`--service-account-signing-key-file=${keys}`, `--service-account-key-file=${await file('x', 'x')}`),
    ).rejects.toThrow('contains no PEM-encoded RSA or ECDSA keys');
  });

  test('--oidc-… authenticate users of a provider', async () => {
    const key = await providerKey('one', 'ES256');
    await using provider = await startProvider([key]);
    await using site = await start(
      '--oidc-issuer-url',
      provider.url,
      '--oidc-client-id=me',
      `--oidc-ca-file=${await file('ca.crt', provider.ca)}`,
      '--oidc-username-prefix=-',
      '--oidc-groups-claim=groups',
      '--oidc-signing-algs=ES256',
    );
    const exp = Math.floor(Date.now() / 1000) + 60;
    const token = await signToken(key, { iss: provider.url, aud: 'me', exp, sub: 'alice', groups: ['dev'] });
    expect(await site.whoAmI({ token })).toMatchObject({ username: 'alice', groups: ['dev', 'system:authenticated'] });
    await expect(optionsOf('--oidc-issuer-url=http://x', '--oidc-client-id=me')).rejects.toThrow(
      /^--oidc-issuer-url: .*URL scheme must be https/,
    );
  });

  test('--authentication-token-webhook-config-file asks a webhook', async () => {
    const certificate = await issue({ hosts: ['127.0.0.1'] });
    await using webhook = await listen(certificate, async (incoming, response) => {
      const { apiVersion, spec } = JSON.parse(await text(incoming));
      const authenticated = spec.token === 'good' && incoming.headers.authorization === 'Bearer hook-token';
      const status = { authenticated, user: { username: `user of ${apiVersion}` } };
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ apiVersion, kind: 'TokenReview', status }));
    });
    await file('hook.crt', certificate.pem);
    const config = await file(
      'hook.kubeconfig',
      JSON.stringify({
        'current-context': 'a',
        contexts: [{ name: 'a', context: { cluster: 'b', user: 'c' } }],
        clusters: [
          {
            name: 'b',
            cluster: { server: `https://127.0.0.1:${webhook.port}/x`, 'certificate-authority': 'hook.crt' },
          },
        ],
        users: [{ name: 'c', user: { token: 'hook-token' } }],
      }),
    );
    await using site = await start(
      `--authentication-token-webhook-config-file=${config}`,
      '--authentication-token-webhook-version=v1',
    );
    expect(await site.whoAmI({ token: 'good' })).toMatchObject({ username: 'user of authentication.k8s.io/v1' });
    expect((await site.call('/version', { token: 'bad' })).code).toBe(401);
    await expect(optionsOf(`--authentication-token-webhook-config-file=${await file('x', 'a: b')}`)).rejects.toThrow(
      'is not a kubeconfig',
    );
  });
});

describe('authorization and admission', () => {
  test('--authorization-mode chooses the authorizers', async () => {
    const tokens = await file('tokens.csv', 'secret,alice,1\n');
    await using open = await start('--authorization-mode=AlwaysAllow', '--token-auth-file', tokens);
    expect((await open.call('/api/v1/pods', { token: 'secret' })).code).toBe(200);
    // As in the reference server, there are no anonymous requests then.
    expect((await open.call('/version')).code).toBe(401);
    await using closed = await start('--authorization-mode=RBAC,AlwaysDeny', '--token-auth-file', tokens);
    const { code, body } = await closed.call('/api/v1/pods', { token: 'secret' });
    expect([code, body.message]).toEqual([403, expect.stringContaining('Everything is forbidden.')]);
    expect((await closed.call('/version')).code).toBe(200);
    const kubelet = await file('kubelet.csv', 'secret,system:node:a,1,system:nodes\n');
    await using nodes = await start('--authorization-mode=Node,RBAC', '--token-auth-file', kubelet);
    const answer = await nodes.call('/api/v1/pods', { token: 'secret' });
    expect([answer.code, answer.body.message]).toEqual([
      403,
      expect.stringMatching(/with spec.nodeName field selector$/),
    ]);
  });

  test('plugins are enabled, disabled and configured', async () => {
    await file('selector.yaml', 'podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: pool=a }');
    const config = await file(
      'admission.yaml',
      `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
  - name: PodSecurity
    configuration:
      apiVersion: pod-security.admission.config.k8s.io/v1
      kind: PodSecurityConfiguration
      defaults: { enforce: restricted }
      exemptions: { namespaces: [trusted] }
  - name: PodNodeSelector
    path: selector.yaml
`,
    );
    await using site = await start(
      '--enable-admission-plugins=PodNodeSelector,AlwaysPullImages',
      '--disable-admission-plugins=DefaultTolerationSeconds',
      `--admission-control-config-file=${config}`,
    );
    const pod = { metadata: { name: 'web' }, spec: { containers: [{ name: 'a', image: 'a:1' }] } };
    await expect(site.cluster.api(Pod).create(pod)).rejects.toThrow('violates PodSecurity "restricted:latest"');
    await site.cluster.api(Namespace).create({ metadata: { name: 'trusted' } });
    const { spec } = await site.cluster.api(Pod, 'trusted').create(pod);
    expect(spec.nodeSelector).toEqual({ pool: 'a' });
    expect(spec.tolerations).toBeUndefined();
    expect(spec.containers?.[0]?.imagePullPolicy).toBe('Always');
    await expect(optionsOf('--enable-admission-plugins=Nothing')).rejects.toThrow('"Nothing" is unknown');
    const wrong = await file('wrong.yaml', 'kind: Pod');
    await expect(optionsOf(`--admission-control-config-file=${wrong}`)).rejects.toThrow(
      'not an AdmissionConfiguration',
    );
  });

  test('--service-cluster-ip-range and --allow-privileged are options of the cluster', async () => {
    await using site = await start('--service-cluster-ip-range=fd00::/112,10.1.0.0/16', '--allow-privileged=false');
    expect(site.cluster.settings).toMatchObject({ serviceFamilies: ['IPv6', 'IPv4'], allowPrivileged: false });
    expect((await site.cluster.api(Service).get('kubernetes')).spec.clusterIP).toBe('fd00::1');
  });
});

describe('audit', () => {
  const policy = 'rules: [{ level: Metadata, verbs: [create] }]\nomitStages: [RequestReceived]\n';

  test('events are appended to a file, one per line', async () => {
    const path = join(folder, 'logs', 'audit.log');
    const args = [`--audit-policy-file=${await file('policy.yaml', policy)}`, `--audit-log-path=${path}`];
    for (const name of ['one', 'two']) {
      await using site = await start(...args);
      await site.call('/api/v1/namespaces', { token: 'admin', body: { metadata: { name } } });
      await site.call('/api/v1/namespaces', { token: 'admin' });
    }
    const lines = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ kind, verb, objectRef }) => [kind, verb, objectRef.name])).toEqual([
      ['Event', 'create', 'one'],
      ['Event', 'create', 'two'],
    ]);
    expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600');
  });

  test('- is standard output', async () => {
    await using site = await start(`--audit-policy-file=${await file('policy.yaml', policy)}`, '--audit-log-path=-');
    await site.call('/api/v1/namespaces', { token: 'admin', body: { metadata: { name: 'one' } } });
    expect(JSON.parse(printed)).toMatchObject({ verb: 'create', stage: 'ResponseComplete' });
  });

  test('invalid policies and paths stop the start', async () => {
    const wrong = await file('wrong.yaml', 'rules: []');
    await expect(optionsOf(`--audit-policy-file=${wrong}`)).rejects.toThrow(
      /^--audit-policy-file: audit policy: rules/,
    );
    const good = await file('policy.yaml', policy);
    await expect(optionsOf(`--audit-policy-file=${good}`, `--audit-log-path=${folder}`)).rejects.toThrow(
      /^--audit-log-path .*EISDIR/,
    );
  });
});
