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
    ['list', { labels: 7 }, 'the option labels takes a string, an object or a list of requirements, not 7'],
    [
      'list',
      { labels: new Map() },
      'the option labels takes a string, an object or a list of requirements, not an object',
    ],
    ['list', { fields: [] }, 'the option fields takes a string or an object, not an array'],
    [
      'list',
      { pageSize: 2 },
      'there is no option pageSize; there are: labels, fields, signal, resourceVersion, resourceVersionMatch, limit, continue',
    ],
    [
      'items',
      { limit: 2 },
      'there is no option limit; there are: labels, fields, signal, resourceVersion, resourceVersionMatch, pageSize',
    ],
    [
      'create',
      { attempts: 3 },
      'there is no option attempts; there are: dryRun, fieldManager, fieldValidation, signal',
    ],
    ['list', { labelSelector: 'a' }, 'there is no option labelSelector; it is called labels here'],
    ['list', { resourceVersion: 5 }, 'the option resourceVersion takes a string, not 5'],
    ['pages', { pageSize: 0 }, 'the option pageSize takes a positive integer, not 0'],
    ['watch', { timeoutSeconds: '1' }, 'the option timeoutSeconds takes a whole number, not "1"'],
    ['watch', { allowWatchBookmarks: 'yes' }, 'the option allowWatchBookmarks takes a boolean, not "yes"'],
    ['get', { signal: {} }, 'the option signal takes an AbortSignal, not an object'],
    ['apply', { force: 'true' }, 'the option force takes a boolean, not "true"'],
    ['apply', { fieldManager: {} }, 'the option fieldManager takes a string, not an object'],
    ['edit', { attempts: 0 }, 'the option attempts takes a positive integer, not 0'],
    ['delete', { gracePeriodSeconds: '0' }, 'the option gracePeriodSeconds takes a whole number, not "0"'],
    [
      'delete',
      { preconditions: { rv: '1' } },
      'the option preconditions takes an object with the strings uid and resourceVersion, not an object',
    ],
    ['waitFor', { timeoutMs: -1 }, 'the option timeoutMs takes a number of milliseconds, not -1'],
    ['informer', { onError: true }, 'the option onError takes a function, not true'],
    ['with', { namespace: 1 }, 'the option namespace takes a string, not 1'],
    ['create', 'dryRun', 'options must be an object, not "dryRun"'],
    ['create', null, 'options must be an object, not null'],
  ])('rejects the options of %s: %j', async (name, options, message) => {
    expect(await errorOf(calls()[name] as AnyCall, options)).toEqual(new TypeError(`orchplane: ${message}`));
  });

  test.each([['app=web'], [{ app: 'web' }], [[{ key: 'app', operator: 'In', values: ['web'] }]]] as const)(
    'accepts the labels %j',
    async (labels) => {
      const api = testCluster().api(ConfigMap);
      await api.create({ metadata: { name: 'a', labels: { app: 'web' } } });
      await api.create({ metadata: { name: 'b' } });
      const { items } = await api.list({ labels });
      expect(items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    },
  );

  test('accepts undefined values', async () => {
    const api = testCluster().api(ConfigMap);
    const created = await api.create({ metadata: { name: 'a' } }, { dryRun: undefined, signal: undefined } as object);
    expect(created.metadata.name).toBe('a');
  });
});
