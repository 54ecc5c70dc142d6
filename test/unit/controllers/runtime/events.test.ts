/**
 * Event recorders: aggregation of many events and the content of the written objects.
 */
import {
  type Controller,
  type ControllerContext,
  eventRecorder,
  runControllers,
  type SeriesRecorder,
} from 'orchplane/controllers';
import { ConfigMap, CoreEvent, Event, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

async function recording() {
  const cluster = testCluster();
  const failures: string[] = [];
  const contexts: ControllerContext[] = [];
  const recorders: SeriesRecorder[] = [];
  const controllerOf = (name: string): Controller => ({
    name,
    needs: [],
    start(context) {
      contexts.push(context);
      recorders.push(eventRecorder(context, { controller: 'example.com/recorder', instance: `${name}-0` }));
    },
  });
  const running = runControllers(cluster, [controllerOf('one'), controllerOf('two')], {
    onError: (error, about) => failures.push(`${about}: ${(error as Error).message}`),
  });
  await running.ready;
  const map = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  const [one, two] = contexts;
  const [series] = recorders;
  if (one === undefined || two === undefined || series === undefined) throw new Error('not started');
  const list = async () => {
    await cluster.settle();
    return (await cluster.api(CoreEvent).list()).items;
  };
  return { cluster, running, failures, map, one, two, series, list };
}

describe('core event recorder', () => {
  test('records events of a simulated component, apart for each host and part of the object', async () => {
    const { one, map, list, failures } = await recording();
    const details = { component: 'agent', host: 'n1', fieldPath: 'data{x}', fieldManager: 'agent' };
    for (const more of [{}, {}, { host: 'n2' }, { fieldPath: 'data{y}' }]) {
      one.events.record(map, 'Normal', 'Made', 'it was made', { ...details, ...more });
    }
    const events = await list();
    expect(events.map(({ source, involvedObject, count }) => [source.host, involvedObject.fieldPath, count])).toEqual([
      ['n1', 'data{x}', 2],
      ['n2', 'data{x}', 1],
      ['n1', 'data{y}', 1],
    ]);
    expect(events[0]).toMatchObject({
      metadata: { managedFields: [{ manager: 'agent' }] },
      source: { component: 'agent', host: 'n1' },
      reportingComponent: 'agent',
      reportingInstance: 'n1',
    });
    expect(failures).toEqual([]);
  });

  test('counts repetitions of an event with an action in a series, also after its deletion', async () => {
    const { cluster, one, map, list, failures } = await recording();
    const record = () => one.events.record(map, 'Warning', 'Failed', 'no', { component: 'agent', action: 'Trying' });
    record();
    const [first] = await list();
    expect(first).toMatchObject({ action: 'Trying', eventTime: '2030-01-01T00:00:00.000000Z', source: {} });
    expect(first?.series).toBeUndefined();
    await cluster.clock.advance(1_000);
    record();
    const series = (count: number, second: number) => ({
      count,
      lastObservedTime: `2030-01-01T00:00:0${second}.000000Z`,
    });
    expect((await list())[0]?.series).toEqual(series(2, 1));
    await cluster.api(CoreEvent).delete(first?.metadata.name ?? '');
    await cluster.clock.advance(1_000);
    record();
    const [again] = await list();
    expect(again?.series).toEqual(series(3, 2));
    expect(again?.count).toBeUndefined();
    expect(failures).toEqual([]);
  });

  test('writes all fields that the reference server writes', async () => {
    const { one, map, list } = await recording();
    one.events.record(map, 'Normal', 'Made', 'it was made');
    const [event] = await list();
    expect(event).toMatchObject({
      metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
      involvedObject: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        namespace: 'default',
        name: 'a',
        uid: map.metadata.uid,
        resourceVersion: map.metadata.resourceVersion,
      },
      type: 'Normal',
      reason: 'Made',
      message: 'it was made',
      count: 1,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:00Z',
      source: { component: 'one' },
      reportingComponent: 'one',
    });
  });

  test('counts equal events in one object, also after the involved object changes', async () => {
    const { cluster, one, map, list } = await recording();
    one.events.record(map, 'Normal', 'Made', 'it was made');
    await cluster.clock.advance(5_000);
    const changed = await cluster.api(ConfigMap).edit('a', (draft) => {
      draft.data = { b: 'c' };
    });
    one.events.record(changed, 'Normal', 'Made', 'it was made');
    one.events.record(changed, 'Normal', 'Made', 'it was made');
    const items = await list();
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      count: 3,
      firstTimestamp: '2030-01-01T00:00:00Z',
      lastTimestamp: '2030-01-01T00:00:05Z',
    });
  });

  test('gives events of two recorders at the same time different names', async () => {
    const { one, two, map, list, failures } = await recording();
    one.events.record(map, 'Normal', 'Made', 'one');
    two.events.record(map, 'Normal', 'Made', 'two');
    one.events.record(map, 'Normal', 'Used', 'one');
    expect((await list()).map(({ message }) => message).sort()).toEqual(['one', 'one', 'two']);
    expect(failures).toEqual([]);
  });

  test('combines events that differ only in the message from the tenth on', async () => {
    const { one, map, list } = await recording();
    for (let nth = 1; nth <= 14; nth++) one.events.record(map, 'Warning', 'Failed', `attempt ${nth}`);
    const items = await list();
    expect(items).toHaveLength(10);
    const combined = items.filter(({ message }) => message?.startsWith('(combined'));
    expect(combined).toHaveLength(1);
    expect(combined[0]).toMatchObject({
      message: '(combined from similar events): attempt 14',
      count: 5,
      source: { component: 'one' },
      reportingComponent: '',
    });
  });

  test('stops combining events after ten minutes without one', async () => {
    const { cluster, one, map, list } = await recording();
    for (let nth = 1; nth <= 9; nth++) one.events.record(map, 'Warning', 'Failed', `attempt ${nth}`);
    await cluster.clock.advance(600_001);
    one.events.record(map, 'Warning', 'Failed', 'attempt 10');
    expect((await list()).map(({ message }) => message)).toContain('attempt 10');
  });

  test('drops more than 25 events about one object except one every five minutes', async () => {
    const { cluster, one, map, list } = await recording();
    const total = async () => (await list()).reduce((sum, { count }) => sum + (count ?? 0), 0);
    for (let nth = 0; nth < 100; nth++) one.events.record(map, 'Warning', `Reason${nth % 4}`, 'again');
    expect(await total()).toBe(25);
    // Other objects and other types have their own counts.
    const other = await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    one.events.record(other, 'Warning', 'Reason0', 'again');
    one.events.record(map, 'Normal', 'Reason0', 'again');
    expect(await total()).toBe(27);
    await cluster.clock.advance(299_999);
    one.events.record(map, 'Warning', 'Reason0', 'again');
    expect(await total()).toBe(27);
    await cluster.clock.advance(1);
    one.events.record(map, 'Warning', 'Reason0', 'again');
    one.events.record(map, 'Warning', 'Reason0', 'again');
    expect(await total()).toBe(28);
  });

  test('recreates an event that was deleted and continues its count', async () => {
    const { cluster, one, map, list } = await recording();
    one.events.record(map, 'Normal', 'Made', 'it was made');
    await list();
    await cluster.api(CoreEvent).deleteCollection();
    one.events.record(map, 'Normal', 'Made', 'it was made');
    expect((await list()).map(({ count }) => count)).toEqual([2]);
  });

  test('writes events about cluster-scoped objects to the default namespace and replaces invalid names', async () => {
    const { cluster, one, list } = await recording();
    const namespace = await cluster.api(Namespace).get('kube-system');
    one.events.record(namespace, 'Normal', 'Seen', 'hello');
    one.events.record(
      { ...namespace, metadata: { ...namespace.metadata, name: 'system:x' } },
      'Normal',
      'Seen',
      'hello',
    );
    const items = await list();
    expect(items.map(({ involvedObject }) => [involvedObject.name, involvedObject.namespace])).toEqual(
      expect.arrayContaining([
        ['kube-system', undefined],
        ['system:x', undefined],
      ]),
    );
    expect(items).toHaveLength(2);
  });

  test('reports an event that cannot be written without blocking', async () => {
    const { cluster, one, map, failures, list } = await recording();
    using _refuse = cluster.use((request, next) => {
      if (request.resource.resource === 'events' && request.verb === 'create') throw new Error('full');
      return next();
    });
    one.events.record(map, 'Normal', 'Made', 'it was made');
    expect(await list()).toEqual([]);
    expect(failures).toEqual(['one: event Made about ConfigMap a: full']);
  });
});

describe('event recorder with series', () => {
  const greeting = { type: 'Normal', reason: 'Greeted', action: 'Greeting', note: 'hello' } as const;

  async function events(cluster: Awaited<ReturnType<typeof recording>>['cluster']) {
    await cluster.settle();
    return (await cluster.api(Event).list()).items;
  }

  test('writes the first event without a series', async () => {
    const { cluster, series, map } = await recording();
    const related = await cluster.api(Namespace).get('default');
    series.record({ ...greeting, regarding: map, related });
    const [event] = await events(cluster);
    expect(event).toMatchObject({
      metadata: { namespace: 'default', name: expect.stringMatching(/^a\.[0-9a-f]{16}$/) },
      eventTime: '2030-01-01T00:00:00.000000Z',
      reportingController: 'example.com/recorder',
      reportingInstance: 'one-0',
      action: 'Greeting',
      reason: 'Greeted',
      regarding: { kind: 'ConfigMap', name: 'a', uid: map.metadata.uid },
      related: { kind: 'Namespace', name: 'default' },
      note: 'hello',
      type: 'Normal',
    });
    expect(event?.series).toBeUndefined();
  });

  test('starts a series with the second event and updates it with the heartbeat or at its end', async () => {
    const { cluster, series, map } = await recording();
    const record = () => series.record({ ...greeting, regarding: map, note: `hello at ${cluster.clock.now()}` });
    record();
    await cluster.clock.advance(1_000);
    record();
    expect((await events(cluster)).map((event) => event.series)).toEqual([
      { count: 2, lastObservedTime: '2030-01-01T00:00:01.000000Z' },
    ]);
    // With one event a minute the series does not end.
    for (let minute = 1; minute <= 29; minute++) {
      await cluster.clock.advance(60_000);
      record();
    }
    expect((await events(cluster))[0]?.series?.count).toBe(2);
    await cluster.clock.advance(60_000);
    expect((await events(cluster))[0]?.series).toEqual({ count: 31, lastObservedTime: '2030-01-01T00:29:01.000000Z' });
    record();
    record();
    await cluster.clock.advance(359_999);
    expect((await events(cluster))[0]?.series?.count).toBe(31);
    await cluster.clock.advance(1);
    expect((await events(cluster))[0]?.series).toEqual({ count: 33, lastObservedTime: '2030-01-01T00:30:01.000000Z' });
    // The series has ended: the next event is a new object.
    record();
    expect(await events(cluster)).toHaveLength(2);
    expect(await events(cluster)).toHaveLength(2);
  });

  test('drops a single event from its cache after six minutes and leaves no timer', async () => {
    const { cluster, series, map } = await recording();
    const before = cluster.clock.pending;
    series.record({ ...greeting, regarding: map });
    await cluster.settle();
    expect(cluster.clock.pending).toBe(before + 1);
    await cluster.clock.advance(360_000);
    expect(cluster.clock.pending).toBe(before);
    series.record({ ...greeting, regarding: map });
    expect(await events(cluster)).toHaveLength(2);
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('writes a separate event for another action, reason or object', async () => {
    const { cluster, series, map } = await recording();
    series.record({ ...greeting, regarding: map });
    series.record({ ...greeting, regarding: map, action: 'Waving' });
    series.record({ ...greeting, regarding: map, reason: 'Seen' });
    series.record({ ...greeting, regarding: await cluster.api(Namespace).get('default') });
    expect(await events(cluster)).toHaveLength(4);
  });

  test('recreates the event of a series that was deleted', async () => {
    const { cluster, series, map } = await recording();
    series.record({ ...greeting, regarding: map });
    await cluster.settle();
    await cluster.api(Event).deleteCollection();
    series.record({ ...greeting, regarding: map });
    expect((await events(cluster)).map((event) => event.series?.count)).toEqual([2]);
  });

  test('reports a rejected event once and retries after a connection failure', async () => {
    const { cluster, series, map, failures } = await recording();
    series.record({ ...greeting, regarding: map, note: 'x'.repeat(2_000) });
    expect(await events(cluster)).toEqual([]);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(/^one: event Greeted about a: /);
    let failing = 1;
    using _down = cluster.use((request, next) => {
      if (request.resource.resource === 'events' && request.verb === 'create' && failing-- > 0) throw new Error('down');
      return next();
    });
    series.record({ ...greeting, regarding: map });
    expect(await events(cluster)).toEqual([]);
    await cluster.clock.advance(10_000);
    expect(await events(cluster)).toHaveLength(1);
  });
});
