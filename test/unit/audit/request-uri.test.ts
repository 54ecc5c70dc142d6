/**
 * The request URI of an in-process request equals the one it would have over HTTP.
 */
import { describe, expect, test } from 'vitest';
import { requestUri } from '../../../src/audit/event.js';
import { requestUrl } from '../../../src/http/transport/encode-request.js';
import type { ApiRequest, Verb } from '../../../src/protocol/request.js';
import fc from '../../property/seeded.js';

const pods = { group: '', version: 'v1', resource: 'pods' };

describe('requestUri', () => {
  test.each<[Partial<ApiRequest>, string]>([
    [{ verb: 'list' }, '/api/v1/pods'],
    [{ verb: 'get', namespace: 'default', name: 'web' }, '/api/v1/namespaces/default/pods/web'],
    [
      { verb: 'create', namespace: 'default', options: { dryRun: ['All'] } },
      '/api/v1/namespaces/default/pods?dryRun=All',
    ],
    [
      { verb: 'create', namespace: 'default', name: 'web', subresource: 'eviction' },
      '/api/v1/namespaces/default/pods/web/eviction',
    ],
    [
      { verb: 'watch', options: { labelSelector: 'a=b', resourceVersion: '5' } },
      '/api/v1/pods?watch=true&labelSelector=a%3Db&resourceVersion=5',
    ],
    [{ verb: 'get', name: 'a/b?c#\ud800' }, '/api/v1/pods/a%2Fb%3Fc%23%EF%BF%BD'],
    [
      { verb: 'get', resource: { group: 'apps', version: 'v1', resource: 'deployments' }, namespace: 'x', name: 'y' },
      '/apis/apps/v1/namespaces/x/deployments/y',
    ],
  ])('converts %j to %s', (request, expected) => {
    expect(requestUri({ verb: 'get', resource: pods, options: {}, ...request })).toBe(expected);
  });

  test('returns the URL that the HTTP transport requests', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9 ä%&=+-]{0,8}$/u).filter((text) => !text.includes('%'));
    const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
    const options = fc.record(
      {
        dryRun: fc.array(fc.constant('All'), { maxLength: 2 }),
        fieldManager: fc.string(),
        force: fc.boolean(),
        labelSelector: fc.string(),
        limit: fc.nat(),
        continue: fc.string(),
        timeoutSeconds: fc.nat(),
        gracePeriodSeconds: fc.nat(),
      },
      { requiredKeys: [] },
    );
    const verbs: readonly Verb[] = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
    const request = fc.record({
      verb: fc.constantFrom(...verbs),
      resource: fc.record({ group: fc.constantFrom('', 'apps'), version: fc.constant('v1'), resource: name }),
      namespace: maybe(name),
      name: maybe(name),
      subresource: maybe(name),
      options,
    });
    fc.assert(
      fc.property(request, (parts) => {
        const whole = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
        expect(requestUri(whole as unknown as ApiRequest)).toBe(requestUrl('', whole as unknown as ApiRequest));
      }),
    );
  });
});
