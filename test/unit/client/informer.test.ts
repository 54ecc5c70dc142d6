/** Informers: the local copy, indexes, subscribers, and recovery from server behaviour. */
import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { createClient } from '../../../src/client/client.js';
import type { InformerEvent } from '../../../src/client/informer.js';
import { errors } from '../../../src/meta/errors.js';
import type { DeepReadonly } from '../../../src/meta/object.js';
import type { ApiResponse } from '../../../src/protocol/response.js';
import type { ServerWatchEvent } from '../../../src/protocol/watch-event.js';
import { answer, deferred, FakeStream, FakeTransport, listOf, Rack, settle, Widget, widget } from './fakes.js';

type Script = ConstructorParameters<typeof FakeTransport>;

const a1 = widget('a', 1);
const b2 = widget('b', 2);
const expired: ServerWatchEvent = { type: 'ERROR', object: errors.expired('too old resource version').status };
const unavailable = errors.serviceUnavailable('not now');

function setup(...script: Script) {
  const transport = new FakeTransport(...script);
  const client = createClient({ transport });
  const events: string[] = [];
  const failures: unknown[] = [];
  const record = (event: InformerEvent<DeepReadonly<Widget>>) => {
    const { name, resourceVersion } = event.object.metadata;
    const before = 'previous' in event ? ` (was ${event.previous.metadata.resourceVersion})` : '';
    events.push(`${event.type} ${name}@${resourceVersion}${before}`);
  };
  const sent = () =>
    transport.requests.map(
      ({ verb, options }) => `${verb}${verb === 'watch' ? ` from ${options.resourceVersion}` : ''}`,
    );
  const onError = (error: unknown) => failures.push(error);
  return { transport, client, widgets: client.api(Widget), events, failures, record, onError, sent };
}

describe('the local copy', () => {
  test('an informer lists, then watches from the version of the list with the same selectors and bookmarks', async () => {
    const { transport, widgets, sent } = setup(answer(listOf(5, [a1, b2])), new FakeStream());
    const informer = widgets.informer({ labels: { app: 'web' }, fields: 'spec.node=n1' });
    await informer.synced;
    expect(sent()).toEqual(['list', 'watch from 5']);
    expect(transport.requests.map(({ options }) => options)).toEqual([
      { labelSelector: 'app=web', fieldSelector: 'spec.node=n1' },
      { labelSelector: 'app=web', fieldSelector: 'spec.node=n1', resourceVersion: '5', allowWatchBookmarks: true },
    ]);
    expect(informer.list()).toEqual([a1, b2]);
    expect(informer.get('a')).toBe(a1);
    expect(informer.get('nope')).toBeUndefined();
  });

  test('the local copy is complete when the call returns if the transport is synchronous', () => {
    const { widgets, sent } = setup(answer(listOf(5, [a1])), new FakeStream());
    const informer = widgets.informer();
    expect(informer.get('a')).toBe(a1);
    expect(sent()).toEqual(['list', 'watch from 5']);
  });

  test('the local copy follows changes', async () => {
    const stream = new FakeStream();
    const { widgets } = setup(answer(listOf(5, [a1, b2])), stream);
    const informer = widgets.informer();
    const a6 = widget('a', 6);
    const c7 = widget('c', 7);
    stream.send(
      { type: 'MODIFIED', object: a6 },
      { type: 'ADDED', object: c7 },
      { type: 'DELETED', object: widget('b', 8) },
    );
    await settle();
    expect(informer.list()).toEqual([a6, c7]);
    expect(informer.get('b')).toBeUndefined();
  });

  test('the local copy distinguishes namespaces', async () => {
    const there = widget('a', 3);
    there.metadata.namespace = 'team-a';
    const { client } = setup(answer(listOf(5, [a1, there])), new FakeStream());
    const informer = client.all(Widget).informer();
    expect(informer.get('a', 'default')).toBe(a1);
    expect(informer.get('a', 'team-a')).toBe(there);
    expect(informer.list('team-a')).toEqual([there]);
    expect(() => informer.get('a')).toThrow(/the informer of widgets spans namespaces: get needs the namespace of "a"/);
  });

  test('the local copy of a cluster-scoped kind needs no namespace', () => {
    const { namespace: _, ...metadata } = a1.metadata;
    const rack = { ...a1, metadata };
    const { client } = setup(answer(listOf(5, [rack])), new FakeStream());
    expect(client.all(Rack).informer().get('a')).toBe(rack);
  });

  test('the snapshot of the local copy is the same array until an object changes', async () => {
    const stream = new FakeStream();
    const { widgets } = setup(answer(listOf(5, [a1])), stream);
    const informer = widgets.informer();
    const before = informer.snapshot();
    expect(informer.snapshot()).toBe(before);
    expect(informer.list()).toBe(before);
    stream.send(
      { type: 'MODIFIED', object: a1 },
      { type: 'DELETED', object: widget('unknown', 6) },
      {
        type: 'BOOKMARK',
        object: { kind: 'Widget', apiVersion: 'v1', metadata: { resourceVersion: '7', creationTimestamp: null } },
      },
    );
    await settle();
    expect(informer.snapshot()).toBe(before);
    stream.send({ type: 'ADDED', object: b2 });
    await settle();
    expect(informer.snapshot()).toEqual([a1, b2]);
    expect(informer.snapshot()).toBe(informer.snapshot());
    expect(before).toEqual([a1]);
  });
});

describe('indexes', () => {
  const at = (name: string, version: number, node?: string) =>
    widget(name, version, { spec: { size: 'm', parts: [], ...(node === undefined ? {} : { node }) } });
  const byNode = { node: (w: DeepReadonly<Widget>) => (w.spec.node === undefined ? [] : [w.spec.node]) };

  test('an index finds objects and follows their changes', async () => {
    const stream = new FakeStream();
    const [a, b, c] = [at('a', 1, 'n1'), at('b', 2, 'n1'), at('c', 3)];
    const { widgets } = setup(answer(listOf(5, [a, b, c])), stream);
    const informer = widgets.informer({ indexes: { ...byNode, size: (w) => [w.spec.size] } });
    expect(informer.by('node', 'n1')).toEqual([a, b]);
    expect(informer.by('size', 'm')).toEqual([a, b, c]);

    const moved = at('b', 6, 'n2');
    const placed = at('c', 7, 'n2');
    stream.send({ type: 'MODIFIED', object: moved }, { type: 'MODIFIED', object: placed });
    await settle();
    expect(informer.by('node', 'n1')).toEqual([a]);
    expect(informer.by('node', 'n2')).toEqual([moved, placed]);

    stream.send({ type: 'DELETED', object: at('a', 8, 'n1') });
    await settle();
    expect(informer.by('node', 'n1')).toEqual([]);
    expect(informer.by('node', 'nowhere')).toEqual([]);
  });

  test('an index follows a new list', async () => {
    const stream = new FakeStream();
    const { widgets } = setup(
      answer(listOf(5, [at('a', 1, 'n1'), at('b', 2, 'n1')])),
      stream,
      answer(listOf(9, [at('b', 8, 'n2')])),
      new FakeStream(),
    );
    const informer = widgets.informer({ indexes: byNode });
    stream.send(expired);
    await settle();
    expect(informer.by('node', 'n1')).toEqual([]);
    expect(informer.by('node', 'n2').map(({ metadata }) => metadata.name)).toEqual(['b']);
  });

  test('an index function that throws is reported, and the object is kept', () => {
    const { widgets, failures, onError } = setup(answer(listOf(5, [a1])), new FakeStream());
    const broken = new Error('no such field');
    const informer = widgets.informer({
      onError,
      indexes: {
        broken: (): string[] => {
          throw broken;
        },
        name: (w) => [w.metadata.name],
      },
    });
    expect(failures).toEqual([broken]);
    expect(informer.by('broken', 'x')).toEqual([]);
    expect(informer.by('name', 'a')).toEqual([a1]);
  });

  test('an index that was not declared is rejected', () => {
    const { widgets } = setup(answer(listOf(5, [])), new FakeStream());
    const informer = widgets.informer() as unknown as { by(index: string, key: string): unknown };
    expect(() => informer.by('node', 'n1')).toThrow(
      new TypeError('orchplane: the informer of widgets has no index "node"'),
    );
  });
});

describe('subscribers', () => {
  test('a subscriber receives the change and the previous object', async () => {
    const stream = new FakeStream();
    const { widgets, events, record } = setup(answer(listOf(5, [a1])), stream);
    widgets.informer().subscribe(record);
    stream.send(
      { type: 'ADDED', object: widget('b', 6) },
      { type: 'MODIFIED', object: widget('a', 7) },
      { type: 'DELETED', object: widget('b', 8) },
    );
    await settle();
    expect(events).toEqual(['ADDED b@6', 'MODIFIED a@7 (was 1)', 'DELETED b@8 (was 6)']);
  });

  test('a subscriber receives the first list when it subscribed before it', async () => {
    const later = deferred<ApiResponse>();
    const { widgets, events, record } = setup(later.promise, new FakeStream());
    const informer = widgets.informer();
    informer.subscribe(record);
    later.resolve(answer(listOf(5, [a1, b2])));
    await informer.synced;
    expect(events).toEqual(['ADDED a@1', 'ADDED b@2']);
  });

  test('a subscriber sees the informer after the change', async () => {
    const stream = new FakeStream();
    const { widgets } = setup(answer(listOf(5, [])), stream, answer(listOf(9, [a1, b2])), new FakeStream());
    const informer = widgets.informer();
    const sizes: number[] = [];
    informer.subscribe(() => sizes.push(informer.snapshot().length));
    stream.send(expired);
    await settle();
    expect(sizes).toEqual([2, 2]);
  });

  test('a subscriber receives no event after it unsubscribes, not even the current one', async () => {
    const stream = new FakeStream();
    const { widgets, events, record } = setup(answer(listOf(5, [])), stream);
    const informer = widgets.informer();
    const undos: (() => void)[] = [];
    informer.subscribe(() => {
      for (const undo of undos) undo();
    });
    undos.push(informer.subscribe(record));
    const stays = informer.subscribe(record);
    stream.send({ type: 'ADDED', object: a1 });
    await settle();
    expect(events).toEqual(['ADDED a@1']);
    stays();
    stays();
    stream.send({ type: 'ADDED', object: b2 });
    await settle();
    expect(events).toEqual(['ADDED a@1']);
  });

  test('a subscriber that is added during an event receives the next one', async () => {
    const stream = new FakeStream();
    const { widgets, events, record } = setup(answer(listOf(5, [])), stream);
    const informer = widgets.informer();
    const undo = informer.subscribe(() => {
      undo();
      informer.subscribe(record);
    });
    stream.send({ type: 'ADDED', object: a1 }, { type: 'ADDED', object: b2 });
    await settle();
    expect(events).toEqual(['ADDED b@2']);
  });

  test('a subscriber that throws is reported and does not affect others', async () => {
    const stream = new FakeStream();
    const { widgets, events, failures, record, onError } = setup(answer(listOf(5, [])), stream);
    const informer = widgets.informer({ onError });
    const broken = new Error('listener');
    informer.subscribe(() => {
      throw broken;
    });
    informer.subscribe(record);
    stream.send({ type: 'ADDED', object: a1 }, { type: 'ADDED', object: b2 });
    await settle();
    expect(events).toEqual(['ADDED a@1', 'ADDED b@2']);
    expect(failures).toEqual([broken, broken]);
  });
});

describe('an expired version', () => {
  test('an expired version during a watch causes a new list and delivers the differences', async () => {
    const stream = new FakeStream();
    const recreated = widget('c', 8, { uid: 'another' });
    const { widgets, events, failures, record, onError, sent } = setup(
      answer(listOf(5, [a1, b2, widget('c', 3), widget('d', 4)])),
      stream,
      answer(listOf(9, [a1, widget('b', 7), recreated, widget('e', 9)])),
      new FakeStream(),
    );
    const informer = widgets.informer({ onError });
    informer.subscribe(record);
    stream.send({ type: 'MODIFIED', object: widget('d', 6) }, expired);
    await settle();
    expect(sent()).toEqual(['list', 'watch from 5', 'list', 'watch from 9']);
    expect(events).toEqual([
      'MODIFIED d@6 (was 4)',
      'MODIFIED b@7 (was 2)',
      'DELETED c@3 (was 3)',
      'ADDED c@8',
      'ADDED e@9',
      'DELETED d@6 (was 6)',
    ]);
    expect(failures).toEqual([]);
  });

  test.each([
    ['as an ERROR frame', () => frame(expired)],
    ['as a rejection', () => errors.expired('too old')],
    ['as a plain 410', () => errors.gone('too old')],
  ])('an expired version at the start of a watch, %s, causes a new list at once', async (_, refusal) => {
    const { widgets, sent } = setup(answer(listOf(5, [a1])), refusal(), answer(listOf(6, [a1, b2])), new FakeStream());
    const informer = widgets.informer();
    await settle();
    expect(sent()).toEqual(['list', 'watch from 5', 'list', 'watch from 6']);
    expect(informer.list()).toHaveLength(2);
  });

  test('an expired version that recurs is retried with a growing delay', async () => {
    const again: Script = [answer(listOf(5, [])), errors.expired('too old')];
    const { transport, widgets } = setup(...again, ...again, ...again, answer(listOf(6, [a1])), new FakeStream());
    const informer = widgets.informer();
    await settle();
    expect(transport.requests).toHaveLength(4);
    await transport.clock.advance(999);
    expect(transport.requests).toHaveLength(4);
    await transport.clock.advance(1);
    expect(transport.requests).toHaveLength(6);
    await transport.clock.advance(2_000);
    expect(informer.list()).toEqual([a1]);
  });
});

test('an object with a reused version counts as changed', async () => {
  const stream = new FakeStream();
  const [before, after] = [widget('a', 7), widget('a', 7, { spec: { size: 'l', parts: [] } })];
  const { widgets, events, record } = setup(
    answer(listOf(7, [before, b2])),
    stream,
    answer(listOf(7, [after, { ...b2 }])),
    new FakeStream(),
  );
  const informer = widgets.informer();
  informer.subscribe(record);
  stream.send(expired);
  await settle();
  expect(informer.get('a')).toBe(after);
  expect(informer.get('b')).toBe(b2);
  expect(events).toEqual(['MODIFIED a@7 (was 7)']);
});

describe('the end of a watch stream', () => {
  test('the end of a watch stream causes a new watch from the last version received', async () => {
    const [first, second] = [new FakeStream(), new FakeStream()];
    const { widgets, sent } = setup(answer(listOf(5, [])), first, second, new FakeStream());
    const informer = widgets.informer();
    first.send({ type: 'ADDED', object: widget('a', 7) });
    first.end();
    await settle();
    expect(sent()).toEqual(['list', 'watch from 5', 'watch from 7']);
    second.send({
      type: 'BOOKMARK',
      object: { kind: 'Widget', apiVersion: 'v1', metadata: { resourceVersion: '11', creationTimestamp: null } },
    });
    second.end();
    await settle();
    expect(sent().at(-1)).toBe('watch from 11');
    expect(informer.list()).toHaveLength(1);
  });

  test('the end of a watch stream after an idle hour is not a failure', async () => {
    const streams = [new FakeStream(), new FakeStream(), new FakeStream(), new FakeStream()];
    const { transport, widgets, sent } = setup(answer(listOf(5, [])), ...streams);
    widgets.informer();
    for (const stream of streams.slice(0, 3)) {
      await transport.clock.advance(3_600_000);
      stream.end();
      await settle();
    }
    expect(sent()).toEqual(['list', 'watch from 5', 'watch from 5', 'watch from 5', 'watch from 5']);
  });

  test('a watch stream that repeatedly ends at once is retried with a growing delay', async () => {
    const { transport, widgets } = setup(answer(listOf(5, [])), ended(), ended(), ended(), new FakeStream());
    widgets.informer();
    await settle();
    expect(transport.requests).toHaveLength(3);
    await transport.clock.advance(1_000);
    expect(transport.requests).toHaveLength(4);
    await transport.clock.advance(2_000);
    expect(transport.requests).toHaveLength(5);
  });
});

describe('failures', () => {
  test('a failed list is reported and retried at growing intervals', async () => {
    const { transport, widgets, failures, onError } = setup(
      unavailable,
      Promise.reject(unavailable),
      unavailable,
      answer(listOf(5, [a1])),
      new FakeStream(),
    );
    const informer = widgets.informer({ onError });
    await settle();
    expect(failures).toEqual([unavailable]);
    await transport.clock.advance(1_000);
    expect(failures).toHaveLength(2);
    await transport.clock.advance(1_999);
    expect(failures).toHaveLength(2);
    await transport.clock.advance(1);
    expect(failures).toHaveLength(3);
    await transport.clock.advance(4_000);
    await informer.synced;
    expect(informer.list()).toEqual([a1]);
    expect(transport.clock.pending).toBe(0);
  });

  test('a failed watch is reported, and resumes from the last version without a new list', async () => {
    const stream = new FakeStream();
    const { transport, widgets, failures, onError, sent } = setup(
      answer(listOf(5, [])),
      stream,
      unavailable,
      new FakeStream(),
    );
    widgets.informer({ onError });
    stream.send({ type: 'ADDED', object: widget('a', 7) });
    stream.break(new Error('connection reset'));
    await settle();
    expect(failures).toEqual([new Error('connection reset')]);
    await transport.clock.advance(1_000);
    expect(failures).toHaveLength(2);
    await transport.clock.advance(1_000);
    expect(sent()).toEqual(['list', 'watch from 5', 'watch from 7', 'watch from 7']);
  });

  test('a failed request is retried after the Retry-After of the server', async () => {
    const { transport, widgets, onError } = setup(
      errors.tooManyRequests('slow down', 20),
      answer(listOf(5, [])),
      new FakeStream(),
    );
    widgets.informer({ onError });
    await transport.clock.advance(19_999);
    expect(transport.requests).toHaveLength(1);
    await transport.clock.advance(1);
    expect(transport.requests).toHaveLength(3);
  });

  test('a failed request is retried after at most half a minute', async () => {
    const { transport, widgets, failures, onError } = setup(...Array.from({ length: 12 }, () => unavailable));
    // Node warns about more than ten listeners: none may accumulate.
    const warn = vi.spyOn(process, 'emitWarning');
    widgets.informer({ onError });
    for (let round = 0; round < 11; round++) await transport.clock.advance(30_000);
    expect(failures).toHaveLength(12);
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });

  test('a failed watch is followed by a new list at once when the version has expired meanwhile', async () => {
    const stream = new FakeStream();
    const { transport, widgets, sent, onError } = setup(
      answer(listOf(5, [])),
      stream,
      unavailable,
      errors.expired('too old'),
      answer(listOf(90, [a1])),
      new FakeStream(),
    );
    widgets.informer({ onError });
    stream.break(new Error('connection reset'));
    await transport.clock.advance(1_000);
    await transport.clock.advance(2_000);
    expect(sent()).toEqual(['list', 'watch from 5', 'watch from 5', 'watch from 5', 'list', 'watch from 90']);
  });

  test('a failure is logged to the console without onError', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    try {
      const { widgets } = setup(unavailable);
      widgets.informer().close();
      await settle();
      const { widgets: others } = setup(unavailable);
      others.informer();
      await settle();
      expect(print.mock.calls).toEqual([['orchplane: the informer of widgets:', unavailable]]);
    } finally {
      print.mockRestore();
    }
  });
});

describe('the end of an informer', () => {
  test('close ends the stream and notifications of an informer and keeps its objects readable', async () => {
    const stream = new FakeStream();
    const { widgets, events, record, sent } = setup(answer(listOf(5, [a1])), stream);
    const informer = widgets.informer();
    informer.subscribe(record);
    informer.close();
    informer.close();
    informer.subscribe(record);
    stream.send({ type: 'ADDED', object: b2 });
    await settle();
    expect(stream.closed).toBe(true);
    expect(events).toEqual([]);
    expect(informer.get('a')).toBe(a1);
    expect(sent()).toHaveLength(2);
    await expect(informer.synced).resolves.toBeUndefined();
  });

  test('a listener may close its informer', async () => {
    const stream = new FakeStream();
    const { widgets, events, record } = setup(answer(listOf(5, [])), stream);
    const informer = widgets.informer();
    informer.subscribe(() => informer.close());
    informer.subscribe(record);
    stream.send({ type: 'ADDED', object: a1 });
    await settle();
    expect(events).toEqual([]);
    expect(stream.closed).toBe(true);
  });

  test('close before the first list rejects synced and drops the list', async () => {
    const later = deferred<ApiResponse>();
    const { widgets, sent, failures, onError } = setup(later.promise);
    const informer = widgets.informer({ onError });
    informer.close();
    await expect(informer.synced).rejects.toThrow('the informer of widgets was closed before its first list came');
    later.resolve(answer(listOf(5, [a1])));
    await settle();
    expect(informer.list()).toEqual([]);
    expect(sent()).toEqual(['list']);
    expect(failures).toEqual([]);
  });

  test('an abort rejects synced with the reason', async () => {
    const later = deferred<ApiResponse>();
    const { widgets, failures, onError } = setup(later.promise);
    const stop = new AbortController();
    const informer = widgets.informer({ signal: stop.signal, onError });
    const reason = new Error('enough');
    stop.abort(reason);
    await expect(informer.synced).rejects.toBe(reason);
    expect(failures).toEqual([]);
  });

  test('an abort before the start of an informer sends nothing', async () => {
    const { transport, widgets } = setup();
    const reason = new Error('enough');
    await expect(widgets.informer({ signal: AbortSignal.abort(reason) }).synced).rejects.toBe(reason);
    expect(transport.requests).toEqual([]);
  });

  test('an abort during a synchronous response drops the list and sends no watch', async () => {
    const stop = new AbortController();
    const { widgets, sent } = setup(() => {
      stop.abort();
      return answer(listOf(5, [a1]));
    });
    const informer = widgets.informer({ signal: stop.signal });
    expect(informer.list()).toEqual([]);
    expect(sent()).toEqual(['list']);
  });

  test('a closed informer leaves no listener on the signal', async () => {
    const stop = new AbortController();
    const { transport, widgets, onError } = setup(unavailable, answer(listOf(5, [])), new FakeStream());
    const informer = widgets.informer({ signal: stop.signal, onError });
    await transport.clock.advance(1_000);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    informer.close();
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('close during a retry delay leaves no timer behind', async () => {
    const { transport, widgets, onError } = setup(unavailable);
    {
      await using informer = widgets.informer({ onError });
      await settle();
      expect(informer.list()).toEqual([]);
      expect(transport.clock.pending).toBe(1);
    }
    expect(transport.clock.pending).toBe(0);
    await transport.clock.advance(60_000);
    expect(transport.requests).toHaveLength(1);
  });
});

function frame(event: ServerWatchEvent): FakeStream {
  const stream = new FakeStream();
  stream.send(event);
  return stream;
}

function ended(): FakeStream {
  const stream = new FakeStream();
  stream.end();
  return stream;
}
