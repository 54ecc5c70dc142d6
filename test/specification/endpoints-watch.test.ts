/** docs/specification.md, E7: watch. */
import { get } from 'node:http';
import { createCluster } from 'orchplane';
import { serve } from 'orchplane/node';
import { describe, expect, test } from 'vitest';
import { MAPS, open } from './http.js';

const MINUTE = 60_000;
const STREAMING = { featureGates: { WatchList: true } };
const STATE = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

describe('watch', () => {
  test('E7.1: a watch is a stream of JSON documents with the changes after a version', async () => {
    const { map, patch, watch } = open();
    const { body } = await map('a');
    const { response, next } = await watch(`${MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    expect(response.headers.get('content-type')).toBe('application/json');
    await patch('merge', `${MAPS}/a`, { data: { k: 'v' } });
    const event = await next();
    expect(Object.keys(event ?? {})).toEqual(['type', 'object']);
    expect(event).toMatchObject({ type: 'MODIFIED', object: { kind: 'ConfigMap', data: { k: 'v' } } });
  });

  test('E7.1: over a socket the stream is chunked', async () => {
    const server = await serve(createCluster(), {
      port: 0,
      tokens: { t: { user: 'root', groups: ['system:masters'] } },
    });
    try {
      const encoding = await new Promise((resolve, reject) => {
        const headers = { authorization: 'Bearer t' };
        const sent = get(`${server.url}/api/v1/namespaces?watch=1`, { headers }, (response) => {
          resolve(response.headers['transfer-encoding']);
          sent.destroy();
        });
        sent.on('error', reject);
      });
      expect(encoding).toBe('chunked');
    } finally {
      await server.close();
    }
  });

  test('E7.2: a watch from a version that is gone reports 410, and a new list and watch succeed', async () => {
    const { clock, map, send, watch } = open();
    const { body } = await map('a');
    for (let index = 0; index < 20; index++) await map(`x${index}`);
    await clock.advance(10 * MINUTE);
    await map('y');
    const { next } = await watch(`${MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    expect(await next()).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
    expect(await next()).toBeUndefined();
    const list = await send('GET', MAPS);
    const again = await watch(`${MAPS}?watch=1&resourceVersion=${list.body.metadata.resourceVersion}`);
    await map('z');
    expect(await again.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'z' } } });
  });

  test('E7.3: a client continues from the last version that it has seen', async () => {
    const { map, watch } = open();
    const { next } = await watch(`${MAPS}?watch=1`);
    await map('a');
    const seen = await next();
    await map('b');
    const again = await watch(`${MAPS}?watch=1&resourceVersion=${seen?.object.metadata.resourceVersion}`);
    expect(await again.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  });

  test('E7.4: bookmarks come only when they are requested', async () => {
    const { clock, map, watch } = open();
    const types = async (query: string) => {
      const { next } = await watch(`${MAPS}?watch=1&timeoutSeconds=180${query}`);
      const found: (string | undefined)[] = [];
      const reading = (async () => {
        for (let event = await next(); event !== undefined; event = await next()) found.push(event.type);
      })();
      await map(`m${query.length}`);
      for (let minute = 0; minute < 4; minute++) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        await clock.advance(MINUTE);
      }
      await reading;
      return found;
    };
    expect(await types('')).not.toContain('BOOKMARK');
    expect(await types('&allowWatchBookmarks=true')).toContain('BOOKMARK');
  });

  test('E7.5: streaming lists are off by default', async () => {
    const { send } = open();
    expect(await send('GET', `${MAPS}?${STATE}`)).toMatchObject({ code: 422, body: { reason: 'Invalid' } });
  });

  test('E7.6: with the gate a watch sends the state, a bookmark with its version, and then changes', async () => {
    const { map, watch } = open(STREAMING);
    await map('a');
    const { body } = await map('b');
    const { resourceVersion } = body.metadata;
    for (const version of ['', `&resourceVersion=${resourceVersion}`]) {
      const { next } = await watch(`${MAPS}?${STATE}&allowWatchBookmarks=true${version}`);
      expect((await next())?.type).toBe('ADDED');
      expect((await next())?.type).toBe('ADDED');
      const mark = await next();
      expect(mark?.type).toBe('BOOKMARK');
      expect(Number(mark?.object.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
    }
    const { next } = await watch(`${MAPS}?${STATE}`);
    await next();
    await next();
    await map('c');
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'c' } } });
  });

  test('E7.7: initial events need the version match NotOlderThan', async () => {
    const { send } = open(STREAMING);
    for (const query of ['', '&resourceVersionMatch=Exact&resourceVersion=1']) {
      expect((await send('GET', `${MAPS}?watch=1&sendInitialEvents=true${query}`)).code).toBe(422);
    }
  });
});
