/** Options of wrong names and types are TypeErrors, and nothing is written. */
import { createClient, mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

type AnyCall = (options: never) => unknown;

function calls(cluster = testCluster()): Readonly<Record<string, AnyCall>> {
  const api = cluster.api(ConfigMap);
  const input = { metadata: { name: 'a' } };
  return {
    get: (options) => api.get('a', options),
    find: (options) => api.find('a', options),
    list: (options) => api.list(options),
    pages: (options) => api.pages(options)[Symbol.asyncIterator]().next(),
    items: (options) => api.items(options)[Symbol.asyncIterator]().next(),
    watch: (options) => api.watch(options),
    informer: (options) => api.informer(options),
    create: (options) => api.create(input, options),
    update: (options) => api.update(input, options),
    edit: (options) => api.edit('a', () => undefined, options),
    patch: (options) => api.patch('a', mergePatch({}), options),
    apply: (options) => api.apply(input, options),
    explain: (options) => api.explain(input, options),
    delete: (options) => api.delete('a', options),
    deleteCollection: (options) => api.deleteCollection(options),
    waitFor: (options) => api.waitFor('a', () => true, options),
    with: (options) => cluster.with(options),
    createClient: (options) => createClient({ transport: undefined as never, ...(options as object) }),
  };
}

/** The error of a call, whether it throws or rejects. */
async function errorOf(call: AnyCall, options: unknown): Promise<unknown> {
  try {
    return await call(options as never);
  } catch (error) {
    return error;
  }
}

const READS = ['get', 'find', 'list', 'pages', 'items', 'watch', 'informer', 'waitFor'];
const WRITES = ['create', 'update', 'edit', 'patch', 'apply', 'explain', 'delete', 'deleteCollection'];
const CLIENTS = ['with', 'createClient'];

describe('options of client calls', () => {
  test.each([...READS, ...WRITES, ...CLIENTS])('rejects an unknown option of %s', async (name) => {
    const error = await errorOf(calls()[name] as AnyCall, { nonsense: 1 });
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/^TypeError: orchplane: there is no option nonsense; there are: /);
  });

  test.each(
    [...WRITES, ...CLIENTS].flatMap((name) => ['All', ['All'], 1, null].map((value) => [name, value] as const)),
  )('rejects dryRun of %s with the value %j and writes nothing', async (name, value) => {
    const cluster = testCluster();
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const before = cluster.resourceVersion;
    const error = await errorOf(calls(cluster)[name] as AnyCall, { dryRun: value });
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/^TypeError: orchplane: the option dryRun takes a boolean, not /);
    expect(cluster.resourceVersion).toBe(before);
  });

  test.each([
    ['list', { limit: '5' }, 'the option limit takes a whole number, not "5"'],
    ['list', { limit: Number.NaN }, 'the option limit takes a whole number, not NaN'],
    ['list', { labels: 7 }, 'the option labels takes a selector, not 7'],
    ['list', { labels: ['a'] }, 'the option labels takes a selector, not an array'],
    ['list', { labelSelector: 'a' }, 'there is no option labelSelector; it is called labels here'],
    ['list', { resourceVersion: 5 }, 'the option resourceVersion takes a string, not 5'],
    ['pages', { pageSize: 0 }, 'the option pageSize takes a positive number, not 0'],
    ['watch', { timeoutSeconds: '1' }, 'the option timeoutSeconds takes a whole number, not "1"'],
    ['watch', { allowWatchBookmarks: 'yes' }, 'the option allowWatchBookmarks takes a boolean, not "yes"'],
    ['get', { signal: {} }, 'the option signal takes an AbortSignal, not an object'],
    ['apply', { force: 'true' }, 'the option force takes a boolean, not "true"'],
    ['apply', { fieldManager: {} }, 'the option fieldManager takes a string, not an object'],
    ['edit', { attempts: 0 }, 'the option attempts takes a positive number, not 0'],
    ['delete', { gracePeriodSeconds: '0' }, 'the option gracePeriodSeconds takes a whole number, not "0"'],
    [
      'delete',
      { preconditions: { rv: '1' } },
      'the option preconditions takes an object with uid and resourceVersion, not an object',
    ],
    ['waitFor', { timeoutMs: -1 }, 'the option timeoutMs takes a number of milliseconds, not -1'],
    ['informer', { onError: true }, 'the option onError takes a function, not true'],
    ['with', { namespace: 1 }, 'the option namespace takes a string, not 1'],
    ['create', 'dryRun', 'options must be an object, not "dryRun"'],
    ['create', null, 'options must be an object, not null'],
  ])('rejects the options of %s: %j', async (name, options, message) => {
    expect(await errorOf(calls()[name] as AnyCall, options)).toEqual(new TypeError(`orchplane: ${message}`));
  });

  test('accepts undefined values', async () => {
    const api = testCluster().api(ConfigMap);
    const created = await api.create({ metadata: { name: 'a' } }, { dryRun: undefined, signal: undefined } as object);
    expect(created.metadata.name).toBe('a');
  });
});
