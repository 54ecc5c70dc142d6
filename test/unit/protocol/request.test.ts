/** Requests that a transport has authorized. */
import { expect, test } from 'vitest';
import { type ApiRequest, isAuthorized } from '../../../src/protocol/request.js';

const authorized = {
  verb: 'get',
  resource: { group: '', version: 'v1', resource: 'pods' },
  subresource: 'log',
  namespace: 'default',
  name: 'a',
  options: {},
  user: { user: 'alice' },
} as const;
const request = { ...authorized, authorized } as unknown as ApiRequest;

test('a request is authorized as long as no member has changed that authorization depends on', () => {
  expect(isAuthorized(request)).toBe(true);
  expect(isAuthorized({ ...request, authorized: undefined } as ApiRequest)).toBe(false);
});

test.each([
  { verb: 'delete' },
  { resource: { group: '', version: 'v1', resource: 'secrets' } },
  { subresource: undefined },
  { namespace: 'kube-system' },
  { name: 'b' },
  { options: { dryRun: ['All'] } },
  { user: { user: 'bob' } },
])('a request is not authorized after a change to %j', (change) => {
  expect(isAuthorized({ ...request, ...change } as ApiRequest)).toBe(false);
});
