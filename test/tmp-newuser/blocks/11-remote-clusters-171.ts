import assert from 'node:assert/strict';
import { createClient, createCluster, StatusError } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

const fetch = createFetchHandler(createCluster(), { tokens: { right: { user: 'alice' } } });
const client = createClient({ transport: httpTransport({ baseUrl: 'http://cluster', fetch, token: 'wrong' }) });

const stop = new AbortController();
const informer = client.api(ConfigMap).informer({
  signal: stop.signal, // AbortSignal.timeout(10_000) would put an end to every kind of failure
  onError: (error) => {
    const isHopeless = StatusError.is(error, 'Unauthorized') || StatusError.is(error, 'Forbidden');
    if (isHopeless) stop.abort(error);
    else console.warn('still trying:', error);
  },
});
const failed = await informer.synced.catch((error: unknown) => error);
assert(StatusError.is(failed, 'Unauthorized'));
export {};
