/** Users in the headers of an authenticating proxy, which identifies itself with a client certificate. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { type ServedCluster, type ServeOptions, serve } from '../../../src/node/index.js';
import { type Issued, issue } from '../webhook/tls-servers.js';

const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const cluster = createCluster({ dialect: 'kubernetes' });
let proxyCa: Issued;
let userCa: Issued;
let proxy: Issued;
let server: ServedCluster;

const requestHeader = (more: Partial<NonNullable<ServeOptions['requestHeader']>> = {}) => ({
  ca: proxyCa.pem,
  allowedNames: ['front-proxy'],
  usernameHeaders: ['X-Remote-User', 'X-Alternative-User'],
  uidHeaders: ['X-Remote-Uid'],
  groupHeaders: ['X-Remote-Group'],
  extraHeadersPrefix: ['X-Remote-Extra-'],
  ...more,
});

beforeAll(async () => {
  proxyCa = await issue({ name: 'proxy-ca', ca: true });
  userCa = await issue({ name: 'user-ca', ca: true });
  proxy = await issue({ name: 'front-proxy', issuer: proxyCa, isForClients: true });
  server = await serve(cluster, {
    http2: true,
    tls: true,
    clientCa: userCa.pem,
    requestHeader: requestHeader(),
    token: 'admin-token',
  });
});

afterAll(() => server.close());

type SentHeaders = Record<string, string | string[]>;

async function whoAmI(certificate: Issued | undefined, headers: SentHeaders, to = server) {
  const agent = new Agent(certificate === undefined ? {} : { cert: certificate.pem, key: certificate.key });
  const outgoing = request(`${to.url}${REVIEW}`, {
    method: 'POST',
    ca: to.caCertificate,
    agent,
    headers: { 'content-type': 'application/json', ...headers },
  });
  outgoing.end('{}');
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const body = JSON.parse(await text(answer));
  agent.destroy();
  return { code: answer.statusCode, user: body.status?.userInfo };
}

describe('a proxy with an accepted certificate', () => {
  test('names the user, the groups, the UID and extra values', async () => {
    const headers = {
      'X-Remote-User': ['bob', 'ignored'],
      'X-Remote-Group': ['g1', '', 'g, 2'],
      'X-Remote-Uid': 'u1',
      'X-Remote-Extra-Scope%2fA': ['s1', 's2'],
    };
    expect(await whoAmI(proxy, headers)).toEqual({
      code: 201,
      user: {
        username: 'bob',
        uid: 'u1',
        groups: ['g1', 'g, 2', 'system:authenticated'],
        extra: { 'scope/a': ['s1', 's2'] },
      },
    });
  });

  test('takes the first header with a value', async () => {
    const headers = { 'X-Remote-User': '', 'x-alternative-user': 'carl' };
    expect((await whoAmI(proxy, headers)).user).toEqual({ username: 'carl', groups: ['system:authenticated'] });
  });

  test('takes precedence over a token', async () => {
    const headers = { 'X-Remote-User': 'bob', authorization: 'Bearer wrong' };
    expect((await whoAmI(proxy, headers)).user).toMatchObject({ username: 'bob' });
  });

  test('names another user in each request of an HTTP/2 connection', async () => {
    const session = connect(server.url, { ca: server.caCertificate, cert: proxy.pem, key: proxy.key });
    const name = async (user: string) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': REVIEW,
        'content-type': 'application/json',
        'x-remote-user': user,
        'x-remote-group': ['a', 'b'],
      });
      stream.end('{}');
      return JSON.parse(await text(stream)).status.userInfo;
    };
    expect(await name('one')).toEqual({ username: 'one', groups: ['a', 'b', 'system:authenticated'] });
    expect(await name('two')).toMatchObject({ username: 'two' });
    session.close();
  });

  test('may have a certificate of an intermediate authority, which it sends', async () => {
    const intermediate = await issue({ name: 'intermediate', issuer: proxyCa, ca: true });
    const leaf = await issue({ name: 'front-proxy', issuer: intermediate, isForClients: true });
    const chain = { ...leaf, pem: `${leaf.pem}\n${intermediate.pem}` };
    expect((await whoAmI(chain, { 'X-Remote-User': 'bob' })).user).toMatchObject({ username: 'bob' });
    expect((await whoAmI(leaf, { 'X-Remote-User': 'bob' })).code).toBe(401);
  });

  test('needs another credential if it names no user', async () => {
    expect(await whoAmI(proxy, {})).toEqual({ code: 401, user: undefined });
    expect((await whoAmI(proxy, { authorization: 'Bearer admin-token' })).user).toMatchObject({ username: 'admin' });
  });

  test('is anonymous without a user name on a server without a client CA', async () => {
    await using other = await serve(cluster, { tls: true, requestHeader: requestHeader({ allowedNames: [] }) });
    expect((await whoAmI(proxy, {}, other)).code).toBe(403);
    expect((await whoAmI(proxy, { 'X-Remote-User': 'bob' }, other)).user).toMatchObject({ username: 'bob' });
    // A certificate of the proxies' CA does not name a user itself.
    const named = await issue({ name: 'root', issuer: proxyCa, isForClients: true });
    expect((await whoAmI(named, {}, other)).code).toBe(403);
  });

  test('is rejected if its name is not allowed, also on a server without a client CA', async () => {
    await using other = await serve(cluster, { tls: true, requestHeader: requestHeader() });
    const named = await issue({ name: 'root', issuer: proxyCa, isForClients: true });
    expect((await whoAmI(named, {}, other)).code).toBe(401);
    expect((await whoAmI(undefined, {}, other)).code).toBe(403);
  });
});

test('the headers of a user are not passed on, with or without the certificate of a proxy', async () => {
  const seen: string[][] = [];
  await using other = await serve(cluster, {
    tls: true,
    requestHeader: requestHeader(),
    authenticate: ({ headers, url }) => {
      // Not the health checks of an HTTP thread.
      if (!url.includes('/apis/')) return undefined;
      seen.push([...headers].map(([name]) => name).filter((name) => name.startsWith('x-')));
      return { user: 'alice' };
    },
  });
  const headers = { 'X-Alternative-User': 'root', 'X-Remote-Group': 'g', 'X-Remote-Extra-A': 'b', 'X-Other': 'c' };
  expect((await whoAmI(undefined, headers, other)).user).toMatchObject({ username: 'alice' });
  expect(seen).toEqual([['x-other']]);
});

describe('headers are ignored', () => {
  const headers = { 'X-Remote-User': 'bob', 'X-Remote-Group': 'system:masters' };

  test('without a certificate', async () => {
    expect((await whoAmI(undefined, headers)).code).toBe(403);
    const withToken = { ...headers, authorization: 'Bearer admin-token' };
    expect((await whoAmI(undefined, withToken)).user).toMatchObject({ username: 'admin' });
  });

  test('of a certificate whose name is not allowed', async () => {
    const other = await issue({ name: 'other', issuer: proxyCa, isForClients: true });
    expect((await whoAmI(other, headers)).code).toBe(401);
  });

  test('of a certificate of the client CA, even if its name is allowed', async () => {
    const user = await issue({ name: 'front-proxy', issuer: userCa, isForClients: true });
    expect((await whoAmI(user, headers)).user).toMatchObject({
      username: 'front-proxy',
      groups: ['system:authenticated'],
    });
  });

  test('of a certificate of the client CA that is sent together with certificates of the proxies', async () => {
    const user = await issue({ name: 'front-proxy', issuer: userCa, isForClients: true });
    for (const { pem } of [proxyCa, proxy]) {
      const chain = { ...user, pem: `${user.pem}\n${pem}` };
      expect((await whoAmI(chain, headers)).user).toMatchObject({
        username: 'front-proxy',
        groups: ['system:authenticated'],
      });
    }
    const chain = { ...proxy, pem: `${proxy.pem}\n${userCa.pem}` };
    expect((await whoAmI(chain, {})).code).toBe(401);
  });

  test('of a certificate of another authority, or for servers', async () => {
    const stranger = await issue({ name: 'front-proxy', isForClients: true });
    expect((await whoAmI(stranger, headers)).code).toBe(401);
    const impostor = await issue({ name: 'front-proxy', issuer: await issue({ name: 'proxy-ca', ca: true }) });
    expect((await whoAmI(impostor, headers)).code).toBe(401);
    const forServers = await issue({ name: 'front-proxy', issuer: proxyCa });
    expect((await whoAmI(forServers, headers)).code).toBe(401);
  });

  test('of a certificate that has expired', async () => {
    const expired = await issue({
      name: 'front-proxy',
      issuer: proxyCa,
      isForClients: true,
      notAfter: new Date(Date.now() - 1000),
    });
    expect((await whoAmI(expired, headers)).code).toBe(401);
  });
});

test.each([
  [{ tls: false }, 'requestHeader requires tls'],
  [{ requestHeader: { ca: 'x' } }, 'requestHeader.ca is a text in PEM'],
  [{ requestHeader: {} }, 'requestHeader needs ca'],
  [{ requestHeader: { usernameHeaders: [' '] } }, 'usernameHeaders of requestHeader must be a list of names'],
  [{ requestHeader: { names: [] } }, 'names'],
])('rejects the options %j', async (more, message) => {
  const own = 'requestHeader' in more ? more.requestHeader : {};
  const ca = 'requestHeader' in more && Object.keys(own).length === 0 ? {} : { ca: proxyCa.pem };
  const options = { tls: true, ...more, requestHeader: { ...ca, ...own } } as unknown as ServeOptions;
  await expect(serve(cluster, options)).rejects.toThrow(message);
});
