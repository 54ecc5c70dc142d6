/**
 * Webhooks over HTTPS: which certificates are accepted with a caBundle, and the messages of failures. The results and
 * messages are those of kube-apiserver 1.33.
 */
import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import tls from 'node:tls';
import { ConfigMap, ValidatingWebhookConfiguration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { certificateProblem } from '../../../src/webhook/certificate-problem.js';
import { sendToBackend } from '../../../src/webhook/connection.js';
import { bundle, type CertificateWish, type Issued, issue, listen, type TlsServer } from './tls-servers.js';

const HOSTS = ['127.0.0.1', 'localhost'];
/** anyExtendedKeyUsage. */
const ANY_PURPOSE = '2.5.29.37.0';
const VERIFY = 'tls: failed to verify certificate: x509: ';

let ca: Issued;
let otherCa: Issued;
let sameNameCa: Issued;

beforeAll(async () => {
  ca = await issue({ name: 'my-ca', ca: true });
  otherCa = await issue({ name: 'other-ca', ca: true });
  sameNameCa = await issue({ name: 'my-ca', ca: true });
});

afterEach(() => vi.unstubAllGlobals());

/** A webhook that denies, so that a call is visible. */
async function denying(wish: CertificateWish | Issued, urls: (string | undefined)[] = []): Promise<TlsServer> {
  return listen('pem' in wish ? wish : await issue(wish), (request, response) => {
    urls.push(request.url);
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      if (request.url?.startsWith('/drop')) request.socket.destroy();
      if (request.url?.startsWith('/hang')) return;
      const { kind, apiVersion, request: asked } = JSON.parse(text);
      const status = { message: 'reached' };
      response.end(JSON.stringify({ kind, apiVersion, response: { uid: asked.uid, allowed: false, status } }));
    });
  });
}

function clusterWith(clientConfig: object, timeoutSeconds = 10) {
  const cluster = testCluster({ dialect: 'kubernetes' });
  const configuration = cluster.api(ValidatingWebhookConfiguration).create({
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'x.example.com',
        clientConfig,
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds,
      },
    ],
  });
  return { cluster, configuration };
}

/** The message of a create that the webhook denies or that cannot be sent to it. */
async function resultOf(clientConfig: object): Promise<string> {
  const { cluster, configuration } = clusterWith(clientConfig);
  await configuration;
  const created = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
  return created.then(
    () => 'created',
    ({ message }: Error) => message,
  );
}

const REACHED = 'admission webhook "x.example.com" denied the request: reached';

function failure(url: string, why: string): string {
  return `Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: Post "${url}": ${why}`;
}

describe('a webhook with a caBundle', () => {
  test('is called if the bundle contains its CA', async () => {
    await using server = await denying({ hosts: HOSTS, issuer: ca });
    const url = `https://127.0.0.1:${server.port}/x`;
    expect(await resultOf({ url, caBundle: bundle(ca) })).toBe(REACHED);
    expect(await resultOf({ url, caBundle: bundle(otherCa, ca) })).toBe(REACHED);
    expect(await resultOf({ url: `https://localhost:${server.port}`, caBundle: bundle(ca) })).toBe(REACHED);
  });

  test('is called if its certificate is for any purpose and its CA is in the bundle', async () => {
    const leaf = await issue({ hosts: HOSTS, issuer: ca, usages: [ANY_PURPOSE] });
    await using server = await denying(leaf);
    const url = `https://127.0.0.1:${server.port}/x`;
    expect(await resultOf({ url, caBundle: bundle(ca) })).toBe(REACHED);
    for (const untrusted of [otherCa, sameNameCa]) {
      expect(await resultOf({ url, caBundle: bundle(untrusted) })).toContain(VERIFY);
    }
    const noCa = await issue({ name: 'no-ca' });
    await using second = await denying({ hosts: HOSTS, issuer: noCa, usages: [ANY_PURPOSE] });
    expect(await resultOf({ url: `https://127.0.0.1:${second.port}/x`, caBundle: bundle(noCa) })).toContain(VERIFY);
  });

  test('closes the connection for a request that cannot be sent', async () => {
    await using server = await listen(await issue({ hosts: HOSTS, issuer: ca }), () => undefined);
    const headers: [string, string][] = [['x-remote-user', 'a\nb']];
    const sent = sendToBackend(`https://127.0.0.1:${server.port}/`, { headers }, { caBundle: bundle(ca) });
    await expect(sent).rejects.toThrow('Invalid character in header content ["x-remote-user"]');
    const open = () => new Promise((resolve) => server.server.getConnections((_error, count) => resolve(count)));
    await expect.poll(open).toBe(0);
  });

  test('is parsed once for all calls', async () => {
    await using server = await listen(await issue({ hosts: HOSTS, issuer: ca }), (_request, response) => {
      response.end('reached');
    });
    const createContext = vi.spyOn(tls, 'createSecureContext');
    const caBundle = bundle(await issue({ name: 'unused', ca: true }), ca);
    const call = () => sendToBackend(`https://127.0.0.1:${server.port}/`, {}, { caBundle });
    for (let calls = 0; calls < 3; calls++) expect(await (await call()).text()).toBe('reached');
    expect(createContext.mock.calls.filter(([options]) => Array.isArray(options?.ca))).toHaveLength(1);
    createContext.mockRestore();
  });

  test('gets the User-Agent of the reference server', async () => {
    const agents: (string | undefined)[] = [];
    await using server = await listen(await issue({ hosts: HOSTS, issuer: ca }), (request, response) => {
      agents.push(request.headers['user-agent']);
      response.writeHead(500).end();
    });
    await resultOf({ url: `https://127.0.0.1:${server.port}/`, caBundle: bundle(ca) });
    expect(agents).toEqual(['kube-apiserver-admission']);
  });

  test('is called at a URL whose path starts with two slashes', async () => {
    const urls: (string | undefined)[] = [];
    await using server = await denying({ hosts: HOSTS, issuer: ca }, urls);
    const url = `https://127.0.0.1:${server.port}//validate-v1-pod`;
    expect(await resultOf({ url, caBundle: bundle(ca) })).toBe(REACHED);
    expect(urls).toEqual(['/validate-v1-pod?timeout=10s']);
  });

  test('is called if the bundle is its own certificate, signed by itself or by a CA', async () => {
    for (const leaf of [await issue({ hosts: HOSTS }), await issue({ hosts: HOSTS, issuer: ca })]) {
      await using server = await denying(leaf);
      expect(await resultOf({ url: `https://127.0.0.1:${server.port}`, caBundle: bundle(leaf) })).toBe(REACHED);
    }
  });

  test('is called if the bundle contains an intermediate CA only', async () => {
    const intermediate = await issue({ name: 'intermediate', ca: true, issuer: ca });
    await using server = await denying({ hosts: HOSTS, issuer: intermediate });
    const url = `https://127.0.0.1:${server.port}/`;
    expect(await resultOf({ url, caBundle: bundle(intermediate) })).toBe(REACHED);
    expect(await resultOf({ url, caBundle: bundle(ca) })).toContain('certificate signed by unknown authority');
  });

  const UNKNOWN = 'certificate signed by unknown authority';
  const hint = (why: string, name: string) =>
    `${UNKNOWN} (possibly because of "${why}" while trying to verify candidate authority certificate "${name}")`;
  const past = () => new Date(Math.floor(Date.now() / 1000) * 1000 - 86_400_000);

  interface Refusal {
    readonly served: () => CertificateWish | Promise<Issued>;
    readonly trusted?: () => Issued | Promise<Issued>;
    readonly host?: string;
    readonly why: string | RegExp;
  }

  test.each<[string, Refusal]>([
    ['another CA', { served: () => ({ hosts: HOSTS, issuer: ca }), trusted: () => otherCa, why: UNKNOWN }],
    [
      'another CA with the same name',
      {
        served: () => ({ hosts: HOSTS, issuer: ca }),
        trusted: () => sameNameCa,
        why: hint('x509: ECDSA verification failure', 'my-ca'),
      },
    ],
    [
      'an older certificate of the same server',
      {
        served: () => ({ name: 'kopf', hosts: HOSTS }),
        trusted: () => issue({ name: 'kopf', hosts: HOSTS }),
        why: hint('x509: invalid signature: parent certificate cannot sign this kind of certificate', 'kopf'),
      },
    ],
    [
      'a certificate without IP addresses',
      {
        served: () => ({ hosts: ['a.example.com'], issuer: ca }),
        why: "cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs",
      },
    ],
    [
      'a certificate with other IP addresses',
      {
        served: () => ({ hosts: ['127.0.0.9', '::1'], issuer: ca }),
        why: 'certificate is valid for 127.0.0.9, ::1, not 127.0.0.1',
      },
    ],
    [
      'a certificate with other names, before its issuer is checked',
      {
        served: () => ({ hosts: ['a.example.com', 'b.example.com'], issuer: ca }),
        trusted: () => otherCa,
        host: 'localhost',
        why: 'certificate is valid for a.example.com, b.example.com, not localhost',
      },
    ],
    [
      'a certificate with IP addresses only',
      {
        served: () => ({ hosts: ['127.0.0.1'], issuer: ca }),
        host: 'localhost',
        why: 'certificate is not valid for any names, but wanted to match localhost',
      },
    ],
    [
      'a certificate whose subject is the host',
      {
        served: () => ({ name: 'localhost', issuer: ca }),
        host: 'localhost',
        why: 'certificate relies on legacy Common Name field, use SANs instead',
      },
    ],
    [
      'a certificate for clients',
      {
        served: () => ({ hosts: HOSTS, issuer: ca, isForClients: true }),
        why: 'certificate specifies an incompatible key usage',
      },
    ],
    [
      'an expired certificate, before its names are checked',
      {
        served: () => ({ hosts: ['a.example.com'], issuer: ca, notAfter: past() }),
        why: /^certificate has expired or is not yet valid: current time \S+Z is after \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
      },
    ],
  ])('is not called if the bundle or the certificate does not fit: %s', async (_, refusal) => {
    const { served, trusted = () => ca, host = '127.0.0.1', why } = refusal;
    const urls: (string | undefined)[] = [];
    await using server = await denying(await served(), urls);
    const url = `https://${host}:${server.port}/x`;
    const message = await resultOf({ url, caBundle: bundle(await trusted()) });
    const prefix = failure(`${url}?timeout=10s`, VERIFY);
    expect(message.slice(0, prefix.length)).toBe(prefix);
    expect(message.slice(prefix.length)).toEqual(typeof why === 'string' ? why : expect.stringMatching(why));
    expect(urls).toEqual([]);
  });

  test.each([
    ['*.example.com', undefined],
    ['f*.example.com', 'x509: certificate is valid for f*.example.com, not foo.example.com'],
  ])('may have a certificate with a wildcard, which is a whole label: %s', async (name, problem) => {
    const { certificate } = await issue({ hosts: [name], issuer: ca });
    const leaf = new X509Certificate(Buffer.from(certificate.rawData));
    const received = { leaf, chainError: undefined, anchors: undefined, nowMs: Date.now() };
    expect(certificateProblem({ ...received, hosts: ['foo.example.com'] })).toBe(problem);
  });

  test('is not read to the end if the response is too large', async () => {
    let isOpen = true;
    await using server = await listen(await issue({ hosts: HOSTS, issuer: ca }), (_request, response) => {
      response.on('close', () => {
        isOpen = false;
      });
      const send = (): void => {
        while (isOpen && response.write('x'.repeat(65_536)));
      };
      response.on('drain', send);
      send();
    });
    const message = await resultOf({ url: `https://127.0.0.1:${server.port}/x`, caBundle: bundle(ca) });
    expect(message).toContain('the webhook response is too large');
    await expect.poll(() => isOpen).toBe(false);
  });

  test('is not called if its own certificate in the bundle is for clients only', async () => {
    const leaf = await issue({ hosts: HOSTS, isForClients: true });
    await using server = await denying(leaf);
    const message = await resultOf({ url: `https://127.0.0.1:${server.port}/x`, caBundle: bundle(leaf) });
    expect(message).toContain('x509: certificate specifies an incompatible key usage');
  });

  test('reports a server that drops the connection, and one that does not respond in time', async () => {
    await using server = await denying({ hosts: HOSTS, issuer: ca });
    const url = `https://127.0.0.1:${server.port}`;
    expect(await resultOf({ url: `${url}/drop`, caBundle: bundle(ca) })).toBe(
      failure(`${url}/drop?timeout=10s`, 'EOF'),
    );
    const { cluster, configuration } = clusterWith({ url: `${url}/hang`, caBundle: bundle(ca) }, 2);
    await configuration;
    const created = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    const message = created.catch((error: Error) => error.message);
    await cluster.clock.advance(2000);
    expect(await message).toBe(failure(`${url}/hang?timeout=2s`, 'context deadline exceeded'));
  });

  test('is refused where Node cannot make the connection', async () => {
    const url = 'https://127.0.0.1:1/x';
    vi.stubGlobal('process', undefined);
    const message = await resultOf({ url, caBundle: bundle(ca) });
    expect(message).toBe(
      failure(
        `${url}?timeout=10s`,
        'a caBundle can be used in Node only, this platform trusts its own certificate authorities: call the server with the `webhooks` option of createCluster, or with `aggregate`',
      ),
    );
  });
});

describe('a webhook without a caBundle', () => {
  test('is not called if the platform does not trust its certificate', async () => {
    await using server = await denying({ hosts: HOSTS, issuer: ca });
    const url = `https://127.0.0.1:${server.port}/x`;
    expect(await resultOf({ url })).toBe(
      failure(`${url}?timeout=10s`, `${VERIFY}certificate signed by unknown authority`),
    );
  });
});

describe.each([
  ['with', () => ({ caBundle: bundle(ca) })],
  ['without', () => ({})],
])('a failed connection %s a caBundle', (_, trust) => {
  test('is reported for a closed port', async () => {
    const url = 'https://127.0.0.1:1/x';
    expect(await resultOf({ url, ...trust() })).toBe(
      failure(`${url}?timeout=10s`, 'dial tcp 127.0.0.1:1: connect: connection refused'),
    );
  });

  test('is reported for a server that speaks plain HTTP', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const message = await resultOf({ url, ...trust() });
    server.close();
    expect(message).toBe(failure(`${url}?timeout=10s`, 'http: server gave HTTP response to HTTPS client'));
  });

  test('is reported for a server that closes the connection', async () => {
    const server = createTcpServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const message = await resultOf({ url, ...trust() });
    server.close();
    expect(message).toBe(failure(`${url}?timeout=10s`, 'EOF'));
  });
});

test.each(['DELETE', 'POST'])('sends the whole stream of a %s', async (method) => {
  const bodies: string[] = [];
  await using server = await listen(await issue({ issuer: ca, hosts: HOSTS }), async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    bodies.push(text);
    response.end('{}');
  });
  const body = new Blob(['{"dryRun":["All"]}']).stream();
  const init: RequestInit & { duplex: 'half' } = { method, body, duplex: 'half' };
  const response = await sendToBackend(`https://127.0.0.1:${server.port}/x`, init, { caBundle: bundle(ca) });
  expect([response.status, bodies]).toEqual([200, ['{"dryRun":["All"]}']]);
});
