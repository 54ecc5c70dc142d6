/** Client certificates and repeated headers, which only a server of our own can read. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { createClientAuthority, createServerCertificate } from '../../../src/node/certificates.js';
import { createPeerReader } from '../../../src/node/client-peer.js';
import { type ClientCertificate, type ServedCluster, type ServeOptions, serve } from '../../../src/node/index.js';
import { type Issued, issue } from '../webhook/tls-servers.js';

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const cluster = createCluster({ dialect: 'kubernetes' });
let server: ServedCluster;

beforeAll(async () => {
  server = await serve(cluster, { tls: true, clientCa: true, token: 'admin-token' });
});

afterAll(() => server.close());

interface CallOptions {
  readonly clientCertificate?: ClientCertificate | undefined;
  readonly headers?: Record<string, string | string[]>;
  readonly agent?: Agent;
  readonly to?: ServedCluster;
}

/** The identity that the server assigns to its client: the code, and the user if there is one. */
async function whoAmI({ clientCertificate, headers = {}, agent, to = server }: CallOptions = {}) {
  const own = agent ?? new Agent({ ...clientCertificate });
  const outgoing = request(`${to.url}${REVIEW}`, {
    method: 'POST',
    ca: to.caCertificate,
    agent: own,
    headers: { 'content-type': 'application/json', ...headers },
  });
  outgoing.end('{}');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = JSON.parse(await text(answer));
  if (agent === undefined) own.destroy();
  return { code: answer.statusCode, user: body.status?.userInfo, message: body.message };
}

describe('a certificate of the client CA', () => {
  test('authenticates the holder of a certificate', async () => {
    const clientCertificate = await server.createClientCertificate({
      user: 'alice',
      groups: ['dev', 'ops'],
      uid: 'u-2',
    });
    expect(await whoAmI({ clientCertificate })).toEqual({
      code: 201,
      user: {
        username: 'alice',
        uid: 'u-2',
        groups: ['dev', 'ops', 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [expect.stringMatching(/^X509SHA256=[0-9a-f]{64}$/)] },
      },
      message: undefined,
    });
  });

  test.each([
    ['Jörg, "the boss" +\\; #1', ['a=b, O=c', '漢字', '']],
    ['system:serviceaccount:default:robot', []],
    [' padded ', [' ', 'a\nO=system:masters']],
  ])('accepts a certificate with the user name %j', async (user, groups) => {
    const clientCertificate = await server.createClientCertificate({ user, groups });
    expect((await whoAmI({ clientCertificate })).user).toMatchObject({
      username: user,
      groups: [...groups, 'system:authenticated'],
    });
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'may have an intermediate issuer when it connects again: %s',
    async (version) => {
      const root = await issue({ name: 'root', ca: true });
      const intermediate = await issue({ name: 'intermediate', ca: true, issuer: root });
      const leaf = await issue({ name: 'alice', issuer: intermediate, isForClients: true });
      await using to = await serve(cluster, { tls: true, clientCa: root.pem, token: 'admin-token' });
      // The agent keeps sessions to resume them.
      const cert = `${leaf.pem}\n${intermediate.pem}`;
      const agent = new Agent({ cert, key: leaf.key, keepAlive: false, maxVersion: version });
      for (let count = 0; count < 3; count++) {
        expect((await whoAmI({ agent, to })).user).toMatchObject({ username: 'alice' });
      }
      agent.destroy();
    },
  );

  test('prefers a certificate over a token, which is ignored', async () => {
    const clientCertificate = await server.createClientCertificate({ user: 'alice' });
    const headers = { authorization: 'Bearer wrong' };
    expect(await whoAmI({ clientCertificate, headers })).toMatchObject({ code: 201, user: { username: 'alice' } });
  });

  test('ignores a certificate without a user name', async () => {
    const clientCertificate = await server.createClientCertificate({ user: '', groups: ['system:masters'] });
    expect(await whoAmI({ clientCertificate })).toMatchObject({
      code: 403,
      message: expect.stringContaining('system:anonymous'),
    });
    const headers = { authorization: 'Bearer admin-token' };
    expect(await whoAmI({ clientCertificate, headers })).toMatchObject({ user: { username: 'admin' } });
  });

  test('rejects a certificate with an invalid UID', async () => {
    const clientCertificate = await server.createClientCertificate({ user: 'alice', uid: '' });
    expect(await whoAmI({ clientCertificate })).toMatchObject({ code: 401, message: 'Unauthorized' });
  });

  test('allows impersonation with several groups by a certificate user', async () => {
    const clientCertificate = await server.createClientCertificate({ user: 'root', groups: ['system:masters'] });
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b, c'],
      'impersonate-extra-scopes': ['view', 'edit, all'],
    };
    expect((await whoAmI({ clientCertificate, headers })).user).toEqual({
      username: 'jane',
      groups: ['a', 'b, c', 'system:authenticated'],
      extra: { scopes: ['view', 'edit, all'] },
    });
  });

  test('uses a certificate for every request of a connection', async () => {
    const clientCertificate = await server.createClientCertificate({ user: 'alice' });
    const agent = new Agent({ ...clientCertificate, keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round++) expect((await whoAmI({ agent })).user.username).toBe('alice');
    agent.destroy();
  });
});

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a resumed session of %s', (maxVersion) => {
  /** Sends a request on a connection, and one on a second connection that resumes its session; returns both results. */
  async function resumeSession(clientCertificate: Partial<ClientCertificate>) {
    const seen: string[] = [];
    let session: Buffer | undefined;
    for (let round = 0; round < 2; round++) {
      const { port, caCertificate: ca } = server;
      const again = session === undefined ? {} : { session };
      const socket = connect({ port, ca, host: '127.0.0.1', maxVersion, ...clientCertificate, ...again });
      socket.on('session', (next: Buffer) => {
        session = next;
      });
      await once(socket, 'secureConnect');
      const isReused = socket.isSessionReused();
      socket.write(`POST ${REVIEW} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`);
      socket.write('Content-Length: 2\r\nConnection: close\r\n\r\n{}');
      const answer = await text(socket);
      seen.push(`${isReused} ${/^HTTP\S+ (\d+)/.exec(answer)?.[1]} ${/"username":"(\w+)"/.exec(answer)?.[1]}`);
    }
    return seen;
  }

  test('keeps the identity of the certificate in a resumed session', async () => {
    const clientCertificate = await server.createClientCertificate({ user: 'alice' });
    expect(await resumeSession(clientCertificate)).toEqual(['false 201 alice', 'true 201 alice']);
  });

  test('rejects a resumed session with a rejected certificate', async () => {
    const foreign = await (await createClientAuthority()).issue({ user: 'root', groups: ['system:masters'] });
    expect(await resumeSession(foreign)).toEqual(['false 401 undefined', 'true 401 undefined']);
  });

  test('treats a resumed session without a certificate as anonymous', async () => {
    expect(await resumeSession({})).toEqual(['false 403 undefined', 'true 403 undefined']);
  });
});

describe('an invalid certificate', () => {
  const unauthorized = { code: 401, message: 'Unauthorized' };

  test('rejects a certificate of another CA', async () => {
    const foreign = await (await createClientAuthority()).issue({ user: 'root', groups: ['system:masters'] });
    expect(await whoAmI({ clientCertificate: foreign })).toMatchObject(unauthorized);
  });

  test('rejects a certificate after it has expired', async () => {
    const clientCertificate = await server.createClientCertificate({
      user: 'alice',
      expiresAt: new Date(Date.now() - 1_000),
    });
    expect(await whoAmI({ clientCertificate })).toMatchObject(unauthorized);
  });

  test('rejects a certificate as soon as it expires on an open connection', async () => {
    const { cert } = await server.createClientCertificate({ user: 'alice', expiresAt: new Date(Date.now() - 1_000) });
    const certificate = new X509Certificate(cert);
    const socket = { authorized: true, getPeerX509Certificate: () => certificate };
    const peer = createPeerReader(kubernetesDialect, {})({ socket } as unknown as IncomingMessage);
    expect(peer).toMatchObject({ type: 'refused', error: expect.stringContaining('expired') });
  });

  test('rejects a server certificate as a client certificate', async () => {
    const { cert, key } = await createServerCertificate(['localhost']);
    expect(await whoAmI({ clientCertificate: { cert, key } })).toMatchObject(unauthorized);
  });

  test('ignores an invalid certificate when the request has a token', async () => {
    const clientCertificate = await (await createClientAuthority()).issue({ user: 'root' });
    const headers = { authorization: 'Bearer admin-token' };
    expect(await whoAmI({ clientCertificate, headers })).toMatchObject({ code: 201, user: { username: 'admin' } });
    expect(await whoAmI({ clientCertificate, headers: { authorization: 'Bearer wrong' } })).toMatchObject(unauthorized);
    // Another header that is not a credential does not help.
    expect(await whoAmI({ clientCertificate, headers: { authorization: 'Basic YTpi' } })).toMatchObject(unauthorized);
  });
});

describe('extended key usages of a client certificate', () => {
  const ANY = '2.5.29.37.0';
  const [SERVER, CLIENT] = ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'];

  /** The code for a client whose certificate comes from `root`, maybe through intermediate certificates. */
  async function codeFor(root: Issued, leaf: Issued, ...intermediates: readonly Issued[]): Promise<unknown> {
    await using to = await serve(cluster, { tls: true, clientCa: root.pem, token: 'admin-token' });
    const cert = [leaf, ...intermediates].map(({ pem }) => pem).join('\n');
    // OpenSSL refuses to load a client certificate with a weak signature otherwise.
    const agent = new Agent({ cert, key: leaf.key, keepAlive: false, ciphers: 'DEFAULT@SECLEVEL=0' });
    // The second connection resumes the session of the first one.
    const [{ code }, again] = [await whoAmI({ agent, to }), await whoAmI({ agent, to })];
    agent.destroy();
    expect(again.code).toBe(code);
    return code;
  }

  test.each([
    [[ANY], 201],
    [[SERVER, ANY], 201],
    [[CLIENT], 201],
    [[SERVER, CLIENT], 201],
    [[SERVER], 401],
    [['1.3.6.1.5.5.7.3.3'], 401],
  ])('of %j have the result %d', async (usages, code) => {
    const root = await issue({ name: 'root', ca: true });
    expect(await codeFor(root, await issue({ name: 'alice', issuer: root, usages }))).toBe(code);
  });

  test('may be any usage in the whole chain', async () => {
    const root = await issue({ name: 'root', ca: true, usages: [ANY] });
    const intermediate = await issue({ name: 'intermediate', ca: true, issuer: root, usages: [ANY] });
    const leaf = await issue({ name: 'alice', issuer: intermediate, usages: [ANY] });
    expect(await codeFor(root, leaf, intermediate)).toBe(201);
  });

  test('must allow clients in every certificate of the chain', async () => {
    const root = await issue({ name: 'root', ca: true });
    const intermediate = await issue({ name: 'intermediate', ca: true, issuer: root, usages: [SERVER] });
    const leaf = await issue({ name: 'alice', issuer: intermediate, usages: [ANY] });
    expect(await codeFor(root, leaf, intermediate)).toBe(401);
  });

  test('do not make other certificates valid', async () => {
    const root = await issue({ name: 'root', ca: true, usages: [ANY] });
    const usages = [ANY];
    const alice = { name: 'alice', usages };
    expect(await codeFor(root, await issue(alice)), 'self-signed').toBe(401);
    const foreign = await issue({ name: 'root', ca: true });
    expect(await codeFor(root, await issue({ ...alice, issuer: foreign }), foreign), 'other authority').toBe(401);
    const expired = { ...alice, issuer: root, notAfter: new Date(Date.now() - 60_000) };
    expect(await codeFor(root, await issue(expired)), 'expired').toBe(401);
    const plain = await issue({ name: 'plain', issuer: root, usages });
    expect(await codeFor(root, await issue({ ...alice, issuer: plain }), plain), 'issuer is no authority').toBe(401);
    const weak = await issue({ ...alice, issuer: root, signatureHash: 'SHA-1' });
    expect(await codeFor(root, weak), 'weak signature').toBe(401);
    const short = await issue({ name: 'short', ca: true, issuer: root, usages, pathLength: 0 });
    const below = await issue({ name: 'below', ca: true, issuer: short, usages });
    expect(await codeFor(root, await issue({ ...alice, issuer: below }), below, short), 'path too long').toBe(401);
    expect(await codeFor(root, await issue({ ...alice, issuer: short }), short), 'path of that length').toBe(201);
  });
});

describe('a connection without a certificate', () => {
  test('authenticates a connection without a certificate by token or as anonymous', async () => {
    expect(await whoAmI()).toMatchObject({ code: 403, message: expect.stringContaining('system:anonymous') });
    const headers = { authorization: 'Bearer admin-token' };
    expect(await whoAmI({ headers })).toMatchObject({ code: 201, user: { username: 'admin' } });
  });

  test('ignores a client certificate on a server without clientCa', async () => {
    await using plain = await serve(cluster, { tls: true, token: 'admin-token' });
    const clientCertificate = await server.createClientCertificate({ user: 'root', groups: ['system:masters'] });
    expect((await whoAmI({ clientCertificate, to: plain })).code).toBe(403);
    await expect(plain.createClientCertificate({ user: 'x' })).rejects.toThrow('only serve with clientCa: true');
  });
});

describe('the client CA', () => {
  test('accepts a client CA of the caller', async () => {
    const [mine, other] = [await createClientAuthority(), await createClientAuthority()];
    await using both = await serve(cluster, { tls: true, clientCa: mine.ca + other.ca });
    for (const authority of [mine, other]) {
      const clientCertificate = await authority.issue({ user: 'bob' });
      expect(await whoAmI({ clientCertificate, to: both })).toMatchObject({ user: { username: 'bob' } });
    }
    const clientCertificate = await server.createClientCertificate({ user: 'bob' });
    expect((await whoAmI({ clientCertificate, to: both })).code).toBe(401);
    await expect(both.createClientCertificate({ user: 'x' })).rejects.toThrow(TypeError);
  });

  test.each<[ServeOptions, string]>([
    [{ clientCa: true }, 'clientCa requires tls'],
    [{ clientCa: true, tls: false }, 'clientCa requires tls'],
    [{ clientCa: 'nonsense', tls: true }, 'clientCa is a text in PEM'],
    [{ clientCa: '', tls: true }, 'clientCa is a text in PEM'],
  ])('rejects the options %j', async (options, message) => {
    await expect(serve(cluster, options)).rejects.toThrow(message);
  });
});
