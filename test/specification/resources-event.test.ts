/** docs/specification.md, R14 and R15: Event and IPAddress. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const event = {
  metadata: { namespace: 'default' },
  eventTime: '2024-01-02T03:04:05.000006Z',
  action: 'Started',
  reason: 'Because',
  note: 'n',
  regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
  reportingController: 'example.com/c',
  reportingInstance: 'c-1',
  type: 'Normal',
};
const create = (change: Json) => openService().create('Event', { ...event, ...change });

describe('Event', () => {
  test('R14.1: has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Event', 'Event')).toMatchObject({
      eventTime: 'MicroTime!',
      action: 'string',
      reason: 'string',
      note: 'string',
      regarding: 'ObjectReference',
      related: 'ObjectReference',
      reportingController: 'string',
      reportingInstance: 'string',
      series: 'EventSeries',
      type: 'string',
      deprecatedCount: 'int32',
      deprecatedFirstTimestamp: 'Time',
      deprecatedLastTimestamp: 'Time',
      deprecatedSource: 'EventSource',
    });
    expect(await fieldsOf(service, 'Event', 'EventSource')).toEqual({ component: 'string', host: 'string' });
    const full = { related: { kind: 'Node', name: 'n' }, series: undefined };
    expect(await create(full)).toMatchObject({ code: 201, body: { ...event, related: full.related } });
  });

  test.each(['eventTime', 'action', 'reason', 'reportingController', 'reportingInstance', 'type'])(
    'R14.2: a new event has a %s',
    async (field) => {
      const { code, causes } = await create({ [field]: undefined });
      expect(code).toBe(422);
      expect(causes.join()).toContain(`${field}: `);
    },
  );

  test.each([
    ['action', 128],
    ['reason', 128],
    ['reportingInstance', 128],
    ['note', 1024],
  ])('R14.3: a %s has at most %i characters', async (field, most) => {
    expect((await create({ [field]: 'x'.repeat(most) })).code).toBe(201);
    const long = await create({ [field]: 'x'.repeat(most + 1) });
    // The reference server reports a note by its name in the core group.
    expect(long.causes).toEqual([`${field === 'note' ? 'message' : field}: Invalid`]);
  });

  test('R14.4: the type is Normal or Warning', async () => {
    expect((await create({ type: 'Warning' })).code).toBe(201);
    expect((await create({ type: 'Bad' })).causes).toEqual(['type: Invalid']);
  });

  test('R14.5: a series has a count; a single event has no series', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Event', 'EventSeries')).toMatchObject({ count: 'int32!' });
    expect((await service.create('Event', event)).body).not.toHaveProperty('series');
    const lastObservedTime = '2024-01-02T03:04:06.000000Z';
    expect((await create({ series: { count: 2, lastObservedTime } })).body.series.count).toBe(2);
    expect((await create({ series: { lastObservedTime } })).causes).toEqual(['series.count: Required']);
  });

  test('R14.6: the deprecated fields hold those of the older event type', async () => {
    const service = openService();
    const older = {
      metadata: { name: 'old' },
      involvedObject: { kind: 'Pod', name: 'p', namespace: 'default' },
      reason: 'R',
      source: { component: 'c', host: 'h' },
      count: 3,
      firstTimestamp: '2024-01-02T03:04:05Z',
      lastTimestamp: '2024-01-02T03:04:06Z',
      type: 'Normal',
    };
    expect((await service.send('POST', '/api/v1/namespaces/default/events', older)).code).toBe(201);
    expect((await service.get('Event', 'old')).body).toMatchObject({
      deprecatedCount: 3,
      deprecatedFirstTimestamp: '2024-01-02T03:04:05Z',
      deprecatedLastTimestamp: '2024-01-02T03:04:06Z',
      deprecatedSource: { component: 'c', host: 'h' },
    });
  });
});

describe('IPAddress', () => {
  const parentRef = { name: 's', resource: 'services', group: '', namespace: 'default' };
  const ip = (name: string, spec: Json = { parentRef }) =>
    openService().create('IPAddress', { metadata: { name }, spec });

  test.each<[string, number]>([
    ['192.0.2.1', 201],
    ['2001:db8::1', 201],
    ['192.0.2.01', 422],
    ['192.0.2', 422],
    ['2001:db8:0:0:0:0:0:1', 422],
    ['2001:DB8::1', 422],
    ['name', 422],
  ])('R15.1: the name %s is answered with %i', async (name, code) => {
    expect((await ip(name)).code).toBe(code);
  });

  test('R15.2: an address refers to a parent with a name and a resource', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'IPAddress', 'IPAddressSpec')).toEqual({ parentRef: 'ParentReference!' });
    expect(await fieldsOf(service, 'IPAddress', 'ParentReference')).toEqual({
      name: 'string!',
      resource: 'string!',
      group: 'string',
      namespace: 'string',
    });
    expect((await ip('192.0.2.1', {})).causes).toEqual(['spec.parentRef: Required']);
    const parent = (change: Json) => ip('192.0.2.1', { parentRef: { ...parentRef, ...change } });
    expect((await parent({ name: undefined })).causes).toEqual(['spec.parentRef.name: Required']);
    expect((await parent({ resource: undefined })).causes).toEqual(['spec.parentRef.resource: Required']);
  });
});
