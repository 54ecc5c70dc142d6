/** explain: field ownership of objects, and plans of applies. */
import { defineKind, type FieldChange, mergePatch, StatusError } from 'orchplane';
import { ConfigMap, Deployment } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { type Connect, everyTransport } from './transports.js';

const START = '2030-01-01T00:00:00Z';

async function settings(connect: Connect) {
  const { cluster, client } = await connect();
  const as = (fieldManager: string) => client.with({ fieldManager }).api(ConfigMap);
  return { cluster, client, as };
}

const config = (data: Record<string, string>) => ({ metadata: { name: 'settings' }, data });

everyTransport('explain of an object', (connect) => {
  test('explain lists each field with its owners and the time of its last change', async () => {
    const { as } = await settings(connect);
    await as('ci').apply(config({ colour: 'red', size: 'm' }));
    await as('design').apply(config({ colour: 'red' }));
    const { managers, fields } = await as('other').explain('settings');
    const ci = { manager: 'ci', operation: 'Apply', apiVersion: 'v1', since: START };
    const design = { manager: 'design', operation: 'Apply', apiVersion: 'v1' };
    expect(managers).toEqual([design, ci]);
    expect(fields).toEqual([
      { path: '.data.colour', value: 'red', owners: [design, ci] },
      { path: '.data.size', value: 'm', owners: [ci] },
    ]);
  });

  test('explain includes fields without an owner and owned fields that are empty', async () => {
    const { client, as } = await settings(connect);
    await as('ci').apply({ metadata: { name: 'settings', labels: {} } });
    const explained = await as('ci').explain('settings');
    expect(explained.fields).toEqual([{ path: '.metadata.labels', value: undefined, owners: explained.managers }]);
    expect(explained.ownersOf('.data')).toEqual([]);
    const namespaces = await client.api((await import('orchplane/kinds')).Namespace).explain('default');
    expect(namespaces.ownersOf('.status.phase')).toEqual([]);
    expect(namespaces.fields.map(({ path }) => path)).toContain('.status.phase');
  });

  test('explain prints the owners as a table', async () => {
    const { as } = await settings(connect);
    await as('ci').apply(config({ colour: 'red' }));
    expect(String(await as('ci').explain('settings')).split('\n')).toEqual([
      'FIELD         VALUE  OWNED BY',
      '.data.colour  "red"  ci (Apply, since 2030-01-01T00:00:00Z)',
    ]);
  });

  test('explain identifies list items by key and names the subresources of managers', async () => {
    const { client } = await settings(connect);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const api = client.with({ fieldManager: 'ci' }).api(Deployment);
    await api.apply({ metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } });
    await api.subresource('scale').apply('web', { spec: { replicas: 2 } }, { force: true, fieldManager: 'hpa' });
    const explained = await api.explain('web');
    const image = explained.fields.find(({ path }) => path.endsWith('.containers[name="web"].image'));
    expect(image).toMatchObject({ value: 'web:1', owners: [{ manager: 'ci' }] });
    expect(explained.ownersOf('.spec.replicas')).toMatchObject([{ manager: 'hpa', subresource: 'scale' }]);
  });

  test('explain returns frozen results', async () => {
    const { as } = await settings(connect);
    await as('ci').apply(config({ colour: 'red' }));
    const { fields, managers } = await as('ci').explain('settings');
    expect([fields, managers, fields[0], fields[0]?.owners].every(Object.isFrozen)).toBe(true);
  });

  test('explain finds owners by the path of an item and of values inside an atomic field', async () => {
    const { client } = await settings(connect);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const api = client.with({ fieldManager: 'ci' }).api(Deployment);
    await api.apply({ metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } });
    const explained = await api.explain('web');
    const containers = '.spec.template.spec.containers';
    expect(explained.ownersOf(`${containers}[name="web"]`)).toMatchObject([{ manager: 'ci' }]);
    expect(explained.ownersOf('.spec.selector.matchLabels.app')).toMatchObject([{ manager: 'ci' }]);
    expect(explained.ownersOf('.spec.replicas')).toEqual([]);
    expect(() => explained.ownersOf('spec.replicas')).toThrow(/begins with a dot/);
    expect(() => explained.ownersOf(`${containers}[0].image`)).toThrow(/identified by key/);
  });

  test('explain rejects an object that does not exist', async () => {
    const { as } = await settings(connect);
    await expect(as('ci').explain('nothing')).rejects.toSatisfy((error) => StatusError.is(error, 'NotFound'));
  });
});

everyTransport('explain of an apply', (connect) => {
  const changes = (plan: { fields: readonly { path: string; change: FieldChange }[] }) =>
    Object.fromEntries(plan.fields.map(({ path, change }) => [path, change]));

  test('explain of an apply writes nothing', async () => {
    const { cluster, as } = await settings(connect);
    await as('ci').apply(config({ colour: 'red' }));
    const before = cluster.resourceVersion;
    await as('other').explain(config({ colour: 'blue', size: 'm' }));
    await as('other').explain({ metadata: { name: 'new' }, data: { a: '1' } });
    expect(cluster.resourceVersion).toBe(before);
  });

  test('explain of an apply reports a create', async () => {
    const { as } = await settings(connect);
    const plan = await as('ci').explain(config({ colour: 'red' }));
    expect(plan.outcome).toBe('create');
    expect(plan.manager).toBe('ci');
    expect(plan.fields).toEqual([{ path: '.data.colour', change: 'add', before: undefined, after: 'red', others: [] }]);
    expect(plan.object).toMatchObject(config({ colour: 'red' }));
  });

  test('explain of an apply reports added, changed, shared, kept, released and removed fields', async () => {
    const { as } = await settings(connect);
    await as('a').apply(config({ kept: '1', shared: '1', released: '1', removed: '1', changed: '1' }));
    await as('b').apply(config({ shared: '1', released: '1' }));
    const plan = await as('a').explain(config({ kept: '1', shared: '1', changed: '2', added: '1' }));
    expect(plan.outcome).toBe('change');
    expect(changes(plan)).toEqual({
      '.data.added': 'add',
      '.data.changed': 'change',
      '.data.kept': 'keep',
      '.data.released': 'release',
      '.data.removed': 'remove',
      '.data.shared': 'share',
    });
  });

  test('explain of an apply reports conflicts, or taken fields when forced', async () => {
    const { as } = await settings(connect);
    await as('a').apply(config({ x: '1', y: '1' }));
    const wanted = config({ x: '2', y: '1' });
    const plan = await as('b').explain(wanted);
    expect(plan.outcome).toBe('conflict');
    expect(changes(plan)).toEqual({ '.data.x': 'conflict', '.data.y': 'share' });
    expect(plan.fields[0]).toMatchObject({ before: '1', after: '2', others: [{ manager: 'a', since: START }] });
    const forced = await as('b').explain(wanted, { force: true });
    expect(forced.outcome).toBe('change');
    expect(changes(forced)).toEqual({ '.data.x': 'take', '.data.y': 'share' });
    // The plan matches what happens.
    const { metadata: _foretold, ...foretold } = forced.object;
    expect(await as('b').apply(wanted, { force: true })).toMatchObject(foretold);
  });

  test('explain of an apply reports an apply that changes nothing', async () => {
    const { as } = await settings(connect);
    await as('a').apply(config({ x: '1' }));
    const plan = await as('a').explain(config({ x: '1' }));
    expect(plan.outcome).toBe('nothing');
    expect(String(plan)).toBe('ConfigMap "settings", applied by "a": would stay as it is\n  keep  .data.x  "1"');
  });

  test('explain of an apply prints the changes as a list', async () => {
    const { as } = await settings(connect);
    await as('a').apply(config({ x: '1' }));
    expect(String(await as('b').explain(config({ x: '2', y: '1' }))).split('\n')).toEqual([
      'ConfigMap "settings", applied by "b": would fail with a conflict',
      '  conflict  .data.x  "1" → "2"       owned by a (Apply, since 2030-01-01T00:00:00Z)',
      '  add       .data.y  (absent) → "1"',
    ]);
  });

  test('explain of an apply includes defaults that change as a consequence', async () => {
    const Box = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Box',
      scope: 'Cluster',
      body: { spec: z.object({ size: z.number().default(3), colour: z.string().optional() }) },
    });
    const { cluster, client } = await connect();
    cluster.install(Box);
    const api = client.with({ fieldManager: 'a' }).api(Box);
    await api.apply({ metadata: { name: 'b' }, spec: { size: 5, colour: 'red' } });
    const plan = await api.explain({ metadata: { name: 'b' }, spec: { colour: 'red' } });
    expect(plan.fields).toMatchObject([
      { path: '.spec.colour', change: 'keep' },
      { path: '.spec.size', change: 'follow', before: 5, after: 3 },
    ]);
  });

  test('explain of an apply reports an apply that changes only owners', async () => {
    const { as } = await settings(connect);
    await as('a').apply(config({ x: '1' }));
    const plan = await as('b').explain(config({ x: '1' }));
    expect([plan.outcome, changes(plan)]).toEqual(['owners', { '.data.x': 'share' }]);
    expect(String(plan)).toContain('would only change owners');
  });

  test('explain of an apply attributes an object without managedFields to before-first-apply', async () => {
    const { as } = await settings(connect);
    await as('a').create(config({ x: '1', y: '1' }));
    await as('a').patch('settings', mergePatch({ metadata: { managedFields: [] } }));
    const plan = await as('b').explain(config({ x: '2', y: '1' }));
    expect([plan.outcome, changes(plan)]).toEqual(['conflict', { '.data.x': 'conflict', '.data.y': 'share' }]);
    expect(plan.fields[0]?.others).toMatchObject([{ manager: 'before-first-apply', operation: 'Update' }]);
  });

  test('explain of an apply works for subresources', async () => {
    const { client } = await settings(connect);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const api = client.with({ fieldManager: 'ci' }).api(Deployment);
    const spec = { selector: { matchLabels: { app: 'web' } }, template, replicas: 2 };
    await api.apply({ metadata: { name: 'web' }, spec });
    const status = await api.status.explain('web', { status: { replicas: 1 } }, { fieldManager: 'controller' });
    expect([status.outcome, changes(status)]).toEqual(['change', { '.status.replicas': 'add' }]);
    const scale = await api.subresource('scale').explain('web', { spec: { replicas: 3 } }, { fieldManager: 'hpa' });
    expect(scale.outcome).toBe('conflict');
    expect(scale.fields).toMatchObject([
      {
        path: '.spec.replicas',
        change: 'conflict',
        before: 2,
        after: 3,
        others: [{ manager: 'ci', operation: 'Apply' }],
      },
    ]);
  });

  test('explain of an apply reports fields that the endpoint ignores', async () => {
    const { client } = await settings(connect);
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const api = client.with({ fieldManager: 'ci' }).api(Deployment);
    const web = { metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } };
    await api.apply(web);
    const plan = await api.explain({ ...web, status: { replicas: 9 } });
    expect(plan.outcome).toBe('nothing');
    expect(changes(plan)['.status.replicas']).toBe('ignore');
  });

  test('explain of an apply rejects like the apply itself', async () => {
    const { client, as } = await settings(connect);
    const nameless = client.api(ConfigMap).explain(config({ x: '1' }));
    await expect(nameless).rejects.toSatisfy((error) => StatusError.is(error, 'Invalid'));
    const invalid = as('a').explain(config({ 'no key': '1' }));
    await expect(invalid).rejects.toSatisfy((error) => StatusError.is(error, 'Invalid'));
  });
});
