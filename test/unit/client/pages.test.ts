/** Pagination: the requests of a loop and its end. */
import { expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import { errors, StatusError } from '../../../src/meta/errors.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import { answer, deferred, FakeTransport, listOf, Widget, widget } from './fakes.js';

const pageOne = listOf(5, [widget('a', 1), widget('b', 2)], 'token-1');
const pageTwo = listOf(5, [], 'token-2');
const pageThree = listOf(5, [widget('c', 3)]);

function setup(...script: ConstructorParameters<typeof FakeTransport>) {
  const transport = new FakeTransport(...script);
  return { transport, everywhere: createClient({ transport }).all(Widget) };
}

test('pages follow the continue token to the end, also after an empty page', async () => {
  const { transport, everywhere } = setup(answer(pageOne), Promise.resolve(answer(pageTwo)), answer(pageThree));
  const pages: unknown[] = [];
  for await (const page of everywhere.pages({ pageSize: 2, labels: { app: 'web' } })) pages.push(page);
  expect(pages).toEqual([pageOne, pageTwo, pageThree]);
  expect(pages[0]).toBe(pageOne);
  expect(transport.requests.map(({ options }) => options)).toEqual([
    { limit: 2, labelSelector: 'app=web' },
    { limit: 2, labelSelector: 'app=web', continue: 'token-1' },
    { limit: 2, labelSelector: 'app=web', continue: 'token-2' },
  ]);
});

test('a server that repeats a token is an error, not an endless loop', async () => {
  const { transport, everywhere } = setup(answer(pageOne), answer(pageTwo), answer(pageOne));
  const pages: unknown[] = [];
  const loop = async () => {
    for await (const page of everywhere.pages()) pages.push(page);
  };
  await expect(loop()).rejects.toThrow('the list of widgets does not end: the server repeats a continue token');
  expect([pages.length, transport.requests.length]).toEqual([3, 3]);
});

test('only the first page sends the version; later ones use the token', async () => {
  const { transport, everywhere } = setup(answer(pageOne), answer(pageThree));
  for await (const _ of everywhere.pages({ resourceVersion: '5', resourceVersionMatch: 'Exact' }));
  expect(transport.requests.map(({ options }) => options)).toEqual([
    { limit: 500, resourceVersion: '5', resourceVersionMatch: 'Exact' },
    { limit: 500, continue: 'token-1' },
  ]);
});

test('a page is requested only on demand', async () => {
  const { transport, everywhere } = setup(answer(pageOne));
  const pages = everywhere.pages();
  expect(transport.requests).toHaveLength(0);
  for await (const _ of pages) break;
  expect(transport.requests).toHaveLength(1);
});

test('items are returned one by one across pages', async () => {
  const { everywhere } = setup(answer(pageOne), answer(pageTwo), answer(pageThree));
  const names: string[] = [];
  for await (const item of everywhere.items({ pageSize: 2 })) names.push(item.metadata.name);
  expect(names).toEqual(['a', 'b', 'c']);
});

test('an expired token is thrown to the caller', async () => {
  const { everywhere } = setup(answer(pageOne), errors.expired('the token is too old', 'fresh'));
  const names: string[] = [];
  const loop = async () => {
    for await (const item of everywhere.items()) names.push(item.metadata.name);
  };
  await expect(loop()).rejects.toSatisfy((e) => StatusError.is(e, 'Expired'));
  expect(names).toEqual(['a', 'b']);
});

test('an abort ends the loop silently: before a page, within one, and during a request', async () => {
  const stop = new AbortController();
  const { transport, everywhere } = setup(answer(pageOne));
  const names: string[] = [];
  for await (const item of everywhere.items({ signal: stop.signal })) {
    names.push(item.metadata.name);
    stop.abort();
  }
  expect(names).toEqual(['a']);
  for await (const _ of everywhere.pages({ signal: stop.signal })) throw new Error('not reached');
  expect(transport.requests).toHaveLength(1);

  const again = new AbortController();
  const { promise } = deferred<ApiResponse>();
  transport.willAnswer(promise);
  const loop = (async () => {
    for await (const _ of everywhere.pages({ signal: again.signal })) throw new Error('not reached');
  })();
  again.abort();
  await expect(loop).resolves.toBeUndefined();
});
