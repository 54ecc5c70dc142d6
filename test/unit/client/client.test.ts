/** Addresses and defaults of client requests. */
import { describe, expect, test } from 'vitest';
import type { Client } from '../../../src/client/client.js';
import { createClient } from '../../../src/client/client.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { answer, FakeTransport, listOf, Rack, Widget, widget } from './fakes.js';

const created = answer(widget('w', 1));

function setup(options: Parameters<Client['with']>[0] = {}) {
  const transport = new FakeTransport(created, created);
  return { transport, client: createClient({ transport, ...options }) };
}

describe('addresses', () => {
  test('a namespaced kind uses the namespace "default" by default', async () => {
    const { transport, client } = setup();
    await client.api(Widget).get('w');
    expect(transport.last).toEqual({
      verb: 'get',
      resource: { group: 'things.orch.io', version: 'v1', resource: 'widgets' },
      namespace: 'default',
      name: 'w',
      options: {},
    });
  });

  test('the namespace is that of the call, else that of the client', async () => {
    const { transport, client } = setup({ namespace: 'team-a' });
    await client.api(Widget).get('w');
    await client.api(Widget, 'team-b').get('w');
    expect(transport.requests.map(({ namespace }) => namespace)).toEqual(['team-a', 'team-b']);
  });

  test('a cluster-scoped kind has no namespace', async () => {
    const { transport, client } = setup({ namespace: 'team-a' });
    await client.api(Rack).get('r');
    expect(transport.last.namespace).toBeUndefined();
  });

  test('all() spans namespaces', async () => {
    const { transport, client } = setup();
    await client.all(Widget).list();
    expect(transport.last.namespace).toBeUndefined();
  });

  test('the group is in the dialect of the server', async () => {
    const { transport, client } = setup();
    transport.dialect = kubernetesDialect;
    await client.api(Widget).create({ metadata: { name: 'w' }, spec: { parts: [] } });
    expect(transport.last.resource.group).toBe('things.k8s.io');
    expect(transport.last.body?.read().value).toMatchObject({ apiVersion: 'things.k8s.io/v1', kind: 'Widget' });
  });
});

describe('defaults', () => {
  test('writes carry the field manager, field validation and dry run of the client', async () => {
    const { transport, client } = setup({ fieldManager: 'ci', fieldValidation: 'Strict', dryRun: true });
    await client.api(Widget).create({ metadata: { name: 'w' }, spec: { parts: [] } });
    expect(transport.last.options).toEqual({ fieldManager: 'ci', fieldValidation: 'Strict', dryRun: ['All'] });
  });

  test('a call overrides the defaults of the client', async () => {
    const { transport, client } = setup({ fieldManager: 'ci', dryRun: true });
    const input = { metadata: { name: 'w' }, spec: { parts: [] } };
    await client.api(Widget).create(input, { fieldManager: 'me', dryRun: false });
    expect(transport.last.options).toEqual({ fieldManager: 'me' });
  });

  test('a delete uses only the dry run', async () => {
    const { transport, client } = setup({ fieldManager: 'ci', dryRun: true });
    await client.api(Widget).delete('w');
    expect(transport.last.options).toEqual({ dryRun: ['All'] });
  });

  test('reads use none of the write defaults', async () => {
    const { transport, client } = setup({ fieldManager: 'ci', dryRun: true });
    await client.api(Widget).get('w');
    expect(transport.last.options).toEqual({});
  });

  test('every request carries the user', async () => {
    const alice = { user: 'alice', groups: ['dev'] };
    const { transport, client } = setup({ as: alice });
    await client.api(Widget).get('w');
    expect(transport.last.user).toBe(alice);
  });

  test('with() returns another client and leaves the first unchanged', async () => {
    const { transport, client } = setup({ namespace: 'team-a', fieldManager: 'ci' });
    const other = client.with({ fieldManager: 'hpa', as: { user: 'alice' } });
    const input = { metadata: { name: 'w' }, spec: { parts: [] } };
    await other.api(Widget).create(input);
    await client.api(Widget).create(input);
    expect(transport.requests).toMatchObject([
      { namespace: 'team-a', options: { fieldManager: 'hpa' }, user: { user: 'alice' } },
      { namespace: 'team-a', options: { fieldManager: 'ci' } },
    ]);
    expect(transport.last.user).toBeUndefined();
  });
});

describe('warnings', () => {
  test('each warning is passed to onWarning in order', async () => {
    const warnings: string[] = [];
    const transport = new FakeTransport(answer(widget('w', 1), ['v1 is old', 'no such field']));
    const client = createClient({ transport, onWarning: (warning) => warnings.push(warning) });
    await client.api(Widget).get('w');
    expect(warnings).toEqual(['v1 is old', 'no such field']);
  });

  test('a warning without onWarning is ignored', async () => {
    const transport = new FakeTransport(answer(listOf(1, []), ['v1 is old']));
    await expect(createClient({ transport }).api(Widget).list()).resolves.toBeDefined();
  });

  test('an error of onWarning rejects the call', async () => {
    const transport = new FakeTransport(answer(widget('w', 1), ['v1 is old']));
    const strict = createClient({
      transport,
      onWarning: (warning) => {
        throw new Error(warning);
      },
    });
    await expect(strict.api(Widget).get('w')).rejects.toThrow('v1 is old');
  });
});

describe('misuse that types would catch', () => {
  const { client } = setup();
  // As a caller without types sees it.
  const untyped = client as unknown as { api(...args: unknown[]): unknown; all(kind: unknown): unknown };

  test('a namespace for a cluster-scoped kind throws TypeError', () => {
    expect(() => untyped.api(Rack, 'default')).toThrow(
      new TypeError('orchplane: Rack is cluster-scoped: api takes no namespace, got "default"'),
    );
  });

  test('an empty namespace throws TypeError', () => {
    expect(() => untyped.api(Widget, '')).toThrow(/Widget needs the name of a namespace, got ""; all\(\) spans/);
  });

  test('a kind given by name throws TypeError', () => {
    expect(() => untyped.api('Widget')).toThrow(/a kind is a value, .*got "Widget"/);
    expect(() => untyped.all(undefined)).toThrow(/a kind is a value, .*got undefined/);
  });
});
