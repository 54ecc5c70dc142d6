/** parsePath: which route a path addresses. */
import { describe, expect, test } from 'vitest';
import { parsePath } from '../../../src/http/path.js';

const configMaps = {
  type: 'resource',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  watch: false,
};

describe('resource paths', () => {
  test.each([
    ['/api/v1/configmaps', {}],
    ['/api/v1/namespaces/ns/configmaps', { namespace: 'ns' }],
    ['/api/v1/namespaces/ns/configmaps/', { namespace: 'ns' }],
    ['/api/v1/namespaces/ns/configmaps/a', { namespace: 'ns', name: 'a' }],
    ['/api/v1/namespaces/ns/configmaps/a//', { namespace: 'ns', name: 'a' }],
    ['/api/v1/namespaces/ns/configmaps/a/scale', { namespace: 'ns', name: 'a', subresource: 'scale' }],
    ['/api/v1/namespaces/ns/configmaps/a/b/c', { namespace: 'ns', name: 'a', subresource: 'b', subpath: '/c' }],
    ['/api/v1/namespaces//configmaps', { namespace: '' }],
    ['/api/v1/watch/configmaps', { watch: true }],
    ['/api/v1/watch/namespaces/ns/configmaps/a', { watch: true, namespace: 'ns', name: 'a' }],
    ['/apis/example.com/v2/configmaps', { group: 'example.com', version: 'v2' }],
    ['/api/v1/namespaces', { resource: 'namespaces' }],
    ['/api/v1/namespaces/ns', { resource: 'namespaces', name: 'ns' }],
    ['/api/v1/namespaces/ns/status', { resource: 'namespaces', name: 'ns', subresource: 'status' }],
    ['/api/v1/namespaces/ns/finalize', { resource: 'namespaces', name: 'ns', subresource: 'finalize' }],
    ['/api/v1/namespaces/ns/status/x', { resource: 'namespaces', name: 'ns', subresource: 'status', subpath: '/x' }],
    ['/api/v1//configmaps', { resource: '', name: 'configmaps' }],
    ['/api/v1/watch', { resource: 'watch' }],
  ])('parses the resource path %s', (path, differs) => {
    expect(parsePath(path)).toEqual({ ...configMaps, ...differs });
  });
});

describe('percent escapes', () => {
  test.each([
    ['%6Fne', { name: 'one' }],
    ['a%20b', { name: 'a b' }],
    ['system%3Areader', { name: 'system:reader' }],
    ['a+b', { name: 'a+b' }],
    ['%C3%A9', { name: 'é' }],
    // An escaped slash separates segments too.
    ['one%2Ftwo', { name: 'one', subresource: 'two' }],
    // Invalid UTF-8.
    ['a%FFb', { name: 'a\ufffdb' }],
  ])('decodes the escaped segment %s', (name, differs) => {
    expect(parsePath(`/api/v1/namespaces/ns/configmaps/${name}`)).toEqual({
      ...configMaps,
      namespace: 'ns',
      ...differs,
    });
  });

  test('rejects a path with a percent sign without an escape as malformed', () => {
    expect(parsePath('/api/v1/configmaps/50%')).toEqual({ type: 'malformed' });
    expect(parsePath('/api/v1/configmaps/%zz')).toEqual({ type: 'malformed' });
  });
});

describe('other paths', () => {
  test.each([
    ['/api', { type: 'discovery', group: '' }],
    ['/api/', { type: 'discovery', group: '' }],
    ['/api/v1', { type: 'discovery', group: '', version: 'v1' }],
    ['/apis', { type: 'discovery' }],
    ['/apis/', { type: 'discovery' }],
    ['/apis/apps', { type: 'discovery', group: 'apps' }],
    ['/apis/apps/v1/', { type: 'discovery', group: 'apps', version: 'v1' }],
    ['/', { type: 'other', path: '/' }],
    ['/healthz', { type: 'other', path: '/healthz' }],
    ['//api', { type: 'other', path: '//api' }],
    ['/apis//v1/things', { type: 'other', path: '/apis//v1/things' }],
    ['/apix/v1/pods', { type: 'other', path: '/apix/v1/pods' }],
  ])('parses the non-resource path %s', (path, route) => {
    expect(parsePath(path)).toEqual(route);
  });
});
