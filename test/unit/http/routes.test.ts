/** routeResource: the verb of a method and path, or the error. */
import { describe, expect, test } from 'vitest';
import type { ResourceRoute } from '../../../src/http/path.js';
import { parsePath } from '../../../src/http/path.js';
import type { Call, Routed, ServedResource } from '../../../src/http/routes.js';
import { routeResource } from '../../../src/http/routes.js';
import { served } from './fakes.js';

function route(method: string, path: string, resource: ServedResource, call: Partial<Call> = {}): Routed {
  return routeResource(resource, parsePath(path) as ResourceRoute, { method, watch: false, ...call });
}

/** `list`, `404 …` or `405 …`: enough to distinguish outcomes. */
function outcome(routed: Routed): string {
  if (routed.type === 'action') return routed.verb;
  return routed.type === 'notFound' ? 'nothing' : `${routed.error.code} ${routed.error.message}`;
}

const NOT_FOUND = '404 the server could not find the requested resource';
const NOT_ALLOWED = '405 the server does not allow this method on the requested resource';

describe('a namespaced built-in kind', () => {
  const everywhere = '/api/v1/configmaps';
  const collection = '/api/v1/namespaces/ns/configmaps';
  test.each([
    ['GET', everywhere, 'list'],
    ['POST', everywhere, NOT_ALLOWED],
    ['DELETE', everywhere, NOT_ALLOWED],
    ['GET', collection, 'list'],
    ['POST', collection, 'create'],
    ['DELETE', collection, 'deletecollection'],
    ['PUT', collection, NOT_ALLOWED],
    ['HEAD', collection, NOT_ALLOWED],
    ['BOGUS', collection, NOT_ALLOWED],
    ['constructor', collection, NOT_ALLOWED],
    ['GET', `${collection}/a`, 'get'],
    ['PUT', `${collection}/a`, 'update'],
    ['PATCH', `${collection}/a`, 'patch'],
    ['DELETE', `${collection}/a`, 'delete'],
    ['POST', `${collection}/a`, NOT_ALLOWED],
    ['HEAD', `${collection}/a`, NOT_ALLOWED],
    ['GET', `${collection}/a/scale`, NOT_FOUND],
    ['GET', `${collection}/a/constructor`, NOT_FOUND],
    ['GET', `${collection}/a/b/c`, NOT_FOUND],
    ['GET', `${everywhere}/a`, NOT_FOUND],
    ['GET', '/api/v1/namespaces//configmaps', 'list'],
    ['GET', '/api/v1/namespaces//configmaps/a', '400 Namespace parameter required.'],
    ['GET', '/api/v1/watch/configmaps', 'watch'],
    ['GET', '/api/v1/watch/namespaces/ns/configmaps/a', 'watch'],
    ['POST', '/api/v1/watch/configmaps', NOT_ALLOWED],
    ['GET', '/api/v1/watch/namespaces/ns/configmaps/a/status', NOT_FOUND],
  ])('routes %s %s of a namespaced built-in kind', (method, path, expected) => {
    expect(outcome(route(method, path, served.ConfigMap))).toBe(expected);
  });

  test('routes a watch to a collection but not to a single object', () => {
    expect(outcome(route('GET', collection, served.ConfigMap, { watch: true }))).toBe('watch');
    expect(outcome(route('GET', `${collection}/a`, served.ConfigMap, { watch: true }))).toBe('get');
  });

  test('lists the allowed methods in a 405', () => {
    expect(route('PUT', collection, served.ConfigMap)).toMatchObject({ allow: ['GET', 'POST', 'DELETE'] });
    expect(route('POST', everywhere, served.ConfigMap)).toMatchObject({ allow: ['GET'] });
  });

  test('returns the namespace, name and subresource of an action', () => {
    expect(route('GET', `${collection}/a`, served.ConfigMap)).toEqual({
      type: 'action',
      verb: 'get',
      namespace: 'ns',
      name: 'a',
    });
    expect(route('GET', '/api/v1/namespaces//configmaps', served.ConfigMap)).toEqual({ type: 'action', verb: 'list' });
  });
});

describe('a cluster-scoped built-in kind', () => {
  test.each([
    ['POST', '/api/v1/namespaces', 'create'],
    ['GET', '/api/v1/namespaces/ns', 'get'],
    ['PUT', '/api/v1/namespaces/ns/status', 'update'],
    ['PATCH', '/api/v1/namespaces/ns/status', 'patch'],
    ['POST', '/api/v1/namespaces/ns/status', NOT_ALLOWED],
    ['PUT', '/api/v1/namespaces/ns/finalize', 'update'],
    ['GET', '/api/v1/namespaces/ns/finalize', NOT_ALLOWED],
    ['GET', '/api/v1/namespaces/ns/status/x', NOT_FOUND],
    ['GET', '/api/v1/namespaces/ns/namespaces', NOT_FOUND],
  ])('routes %s %s of a cluster-scoped built-in kind', (method, path, expected) => {
    expect(outcome(route(method, path, served.Namespace))).toBe(expected);
  });
});

describe('a kind with few verbs', () => {
  const review: ServedResource = { ...served.Namespace, verbs: ['create'] };
  const component: ServedResource = { ...served.Namespace, verbs: ['get', 'list'] };

  test('routes only the paths that the verbs of a kind need', () => {
    expect(outcome(route('POST', '/api/v1/namespaces', review))).toBe('create');
    expect(route('GET', '/api/v1/namespaces', review)).toMatchObject({ allow: ['POST'] });
    expect(outcome(route('GET', '/api/v1/namespaces/x', review))).toBe(NOT_FOUND);
    expect(outcome(route('GET', '/api/v1/watch/namespaces', component))).toBe(NOT_FOUND);
  });

  test('rejects a watch of a kind that cannot be watched', () => {
    expect(outcome(route('GET', '/api/v1/namespaces', component, { watch: true }))).toBe(
      '405 watch is not supported on resources of kind "namespaces"',
    );
  });
});

describe('a custom resource', () => {
  const collection = '/apis/example.com/v1/namespaces/ns/widgets';
  test.each([
    ['GET', '/apis/example.com/v1/widgets', 'list'],
    ['POST', '/apis/example.com/v1/widgets', 'nothing'],
    ['DELETE', '/apis/example.com/v1/widgets', 'nothing'],
    ['GET', '/apis/example.com/v1/widgets/a', 'nothing'],
    ['POST', collection, 'create'],
    ['POST', `${collection}/a`, 'create'],
    ['HEAD', collection, 'list'],
    ['HEAD', `${collection}/a`, 'get'],
    ['PUT', collection, 'update'],
    ['PATCH', collection, 'patch'],
    ['BOGUS', collection, '405  is not supported on resources of kind "widgets.example.com"'],
    ['PUT', `${collection}/a/status`, 'update'],
    ['POST', `${collection}/a/status`, '405 create is not supported on resources of kind "widgets.example.com"'],
    ['GET', `${collection}/a/bogus`, '404 widgets.example.com "a" not found'],
    ['GET', '/apis/example.com/v1/watch/namespaces/ns/widgets', 'watch'],
  ])('routes %s %s of a custom resource', (method, path, expected) => {
    expect(outcome(route(method, path, served.Widget))).toBe(expected);
  });

  test('does not find a cluster-scoped custom resource in a namespace', () => {
    expect(outcome(route('GET', '/apis/example.com/v1/planets', served.Planet))).toBe('list');
    expect(outcome(route('GET', '/apis/example.com/v1/namespaces/ns/planets', served.Planet))).toBe('nothing');
  });

  test('takes the name of a created custom resource from the body', () => {
    expect(route('POST', `${collection}/a`, served.Widget)).toEqual({
      type: 'action',
      verb: 'create',
      namespace: 'ns',
    });
  });
});
