/**
 * Stages of any kind: selectors, delays and effects.
 */
import { defineKind, status } from 'orchplane';
import {
  controllers,
  runControllers,
  type Stage,
  type StageRule,
  type StageSelector,
  stage,
  stages,
} from 'orchplane/controllers';
import { ConfigMap, CoreEvent, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const Machine = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Machine',
  scope: 'Namespaced',
  body: {
    spec: z.object({ size: z.number() }),
    status: z
      .object({
        phase: z.string().optional(),
        conditions: z.array(z.object({ type: z.string(), status: z.string() })).optional(),
      })
      .optional(),
  },
  subresources: { status },
});

function workshop(rules: readonly Stage[]) {
  const failures: string[] = [];
  const cluster = testCluster();
  cluster.install(Machine);
  const running = runControllers(cluster, [stages(rules)], {
    onError: (error, about) => failures.push(`${about}: ${error}`),
  });
  const machines = cluster.api(Machine);
  const phase = async (name = 'm') => (await machines.find(name))?.status?.phase;
  return { cluster, running, machines, phase, failures };
}

const machine = (name = 'm', labels: Record<string, string> = {}) => ({
  metadata: { name, labels },
  spec: { size: 1 },
});
const toPhase = (name: string, from: string | null, rule: Partial<StageRule<typeof Machine>> = {}) =>
  stage({ name, kind: Machine, when: { fields: { 'status.phase': from } }, set: { status: { phase: name } }, ...rule });

test('moves objects through stages after their delays', async () => {
  const { cluster, machines, phase, failures } = workshop([
    toPhase('ordered', null),
    toPhase('built', 'ordered', { after: 60_000 }),
    toPhase('shipped', 'built', { after: (object) => object.spec.size * 1_000 }),
  ]);
  await machines.create(machine());
  await cluster.settle();
  expect(await phase()).toBe('ordered');
  await cluster.clock.advance(59_999);
  expect(await phase()).toBe('ordered');
  await cluster.clock.advance(1);
  expect(await phase()).toBe('built');
  await cluster.clock.advance(1_000);
  expect(await phase()).toBe('shipped');
  expect(failures).toEqual([]);
  await cluster.close();
  expect(cluster.clock.pending).toBe(0);
});

test('draws a random delay within the range', async () => {
  const { cluster, machines } = workshop([toPhase('done', null, { after: { min: 1_000, max: 5_000 } })]);
  for (let nth = 0; nth < 20; nth++) await machines.create(machine(`m${nth}`));
  const done = async () => (await machines.list()).items.filter((each) => each.status?.phase === 'done').length;
  await cluster.clock.advance(999);
  expect(await done()).toBe(0);
  await cluster.clock.advance(2_000);
  expect(await done()).toBeGreaterThan(3);
  expect(await done()).toBeLessThan(17);
  await cluster.clock.advance(2_001);
  expect(await done()).toBe(20);
});

test('cancels a stage when its selector stops matching and keeps its delay otherwise', async () => {
  const { cluster, machines, phase } = workshop([
    toPhase('late', null, { when: { fields: { 'status.phase': null }, labels: '!hold' }, after: 10_000 }),
  ]);
  await machines.create(machine());
  await cluster.clock.advance(6_000);
  await machines.edit('m', (draft) => {
    draft.metadata.labels = { other: 'x' };
  });
  await cluster.clock.advance(3_999);
  expect(await phase()).toBeUndefined();
  await machines.edit('m', (draft) => {
    draft.metadata.labels = { hold: 'x' };
  });
  await cluster.clock.advance(60_000);
  expect(await phase()).toBeUndefined();
  await machines.edit('m', (draft) => {
    draft.metadata.labels = {};
  });
  await cluster.clock.advance(9_999);
  expect(await phase()).toBeUndefined();
  await cluster.clock.advance(1);
  expect(await phase()).toBe('late');
});

test('runs the first of several matching stages', async () => {
  const { cluster, machines, phase } = workshop([toPhase('one', null), toPhase('two', null)]);
  await machines.create(machine());
  await cluster.settle();
  expect(await phase()).toBe('one');
});

test('distributes objects over stages by weight', async () => {
  const { cluster, machines } = workshop([
    toPhase('often', null, { weight: 3 }),
    toPhase('seldom', null, { weight: 1 }),
    toPhase('never', null, { weight: 0 }),
  ]);
  for (let nth = 0; nth < 100; nth++) await machines.create(machine(`m${nth}`));
  await cluster.settle();
  const phases = (await machines.list()).items.map((each) => each.status?.phase);
  const often = phases.filter((each) => each === 'often').length;
  expect(often).toBeGreaterThan(60);
  expect(often).toBeLessThan(90);
  expect(phases.filter((each) => each === 'seldom').length).toBe(100 - often);
});

test('restricts the following stage with next', async () => {
  const { cluster, machines, phase } = workshop([
    toPhase('first', null, { next: 'third' }),
    toPhase('second', 'first'),
    stage({ name: 'third', kind: Machine, when: {}, after: 1_000, set: { status: { phase: 'third' } } }),
  ]);
  await machines.create(machine());
  await cluster.settle();
  expect(await phase()).toBe('first');
  await cluster.clock.advance(1_000);
  expect(await phase()).toBe('third');
  expect(() => stages([toPhase('a', null, { next: 'nowhere' })])).toThrow(/followed by nowhere, which does not exist/);
});

test('writes metadata and status separately, removes null fields and skips writes without changes', async () => {
  const writes: string[] = [];
  const { cluster, machines } = workshop([
    stage({
      name: 'marked',
      kind: Machine,
      set: { metadata: { labels: { seen: 'yes', old: null } }, status: { phase: 'marked' } },
    }),
  ]);
  cluster.use((request, next) => {
    if (request.resource.resource === 'machines' && (request.verb === 'update' || request.verb === 'patch')) {
      writes.push(request.subresource ?? 'object');
    }
    return next();
  });
  await machines.create(machine('m', { old: 'x', kept: 'y' }));
  await cluster.settle();
  const { metadata, status: now } = await machines.get('m');
  expect([metadata.labels, now]).toEqual([{ kept: 'y', seen: 'yes' }, { phase: 'marked' }]);
  expect(writes).toEqual(['object', 'status']);
  await machines.edit('m', (draft) => {
    draft.spec.size = 2;
  });
  writes.length = 0;
  await cluster.settle();
  expect(writes).toEqual([]);
});

test('writes a kind without a status subresource in one request and supports cluster-scoped kinds', async () => {
  await using cluster = testCluster({
    controllers: controllers([
      stages([
        stage({ name: 'filled', kind: ConfigMap, when: { namespace: 'default' }, set: { data: { a: '1' } } }),
        stage({
          name: 'named',
          kind: Namespace,
          when: { fields: { 'metadata.name': 'team' } },
          set: { metadata: { annotations: { by: 'stage' } } },
        }),
      ]),
    ]),
  });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.api(Namespace).create({ metadata: { name: 'team' } });
  await cluster.settle();
  expect((await cluster.api(ConfigMap).get('a')).data).toEqual({ a: '1' });
  expect((await cluster.api(Namespace).get('team')).metadata.annotations).toEqual({ by: 'stage' });
});

test('deletes an object, records an event and runs a function', async () => {
  const ran: string[] = [];
  const { cluster, machines, phase } = workshop([
    stage({
      name: 'scrapped',
      kind: Machine,
      after: 3_000,
      run: async ({ metadata }, { now }) => void ran.push(`${metadata.name} ${now()}`),
      event: { type: 'Warning', reason: 'Scrapped', message: 'too old' },
      delete: true,
    }),
  ]);
  await machines.create(machine());
  await cluster.clock.advance(3_000);
  expect(await phase()).toBeUndefined();
  expect(await machines.find('m')).toBeUndefined();
  expect(ran).toEqual(['m 2030-01-01T00:00:03Z']);
  await cluster.settle();
  expect((await cluster.api(CoreEvent).list()).items.map(({ reason, message }) => [reason, message])).toEqual([
    ['Scrapped', 'too old'],
  ]);
});

test('retries a failed write without repeating the delay', async () => {
  const { cluster, machines, phase, failures } = workshop([toPhase('done', null, { after: 60_000 })]);
  let broken = 1;
  cluster.use((request, next) => {
    if (request.subresource === 'status' && broken-- > 0) throw new Error('down');
    return next();
  });
  await machines.create(machine());
  await cluster.clock.advance(60_000);
  await cluster.clock.advance(100);
  expect(await phase()).toBe('done');
  expect(failures).toEqual(['stages: default/m: Error: down']);
});

describe('stage selectors', () => {
  const full = {
    metadata: { name: 'm', labels: { app: 'x' }, annotations: { note: 'n' }, finalizers: ['example.com/f'] },
    spec: { size: 3 },
  };
  test.each<[StageSelector, boolean]>([
    [{}, true],
    [{ namespace: 'default' }, true],
    [{ namespace: 'other' }, false],
    [{ labels: { app: 'x' } }, true],
    [{ labels: 'app notin (x)' }, false],
    [{ annotations: { note: 'n', other: null } }, true],
    [{ annotations: { note: null } }, false],
    [{ fields: { 'spec.size': 3 } }, true],
    [{ fields: { 'spec.size': '3', 'status.phase': null } }, true],
    [{ fields: { 'spec.size': 4 } }, false],
    [{ fields: { 'spec.size.deep': 3 } }, false],
    [{ conditions: { Ready: null } }, true],
    [{ conditions: { Ready: 'True' } }, false],
    [{ finalizers: ['example.com/f'] }, true],
    [{ finalizers: ['example.com/g'] }, false],
    [{ finalizers: [] }, false],
    [{ deleting: true }, false],
    [{ deleting: 'either' }, true],
  ])('matches the selector %j: %s', async (when, expected) => {
    const { cluster, machines, phase } = workshop([
      stage({ name: 'hit', kind: Machine, when, set: { status: { phase: 'hit' } } }),
    ]);
    await machines.create(full);
    await cluster.settle();
    expect((await phase()) === 'hit').toBe(expected);
  });

  test('ignores terminating objects unless the selector includes them', async () => {
    const { cluster, machines, phase } = workshop([
      toPhase('live', null, { when: { labels: { go: 'yes' } } }),
      stage({ name: 'dying', kind: Machine, when: { deleting: true }, set: { status: { phase: 'dying' } } }),
    ]);
    await machines.create(full);
    await machines.delete('m');
    await machines.edit('m', (draft) => {
      draft.metadata.labels = { go: 'yes' };
    });
    await cluster.settle();
    expect(await phase()).toBe('dying');
  });
});

test('rejects stages of kinds that are not served unless they are optional', async () => {
  await using cluster = testCluster({ kinds: [ConfigMap] });
  expect(() => runControllers(cluster, [stages([toPhase('a', null)])])).toThrow(/the controller stages needs Machine/);
  await using running = runControllers(cluster, [stages()]);
  await running.ready;
});
