/** A cluster whose etcd is not available when it starts. */
import { createCluster } from 'orchplane';
import { etcdStorage } from 'orchplane/etcd';
import { createFetchHandler } from 'orchplane/http';
import { expect, test } from 'vitest';

const MAPS = 'http://cluster.local/api/v1/namespaces/default/configmaps';

test('requests get 504 with Retry-After when their time is over', async () => {
  // The port is reserved; no program listens on it.
  const storage = etcdStorage({ endpoints: ['http://127.0.0.1:1'] });
  await using cluster = createCluster({ dialect: 'kubernetes', storage });
  const handle = createFetchHandler(cluster);
  const body = JSON.stringify({ metadata: { name: 'a' } });
  const responses = await Promise.all([
    handle(new Request(`${MAPS}?timeout=1s`)),
    handle(new Request(`${MAPS}/a?timeout=1s&resourceVersion=0`)),
    handle(
      new Request(`${MAPS}?timeout=1s`, { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
    ),
  ]);
  for (const response of responses) {
    expect(response.status).toBe(504);
    expect(response.headers.get('retry-after')).toBe('1');
  }
});
