/** Authentication by a token webhook on a local HTTPS port. */
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type TokenWebhookOptions, tokenWebhook } from '../../../../src/auth/tokens/token-webhook.js';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../../src/http/handler.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { fakeClock } from '../../../../src/testing/fake-clock.js';
import { nextTurn } from '../../../../src/util/clock.js';
import { type Issued, issue, listen, type TlsServer } from '../../webhook/tls-servers.js';

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly review: { readonly apiVersion: string; readonly kind: string; readonly spec: object };
}

let certificate: Issued;
let server: TlsServer;
let received: Received[] = [];
/** The status of the next reviews, or a whole response. */
let respond: (token: string) => { readonly status?: object; readonly code?: number; readonly body?: string };

beforeAll(async () => {
  certificate = await issue({ hosts: ['127.0.0.1'] });
  server = await listen(certificate, async (request, response) => {
    const review = JSON.parse(await text(request));
    received.push({ path: request.url, headers: request.headers, review });
    const { status, code = 200, body } = respond(review.spec.token);
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end(body ?? JSON.stringify({ apiVersion: review.apiVersion, kind: 'TokenReview', status }));
  });
});

beforeEach(() => {
  received = [];
  respond = () => ({ status: { authenticated: true, user: { username: 'alice' } } });
});

afterAll(() => server[Symbol.asyncDispose]());

function webhook(more: Partial<TokenWebhookOptions> = {}) {
  const clock = fakeClock();
  const url = `https://127.0.0.1:${server.port}/authenticate`;
  const context = { dialect: kubernetesDialect, clock, audiences: ['api'] };
  const authenticate = tokenWebhook({ url, ca: certificate.pem, ...more }).createAuthenticator(context);
  return { clock, authenticate: async (token: string, audiences = ['api']) => authenticate(token, audiences) };
}

describe('a token webhook', () => {
  test('gets a TokenReview at the exact path', async () => {
    const { authenticate } = webhook({ token: 'own-token' });
    respond = () => ({
      status: { authenticated: true, user: { username: 'alice', uid: '7', groups: ['dev'], extra: { scope: ['a'] } } },
    });
    expect(await authenticate('secret')).toEqual({
      user: { user: 'alice', uid: '7', groups: ['dev'], extra: { scope: ['a'] } },
      audiences: ['api'],
    });
    expect(received).toEqual([
      {
        path: '/authenticate?timeout=30s',
        headers: expect.objectContaining({ 'content-type': 'application/json', authorization: 'Bearer own-token' }),
        review: expect.objectContaining({
          apiVersion: 'authentication.k8s.io/v1beta1',
          kind: 'TokenReview',
          spec: { token: 'secret', audiences: ['api'] },
        }),
      },
    ]);
  });

  test('forgets the results that were not used for longest when many long users are cached', async () => {
    const asked: string[] = [];
    const { authenticate } = webhook({
      fetch: async (_url, init) => {
        const { apiVersion, spec } = JSON.parse(String(init.body));
        asked.push(spec.token);
        const username = `${spec.token}${'x'.repeat(600_000)}`;
        return Response.json({ apiVersion, kind: 'TokenReview', status: { authenticated: true, user: { username } } });
      },
    });
    await authenticate('used');
    await authenticate('unused');
    for (let index = 0; index < 27; index++) {
      await authenticate(String(index));
      await authenticate('used');
    }
    expect(asked).toHaveLength(29);
    await authenticate('unused');
    expect(asked).toHaveLength(30);
  });

  test('caches long tokens without keeping them', async () => {
    let asked = 0;
    const { authenticate } = webhook({
      fetch: async (_url, init) => {
        asked++;
        const { apiVersion } = JSON.parse(String(init.body));
        return Response.json({ apiVersion, kind: 'TokenReview', status: { authenticated: false } });
      },
    });
    // More characters than the cache has room for.
    const tokens = Array.from({ length: 300 }, (_, index) => `${index}${'x'.repeat(60_000)}`);
    for (const token of [...tokens, ...tokens]) await authenticate(token);
    expect(asked).toBe(300);
  });

  test('gets the version that the options name, and must answer in it', async () => {
    const { authenticate } = webhook({ version: 'v1' });
    await authenticate('secret');
    expect(received[0]?.review.apiVersion).toBe('authentication.k8s.io/v1');
    respond = () => ({ body: '{"apiVersion":"authentication.k8s.io/v1beta1","kind":"TokenReview"}' });
    await expect(authenticate('other')).rejects.toThrow(
      'converting (v1beta1.TokenReview) to (v1.TokenReview): unknown conversion',
    );
  });

  test('may leave a token to other authenticators, or explain why it is invalid', async () => {
    const { authenticate } = webhook();
    respond = () => ({ status: { authenticated: false } });
    expect(await authenticate('unknown')).toBeUndefined();
    respond = () => ({ status: { authenticated: false, error: 'the token was revoked' } });
    await expect(authenticate('revoked')).rejects.toThrow(/^the token was revoked$/);
  });

  test('limits the audiences', async () => {
    const { authenticate } = webhook();
    respond = () => ({ status: { authenticated: true, user: { username: 'a' }, audiences: ['vault', 'api'] } });
    expect(await authenticate('one', ['vault', 'x'])).toMatchObject({ audiences: ['vault'] });
    expect(await authenticate('one', ['x'])).toBeUndefined();
    // Without audiences in the response, the token is for the server itself.
    respond = () => ({ status: { authenticated: true, user: { username: 'a' } } });
    expect(await authenticate('two', ['x'])).toBeUndefined();
    expect(await authenticate('two', ['x', 'api'])).toMatchObject({ audiences: ['api'] });
  });

  test('is asked once while its result is cached', async () => {
    const { authenticate, clock } = webhook({ cacheTtlMs: 5_000 });
    await Promise.all([authenticate('a'), authenticate('a')]);
    await authenticate('a');
    expect(received.length).toBe(1);
    await authenticate('b');
    expect(received.length).toBe(2);
    await clock.advance(5_000);
    await authenticate('a');
    expect(received.length).toBe(3);
  });

  test('is asked each time after an error and without a cache', async () => {
    respond = () => ({ status: { authenticated: false, error: 'no' } });
    const { authenticate } = webhook();
    await expect(authenticate('a')).rejects.toThrow('no');
    await expect(authenticate('a')).rejects.toThrow('no');
    respond = () => ({ status: { authenticated: true, user: { username: 'a' } } });
    const uncached = webhook({ cacheTtlMs: 0 });
    await uncached.authenticate('a');
    await uncached.authenticate('a');
    expect(received.length).toBe(4);
  });

  test('is asked again after a transient failure', async () => {
    const answers = [
      { code: 500, body: 'down' },
      { code: 429, body: '' },
    ];
    respond = () => answers.shift() ?? { status: { authenticated: true, user: { username: 'late' } } };
    expect(await webhook().authenticate('a')).toMatchObject({ user: { user: 'late' } });
    expect(received.length).toBe(3);
  });

  test.each([
    [{ code: 403, body: '{"apiVersion":"v1","kind":"Status","message":"no access"}' }, 'no access'],
    [{ code: 404, body: 'x' }, 'the server could not find the requested resource'],
    [{ body: '{' }, 'json parse error'],
    [{ body: '{"kind":"Pod"}' }, 'did not respond with a TokenReview'],
    [{ body: '{"kind":"Pod","apiVersion":"v1"}' }, 'converting (v1.Pod) to (v1beta1.TokenReview): unknown conversion'],
  ])('rejects the token if the response is %j', async (response, message) => {
    respond = () => response;
    await expect(webhook().authenticate('a')).rejects.toThrow(message);
  });

  test('must have a trusted certificate', async () => {
    await expect(webhook({ ca: undefined }).authenticate('a')).rejects.toThrow(
      /^Post "https:.*authenticate": tls: failed to verify certificate|unknown authority/,
    );
    expect(received).toEqual([]);
  });
});

test.each([
  [{ url: 'nothing' }, 'needs a url'],
  [{ version: 'v2' }, 'unsupported authentication webhook version "v2", supported versions are "v1", "v1beta1"'],
  [{ cacheTtlMs: Number.NaN }, 'cacheTtlMs'],
  [{ ttl: 1 }, 'ttl'],
])('rejects the options %j', (more, message) => {
  const options = { url: 'https://example.com', ...more } as TokenWebhookOptions;
  expect(() => tokenWebhook(options)).toThrow(TypeError);
  expect(() => tokenWebhook(options)).toThrow(message);
});

test('a cluster asks the webhook about tokens that it does not know', async () => {
  const cluster = createCluster({
    dialect: 'kubernetes',
    authentication: {
      tokens: { admin: { user: 'admin', groups: ['system:masters'] } },
      authenticators: [tokenWebhook({ url: `https://127.0.0.1:${server.port}`, ca: certificate.pem })],
    },
  });
  respond = (token) =>
    token === 'good'
      ? { status: { authenticated: true, user: { username: 'root', groups: ['system:masters'] } } }
      : { status: { authenticated: false } };
  const handle = createFetchHandler(cluster);
  const get = async (token: string) =>
    (await handle(new Request('http://c/api/v1/pods', { headers: { authorization: `Bearer ${token}` } }))).status;
  expect([await get('admin'), await get('good'), await get('bad')]).toEqual([200, 200, 401]);
  expect(received.length).toBe(2);
});

describe('a token webhook that does not respond', () => {
  /** Reviews that end only with their signals. */
  function hangingWebhook() {
    const reviews: { readonly token: string; readonly signal: AbortSignal }[] = [];
    const context = { dialect: kubernetesDialect, clock: fakeClock(), audiences: ['api'] };
    const fetch: TokenWebhookOptions['fetch'] = (_url, init) => {
      const signal = init.signal ?? expect.fail('a review can be aborted');
      reviews.push({ token: JSON.parse(String(init.body)).spec.token, signal });
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const authenticate = tokenWebhook({ url: 'https://login.example.com', fetch }).createAuthenticator(context);
    const ask = (token: string, caller?: AbortController) => {
      const asked = Promise.resolve(authenticate(token, ['api'], caller));
      // A test awaits those that matter to it.
      asked.catch(() => undefined);
      return asked;
    };
    return { reviews, ask };
  }

  test('is no longer asked when all clients that wait for its answer have disconnected', async () => {
    const { reviews, ask } = hangingWebhook();
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [ask('a', one), ask('a', two)];
    await until(() => reviews.length === 1);
    one.abort(new Error('gone'));
    await expect(asked[0]).rejects.toThrow('gone');
    expect(reviews[0]?.signal.aborted).toBe(false);
    two.abort(new Error('gone, too'));
    expect(reviews[0]?.signal.aborted).toBe(true);
    // A new client does not get the failure of the abandoned review.
    void ask('a', new AbortController());
    await until(() => reviews.length === 2);
    expect(reviews[1]?.signal.aborted).toBe(false);
  });

  test('gets 256 reviews at the same time, and not those whose clients have disconnected before their turn', async () => {
    const { reviews, ask } = hangingWebhook();
    const clients = Array.from({ length: 259 }, () => new AbortController());
    for (const [index, client] of clients.entries()) void ask(`t${index}`, client);
    await until(() => reviews.length === 256);
    clients[256]?.abort();
    clients[257]?.abort();
    clients[3]?.abort();
    await until(() => reviews.length === 257);
    expect(reviews[256]?.token).toBe('t258');
  });

  test('fails after 30 seconds, also for the tokens that wait for their turn', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { reviews, ask } = hangingWebhook();
      const asked = Array.from({ length: 257 }, (_, index) => ask(`t${index}`));
      await until(() => reviews.length === 256);
      vi.advanceTimersByTime(30_000);
      const message = 'Post "https://login.example.com/?timeout=30s": context deadline exceeded';
      for (const each of asked) await expect(each).rejects.toThrow(message);
      expect(reviews).toHaveLength(256);
    } finally {
      vi.useRealTimers();
    }
  });

  test('has 30 seconds for all attempts together', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let attempts = 0;
      const { authenticate } = webhook({
        fetch: async () => {
          attempts++;
          vi.advanceTimersByTime(20_000);
          return new Response('', { status: 504 });
        },
      });
      const failed = expect(authenticate('a')).rejects.toThrow('context deadline exceeded');
      await until(() => attempts === 1);
      await until(() => vi.getTimerCount() === 2);
      vi.advanceTimersByTime(10_000);
      await failed;
      expect(attempts).toBeLessThanOrEqual(2);
    } finally {
      vi.useRealTimers();
    }
  });
});

async function until(isTrue: () => boolean): Promise<void> {
  for (let turns = 0; !isTrue(); turns++) {
    if (turns > 10_000) expect.fail('it does not happen');
    await nextTurn();
  }
}
