/** Health checks while the cluster does not respond. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { HealthAnswers } from '../../../src/node/health-answers.js';
import { IncomingHeaders } from '../../../src/node/incoming-request.js';
import type { Answer, Peer } from '../../../src/protocol/http.js';

afterEach(() => vi.restoreAllMocks());

const answerOf = (code: number, body: string): Answer => ({ code, headers: [['Audit-Id', 'a']], body });
const never = (): Promise<Answer> => new Promise(() => undefined);

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly peer?: Peer;
}

const requestOf = ({ path = '/healthz', method = 'GET', headers = {}, peer }: Sent = {}) => ({
  method,
  url: `https://127.0.0.1:6443${path}`,
  peer,
  headers: new IncomingHeaders({ headers, rawHeaders: Object.entries(headers).flat() }),
});

/** The answer in the place of the cluster's, or undefined if the client has to wait. */
async function fallback(health: HealthAnswers, sent?: Sent): Promise<Answer | undefined> {
  const waited = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), 120));
  return Promise.race([health.answer(requestOf(sent), never), waited]);
}

async function primed(code = 200): Promise<HealthAnswers> {
  const health = new HealthAnswers();
  await health.prime(async () => answerOf(code, 'ok'));
  return health;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}`, 'user-agent': 'kube-probe/1.33' });

describe('health checks that the cluster does not answer in time', () => {
  test('get what a client without credentials may see, without the audit ID', async () => {
    const health = await primed();
    for (const path of ['/healthz', '/livez', '/readyz']) {
      expect(await fallback(health, { path })).toEqual({ code: 200, headers: [], body: 'ok' });
      expect(await fallback(health, { path, headers: bearer('unknown') })).toMatchObject({ code: 200, body: 'ok' });
    }
  });

  test('wait for a cluster that waits for its storage', async () => {
    const health = await primed();
    const late = new Promise<Answer>((resolve) => setTimeout(() => resolve(answerOf(500, 'no etcd')), 150));
    const waiting = health.answer(requestOf(), (onWaiting) => {
      onWaiting();
      return late;
    });
    expect(await waiting).toMatchObject({ code: 500, body: 'no etcd' });
  });

  test('keep the known answer when a limit has refused one', async () => {
    const health = await primed();
    expect(await health.answer(requestOf(), async () => answerOf(429, 'later'))).toMatchObject({ code: 429 });
    expect(await fallback(health)).toMatchObject({ code: 200, body: 'ok' });
  });

  test('get the most recent answer to the same path and credentials', async () => {
    const health = await primed();
    const sent = { path: '/livez?verbose', headers: bearer('a') };
    await health.answer(requestOf(sent), async () => answerOf(200, 'old'));
    await health.answer(requestOf(sent), async () => answerOf(500, 'all checks'));
    expect(await fallback(health, sent)).toMatchObject({ code: 500, body: 'all checks' });
    expect(await fallback(health, { ...sent, headers: { ...sent.headers, 'user-agent': 'curl' } })).toMatchObject({
      body: 'all checks',
    });
  });

  test.each<[string, Sent]>([
    ['another token', { path: '/livez?verbose', headers: bearer('b') }],
    ['no token', { path: '/livez?verbose' }],
    [
      'a client certificate',
      { path: '/livez?verbose', headers: bearer('a'), peer: { type: 'known', user: { user: 'x' } } },
    ],
    ['impersonation', { path: '/livez?verbose', headers: { ...bearer('a'), 'impersonate-user': 'x' } }],
    ['a cookie', { path: '/livez?verbose', headers: { cookie: 'session=a' } }],
    ['another path', { path: '/livez/ping', headers: bearer('a') }],
    ['another page', { path: '/livezx', headers: bearer('a') }],
    ['another method', { path: '/livez?verbose', method: 'POST', headers: bearer('a') }],
  ])('wait for the cluster with %s', async (_name, sent) => {
    const health = await primed();
    await health.answer(requestOf({ path: '/livez?verbose', headers: bearer('a') }), async () => answerOf(200, 'all'));
    expect(await fallback(health, sent)).toBeUndefined();
  });

  test('wait for the cluster if it has refused the client, or clients without credentials', async () => {
    const closed = await primed(403);
    expect(await fallback(closed)).toBeUndefined();
    await closed.answer(requestOf({ headers: bearer('a') }), async () => answerOf(200, 'ok'));
    expect(await fallback(closed, { headers: bearer('a') })).toMatchObject({ code: 200 });
    await closed.answer(requestOf({ headers: bearer('a') }), async () => answerOf(401, 'no'));
    expect(await fallback(closed, { headers: bearer('a') })).toBeUndefined();
  });

  test('fail when the cluster has not sent any message for 30 seconds', async () => {
    const health = await primed();
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(100);
    expect(await fallback(health)).toMatchObject({ code: 200 });
    uptime.mockReturnValue(129);
    expect(await fallback(health)).toMatchObject({ code: 200 });
    uptime.mockReturnValue(131);
    const body = 'internal server error: the cluster has not responded for 31 seconds\n';
    expect(await fallback(health)).toMatchObject({ code: 500, body });
    health.heard();
    expect(await fallback(health, { path: '/livez' })).toMatchObject({ code: 200, body: 'ok' });
  });

  test('fail when the same check has not been answered for 30 seconds, although the cluster sends messages', async () => {
    const health = await primed();
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(100);
    expect(await fallback(health)).toMatchObject({ code: 200 });
    uptime.mockReturnValue(131);
    health.heard();
    expect(await fallback(health)).toMatchObject({ code: 500 });
    expect(await fallback(health, { path: '/livez' })).toMatchObject({ code: 200 });
  });

  test('do not fail because of an earlier check that was answered with an error', async () => {
    const health = await primed();
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(100);
    await expect(health.answer(requestOf(), () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
    health.heard();
    uptime.mockReturnValue(131);
    expect(await fallback(health)).toMatchObject({ code: 200 });
  });

  test('get the answer to GET for HEAD', async () => {
    expect(await fallback(await primed(), { method: 'HEAD' })).toMatchObject({ code: 200 });
  });

  test('wait after a write that changes access, until the cluster was asked again', async () => {
    const health = new HealthAnswers();
    let code = 200;
    await health.prime(async () => answerOf(code, 'ok'));
    code = 403;
    health.forget();
    expect(await fallback(health)).toBeUndefined();
    code = 200;
    await vi.waitFor(async () => expect(await fallback(health)).toMatchObject({ code: 200 }), 5_000);
  });

  test('keep what clients without credentials may see, whatever else is asked', async () => {
    const health = await primed();
    for (let n = 0; n < 70; n++) {
      await health.answer(requestOf({ path: `/healthz?x=${n}` }), async () => answerOf(200, 'ok'));
    }
    expect(await fallback(health, { path: '/livez' })).toMatchObject({ code: 200 });
  });

  test('use a limited number of answers', async () => {
    const health = new HealthAnswers();
    for (let n = 0; n < 65; n++) {
      await health.answer(requestOf({ headers: bearer(String(n)) }), async () => answerOf(200, 'ok'));
    }
    expect(await fallback(health, { headers: bearer('0') })).toBeUndefined();
    expect(await fallback(health, { headers: bearer('1') })).toMatchObject({ code: 200 });
  });
});

test('an answer in time is passed on', async () => {
  const health = await primed();
  expect(await health.answer(requestOf(), async () => answerOf(200, 'now'))).toEqual(answerOf(200, 'now'));
  await expect(health.answer(requestOf(), () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
});
