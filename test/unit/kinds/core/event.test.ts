/** Events in both API groups. */
import { CoreEvent, type CoreEventInput, Event, type EventInput, Namespace } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const TIME = '2030-01-01T00:00:00.000000Z';
const LONG = 'a'.repeat(129);
const fresh = {
  metadata: { name: 'e' },
  eventTime: TIME,
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Run',
  reason: 'Ran',
  type: 'Normal',
  regarding: { namespace: 'default', kind: 'Pod', name: 'p' },
} satisfies EventInput;

describe('an event in two API groups', () => {
  test('converts an event of the events group to the core group', async () => {
    const cluster = testCluster();
    const series = { count: 2, lastObservedTime: TIME };
    const created = await cluster.api(Event).create({ ...fresh, note: 'hi', series });
    expect(created).toMatchObject({ deprecatedSource: {}, deprecatedFirstTimestamp: null, note: 'hi', series });
    const { metadata, ...old } = await cluster.api(CoreEvent).get('e');
    expect(metadata).toEqual(created.metadata);
    expect(old).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: { namespace: 'default', kind: 'Pod', name: 'p' },
      reason: 'Ran',
      message: 'hi',
      source: {},
      firstTimestamp: null,
      lastTimestamp: null,
      type: 'Normal',
      eventTime: TIME,
      series,
      action: 'Run',
      reportingComponent: 'example.com/c',
      reportingInstance: 'i',
    });
  });

  test('converts an event of the core group to the events group', async () => {
    const cluster = testCluster();
    await cluster.api(CoreEvent).create({
      metadata: { name: 'E' },
      involvedObject: { namespace: 'default', name: 'p' },
      source: { component: 'kubelet' },
      firstTimestamp: '2030-01-01T00:00:00Z',
      count: 3,
      series: {},
    });
    const { metadata: _, ...now } = await cluster.api(Event).get('E');
    expect(now).toEqual({
      apiVersion: 'events.orch.io/v1',
      kind: 'Event',
      eventTime: null,
      series: { count: 0, lastObservedTime: null },
      regarding: { namespace: 'default', name: 'p' },
      deprecatedSource: { component: 'kubelet' },
      deprecatedFirstTimestamp: '2030-01-01T00:00:00Z',
      deprecatedLastTimestamp: null,
      deprecatedCount: 3,
    });
    expect((await cluster.api(CoreEvent).get('E')).series).toEqual({ lastObservedTime: null });
    expect((await cluster.api(Event).list()).items).toMatchObject([{ series: { count: 0 } }]);
  });

  test('supports field selectors with the field names of both groups', async () => {
    const cluster = testCluster();
    await cluster.api(Event).create(fresh);
    const count = async (kind: typeof CoreEvent | typeof Event, fields: string) =>
      (await cluster.api(kind as typeof Event).list({ fields })).items.length;
    expect(await count(Event, 'regarding.name=p,reportingController=example.com/c,type=Normal,reason=Ran')).toBe(1);
    expect(await count(CoreEvent, 'involvedObject.kind=Pod,reportingComponent=example.com/c')).toBe(1);
    // Without a source, the reporting component counts as the source.
    expect(await count(CoreEvent, 'source=example.com/c')).toBe(1);
    expect(await count(CoreEvent, 'source=other')).toBe(0);
    await expect(count(Event, 'source=x')).rejects.toMatchObject({ message: 'field label not supported: source' });
  });
});

describe('an event of the core group', () => {
  const create = (event: Partial<CoreEventInput>) =>
    testCluster()
      .api(CoreEvent)
      .create({ metadata: { name: 'e' }, involvedObject: {}, ...event });
  const stray = (value: string) =>
    `involvedObject.namespace: Invalid value: "${value}": does not match event.namespace`;

  test('requires an event of the core group to be in the namespace of its object', async () => {
    await create({});
    expect(await rejectionCauses(create({ involvedObject: { namespace: 'x' } }))).toEqual([stray('x')]);
    const cluster = testCluster();
    await cluster.api(Namespace).create({ metadata: { name: 'other' } });
    const lost = cluster.api(CoreEvent, 'other').create({ metadata: { name: 'e' }, involvedObject: {} });
    expect(await rejectionCauses(lost)).toEqual([stray('')]);
  });

  test('requires an event of the core group to have a reporting component if it has an event time', async () => {
    const problems = await rejectionCauses(create({ eventTime: TIME }));
    expect(problems.slice(0, 2)).toEqual([
      'reportingComponent: Required value',
      'reportingComponent: Invalid value: "": name part must be non-empty',
    ]);
    expect(problems.slice(3)).toEqual([
      'reportingInstance: Required value',
      'action: Required value',
      'reason: Required value',
    ]);
  });

  test('allows changes of all fields of an event of the core group', async () => {
    const events = testCluster().api(CoreEvent);
    await events.create({ metadata: { name: 'e' }, involvedObject: {}, reason: 'A' });
    const updated = await events.update({ metadata: { name: 'e' }, involvedObject: {}, reason: 'B', count: 2 });
    expect(updated).toMatchObject({ reason: 'B', count: 2 });
  });
});

describe('an event of the events group', () => {
  const create = (change: Partial<EventInput>) =>
    testCluster()
      .api(Event)
      .create({ ...fresh, ...change });

  test.each<[string, Partial<EventInput>, string[]]>([
    ['no time', { eventTime: null }, ['eventTime: Required value']],
    ['an unknown type', { type: 'Odd' }, ['type: Invalid value: "": has invalid value: Odd']],
    ['a long action', { action: LONG }, ['action: Invalid value: "": can have at most 128 characters']],
    ['a long note', { note: 'a'.repeat(1025) }, ['message: Invalid value: "": can have at most 1024 characters']],
    [
      'a series with a count of one',
      { series: { count: 1, lastObservedTime: null } },
      ['series.count: Invalid value: "": should be at least 2', 'series.lastObservedTime: Required value'],
    ],
    [
      'fields of the core group',
      {
        deprecatedCount: 1,
        deprecatedFirstTimestamp: '2030-01-01T00:00:00Z',
        deprecatedLastTimestamp: '2030-01-01T00:00:00Z',
        deprecatedSource: { host: 'h' },
      },
      [
        'firstTimestamp: Invalid value: "": needs to be unset',
        'lastTimestamp: Invalid value: "": needs to be unset',
        'count: Invalid value: "": needs to be unset',
        'source: Invalid value: "": needs to be unset',
      ],
    ],
  ])('rejects an event of the events group with %s', async (_, change, problems) => {
    expect(await rejectionCauses(create(change))).toEqual(problems);
  });

  test('allows changes of only the series of an event of the events group', async () => {
    const events = testCluster().api(Event);
    await events.create(fresh);
    await events.update({ ...fresh, series: { count: 2, lastObservedTime: TIME } });
    const changed = {
      ...fresh,
      reason: 'Other',
      note: 'n',
      eventTime: '2030-01-01T00:00:00.500000Z',
      regarding: { namespace: 'default' },
      related: { name: 'r' },
      deprecatedCount: 1,
    };
    expect(await rejectionCauses(events.update(changed))).toEqual([
      'involvedObject: Invalid value: core.ObjectReference{Kind:"", Namespace:"default", Name:"", UID:"", APIVersion:"", ResourceVersion:"", FieldPath:""}: field is immutable',
      'reason: Invalid value: "Other": field is immutable',
      'message: Invalid value: "n": field is immutable',
      'count: Invalid value: 1: field is immutable',
      'reason: Invalid value: "Other": field is immutable',
      'eventTime: Invalid value: 2030-01-01 00:00:00.5 +0000 UTC: field is immutable',
      'related: Invalid value: core.ObjectReference{Kind:"", Namespace:"", Name:"r", UID:"", APIVersion:"", ResourceVersion:"", FieldPath:""}: field is immutable',
    ]);
  });
});
