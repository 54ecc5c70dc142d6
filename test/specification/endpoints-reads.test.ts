/** docs/specification.md, E6 and E8: consistent reads and chunked lists. */
import { describe, expect, test } from 'vitest';
import { type Document, MAPS, names, open } from './http.js';

const MINUTE = 60_000;

describe('consistent reads', () => {
  test('E6.1: a read is at any, at the most recent, or at no older version', async () => {
    const { map, send } = open();
    const { body } = await map('a');
    const { resourceVersion } = body.metadata;
    for (const query of ['', '?resourceVersion=0', `?resourceVersion=${resourceVersion}`]) {
      expect((await send('GET', `${MAPS}/a${query}`)).code).toBe(200);
      expect(names((await send('GET', `${MAPS}${query}`)).body)).toEqual(['a']);
    }
    await map('b');
    const list = await send('GET', `${MAPS}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`);
    expect(Number(list.body.metadata.resourceVersion)).toBeGreaterThanOrEqual(Number(resourceVersion));
  });

  test('E6.2: an exact read is at the given version, or 410', async () => {
    const { clock, map, patch, send } = open();
    const { body } = await map('a');
    await map('b');
    const exact = `${MAPS}?resourceVersion=${body.metadata.resourceVersion}&resourceVersionMatch=Exact`;
    const list = await send('GET', exact);
    expect(names(list.body)).toEqual(['a']);
    expect(list.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    for (let index = 0; index < 10; index++) await patch('merge', `${MAPS}/a`, { data: { k: `${index}` } });
    await clock.advance(10 * MINUTE);
    await map('y');
    expect(await send('GET', exact)).toMatchObject({ code: 410, body: { reason: 'Expired' } });
  });

  test('E6.4: a continue token keeps the version of the first page', async () => {
    const { map, send } = open();
    for (const name of ['a', 'c']) await map(name);
    const first = await send('GET', `${MAPS}?limit=1`);
    await map('b');
    const second = await send('GET', `${MAPS}?continue=${first.body.metadata.continue}`);
    expect(names(second.body)).toEqual(['c']);
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  });

  test('E6.5: a watch without a version or from 0 starts with the state, from another version with later events', async () => {
    const { map, watch } = open();
    const { body } = await map('a');
    const first = async (query: string) => {
      const { next } = await watch(`${MAPS}?watch=1${query}`);
      return next();
    };
    for (const query of ['', '&resourceVersion=0']) {
      expect(await first(query)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } });
    }
    const { next } = await watch(`${MAPS}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
    await map('b');
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  });

  test('E6.6: a version that does not exist yet times out with 504', async () => {
    const { clock, map, send } = open();
    await map('a');
    for (const path of [`${MAPS}/a?resourceVersion=99999`, `${MAPS}?resourceVersion=99999`]) {
      const answer = send('GET', path);
      await new Promise((resolve) => setTimeout(resolve));
      await clock.advance(MINUTE);
      const { code, headers, body } = await answer;
      expect([code, body.message]).toEqual([504, expect.stringContaining('Too large resource version')]);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('E6.7: a watch from a version that does not exist yet waits', async () => {
    const { map, watch } = open();
    const { body } = await map('a');
    const later = Number(body.metadata.resourceVersion) + 2;
    const { response, next } = await watch(`${MAPS}?watch=1&resourceVersion=${later}`);
    expect(response.status).toBe(200);
    for (const name of ['b', 'c', 'd']) await map(name);
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'd' } } });
  });
});

describe('chunked lists', () => {
  test('E8.1, E8.2: limit caps the items; the token leads to the rest', async () => {
    const { map, send } = open();
    for (const name of ['a', 'b', 'c', 'd', 'e']) await map(name);
    const pages: Document[] = [];
    let token: string | undefined = '';
    while (token !== undefined) {
      const query: string = token === '' ? 'limit=2' : `limit=2&continue=${token}`;
      const { body } = await send('GET', `${MAPS}?${query}`);
      pages.push(body);
      token = body.metadata.continue;
    }
    expect(pages.map(names)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(pages.map(({ metadata }) => metadata.remainingItemCount)).toEqual([3, 1, undefined]);
  });

  test('E8.3: a token expires after five minutes; a list without a limit still works', async () => {
    const { clock, map, send } = open();
    for (const name of ['a', 'b']) await map(name);
    const { body } = await send('GET', `${MAPS}?limit=1`);
    const next = `${MAPS}?limit=1&continue=${body.metadata.continue}`;
    await clock.advance(4 * MINUTE);
    expect((await send('GET', next)).code).toBe(200);
    await clock.advance(2 * MINUTE);
    expect(await send('GET', next)).toMatchObject({ code: 410, body: { reason: 'Expired' } });
    expect(names((await send('GET', MAPS)).body)).toEqual(['a', 'b']);
  });
});
