/** Tickets for requests: dispatch, waiting and rejection. */
import { describe, expect, test } from 'vitest';
import { FlowRejection } from '../../../src/flowcontrol/flow-control.js';
import { orchDialect } from '../../../src/meta/dialect.js';
import type { AccessAttributes } from '../../../src/protocol/access.js';
import { isPromise } from '../../../src/util/maybe-promise.js';
import { atOnce, flowOf, flowServer, queued, requestDigest } from './server.js';

const path = (name: string): AccessAttributes => ({ type: 'path', verb: 'get', path: name });

/** A thrown error as the client sees it. */
function rejectionOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    if (!(error instanceof FlowRejection)) throw error;
    const { code, reason, text, headers } = error;
    return { code, reason, text, retryAfter: headers['Retry-After'] };
  }
  return undefined;
}

describe('the flows of a new cluster', () => {
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  const account = (namespace: string) => `system:serviceaccount:${namespace}:a`;
  const accounts = ['system:serviceaccounts', 'system:authenticated'];
  test.each([
    ['exempt', 'exempt', requestDigest('root', {}, ['system:masters', 'system:authenticated'])],
    ['probes', 'exempt', { ...requestDigest('u'), attributes: path('/livez') }],
    ['probes', 'exempt', { ...requestDigest('u'), attributes: path('/readyz/ping') }],
    [
      'system-leader-election',
      'leader-election',
      requestDigest('system:kube-scheduler', { ...leases, verb: 'update' }),
    ],
    ['system-leader-election', 'leader-election', requestDigest(account('kube-system'), { ...leases, verb: 'get' })],
    ['kube-scheduler', 'workload-high', requestDigest('system:kube-scheduler', { ...leases, verb: 'list' })],
    [
      'endpoint-controller',
      'workload-high',
      requestDigest('system:kube-controller-manager', { resource: 'endpoints' }),
    ],
    [
      'workload-leader-election',
      'leader-election',
      requestDigest(account('kube-system'), { resource: 'configmaps' }, accounts),
    ],
    ['kube-system-service-accounts', 'workload-high', requestDigest(account('kube-system'), {}, accounts)],
    ['service-accounts', 'workload-low', requestDigest(account('other'), {}, accounts)],
    [
      'system-node-high',
      'node-high',
      requestDigest('system:node:n', { resource: 'nodes', subresource: 'status', namespace: '' }, ['system:nodes']),
    ],
    ['system-nodes', 'system', requestDigest('system:node:n', {}, ['system:nodes'])],
    ['global-default', 'global-default', requestDigest('u')],
    ['global-default', 'global-default', requestDigest('system:anonymous', {}, ['system:unauthenticated'])],
    // A user without groups.
    ['catch-all', 'catch-all', requestDigest('u', {}, [])],
  ])('classifies a request into the FlowSchema %s and the level %s', (flowSchema, priorityLevel, digest) => {
    expect(flowServer().flow.classify(digest)).toMatchObject({ flowSchema, priorityLevel });
  });

  test('distinguishes flows by user or by namespace', () => {
    const { flow } = flowServer();
    expect(flow.classify(requestDigest('u')).distinguisher).toBe('u');
    expect(flow.classify(requestDigest('system:kube-scheduler')).distinguisher).toBe('n');
    expect(flow.classify({ ...requestDigest('system:kube-scheduler'), attributes: path('/x') }).distinguisher).toBe('');
  });

  test('allocates 600 seats to the bootstrap levels', () => {
    const nominal = flowServer()
      .flow.metrics.levels()
      .map((level) => [level.priorityLevel, level.nominal, level.lower]);
    expect(Object.fromEntries(nominal.map(([name, ...seats]) => [name, seats]))).toEqual({
      exempt: [0, 0],
      'catch-all': [13, 13],
      system: [74, 50],
      'node-high': [98, 73],
      'leader-election': [25, 25],
      'workload-high': [98, 49],
      'workload-low': [245, 24],
      'global-default': [49, 24],
    });
  });
});

describe('response headers', () => {
  test('returns the uids of the matched schema and level in response headers', () => {
    const ticket = atOnce(flowServer().flow.admit(requestDigest('u')));
    expect(ticket.headers).toEqual({
      'X-Kubernetes-Pf-Flowschema-Uid': 'FlowSchema global-default',
      'X-Kubernetes-Pf-Prioritylevel-Uid': 'PriorityLevelConfiguration global-default',
    });
    const other = atOnce(flowServer({}, { dialect: orchDialect }).flow.admit(requestDigest('u')));
    expect(Object.keys(other.headers)).toEqual(['X-Orch-Pf-Flowschema-Uid', 'X-Orch-Pf-Prioritylevel-Uid']);
  });

  test.each(['exec', 'attach', 'log', 'proxy', 'portforward'])(
    'sends no flow control headers for %s, which is not limited',
    (subresource) => {
      const { flow } = flowServer();
      const ticket = atOnce(flow.admit(requestDigest('u', { subresource })));
      expect(ticket.headers).toEqual({});
      expect(flow.metrics.flows()).toEqual([]);
    },
  );
});

describe('flow control objects', () => {
  test('skips a schema whose level does not exist until it is created', () => {
    const { flow, putLevels } = flowServer({ flows: { mine: flowOf('u', 'later') } });
    expect(flow.classify(requestDigest('u')).flowSchema).toBe('global-default');
    putLevels({ later: queued(10) });
    expect(flow.classify(requestDigest('u'))).toMatchObject({ flowSchema: 'mine', priorityLevel: 'later' });
    putLevels({ later: undefined });
    expect(flow.classify(requestDigest('u')).flowSchema).toBe('global-default');
  });

  test('adds mandatory objects that are missing', () => {
    const { flow, putFlows, putLevels } = flowServer();
    putFlows({ exempt: undefined, 'catch-all': undefined, 'global-default': undefined });
    putLevels({ 'catch-all': undefined });
    const admin = requestDigest('root', {}, ['system:masters']);
    expect(flow.classify(admin)).toMatchObject({ flowSchema: 'exempt', priorityLevel: 'exempt' });
    expect(flow.classify(requestDigest('u'))).toMatchObject({ flowSchema: 'catch-all', priorityLevel: 'catch-all' });
    expect(Object.values(atOnce(flow.admit(admin)).headers)).toEqual(['', 'PriorityLevelConfiguration exempt']);
    expect(Object.values(atOnce(flow.admit(requestDigest('u'))).headers)).toEqual(['', '']);
  });

  test.each([
    ['a schema without a spec', { flows: { bad: undefined as unknown as object } }],
    ['a schema without a level', { flows: { bad: { matchingPrecedence: 1 } } }],
    ['a schema whose rules are null', { flows: { bad: { ...flowOf('u', 'exempt', 1), rules: [null] } } }],
    ['a schema without subjects', { flows: { bad: { ...flowOf('u', 'exempt', 1), rules: [{ subjects: null }] } } }],
    ['a level without a response to its limit', { levels: { bad: { type: 'Limited', limited: {} } } }],
    ['a mandatory level without a response', { levels: { 'catch-all': { type: 'Limited', limited: {} } } }],
  ])('ignores %s, as a restored state may contain it', (_, given) => {
    const { flow, putFlows } = flowServer({ ...given });
    for (let refresh = 0; refresh < 2; refresh++) {
      expect(flow.classify(requestDigest('u')).flowSchema).toBe('global-default');
      expect(flow.metrics.levels().map(({ priorityLevel }) => priorityLevel)).not.toContain('bad');
      putFlows({});
    }
  });

  test('works without any flow control objects', () => {
    const { flow } = flowServer({}, { objects: { get: () => undefined, list: () => [] }, totalSeats: 7 });
    expect(flow.classify(requestDigest('u')).flowSchema).toBe('catch-all');
    expect(flow.metrics.levels().find(({ priorityLevel }) => priorityLevel === 'catch-all')?.current).toBe(7);
  });

  test('keeps requests on a deleted level until they finish', async () => {
    const { flow, clock, putLevels } = flowServer(
      {
        flows: { mine: flowOf('u', 'mine') },
        levels: { mine: queued(1, { queues: 1, handSize: 1 }) },
      },
      { totalSeats: 6 },
    );
    const first = atOnce(flow.admit(requestDigest('u')));
    const second = flow.admit(requestDigest('u'));
    putLevels({ mine: undefined });
    expect(flow.classify(requestDigest('u')).priorityLevel).toBe('global-default');
    const names = () => flow.metrics.levels().map(({ priorityLevel }) => priorityLevel);
    expect(names()).toContain('mine');
    first.done();
    await clock.advance(0);
    (await second).done();
    expect(names()).not.toContain('mine');
  });
});

describe('a level without queues', () => {
  const fullServer = () => {
    const level = { type: 'Limited', limited: { ...queued(5).limited, limitResponse: { type: 'Reject' } } };
    // Five of 250 shares are one seat.
    const server = flowServer({ flows: { mine: flowOf('u', 'mine') }, levels: { mine: level } }, { totalSeats: 50 });
    const ticket = atOnce(server.flow.admit(requestDigest('u')));
    return { ...server, ticket };
  };

  test('rejects a request that finds no free seat on a level without queues', () => {
    const { flow, ticket } = fullServer();
    expect(rejectionOf(() => flow.admit(requestDigest('u')))).toEqual({
      code: 429,
      reason: 'concurrency-limit',
      text: 'Too many requests, please try again later.\n',
      retryAfter: '1',
    });
    ticket.done();
    ticket.done();
    atOnce(flow.admit(requestDigest('u')));
    expect(rejectionOf(() => flow.admit(requestDigest('u')))).toMatchObject({ reason: 'concurrency-limit' });
    expect(flow.metrics.flows()).toMatchObject([
      { flowSchema: 'mine', dispatched: 2, executing: 1, rejected: { 'concurrency-limit': 2 } },
    ]);
  });

  test('increases Retry-After with the number of rejections', async () => {
    const { flow, clock } = fullServer();
    const reported: unknown[] = [];
    for (let second = 0; second < 4; second++) {
      for (let one = 0; one < 9; one++)
        reported.push((rejectionOf(() => flow.admit(requestDigest('u'))) as { retryAfter: string }).retryAfter);
      await clock.advance(1000);
    }
    expect([reported[0], reported[9], reported[18], reported[27]]).toEqual(['1', '2', '2', '4']);
  });
});

describe('a level with queues', () => {
  const server = (queuing = {}, seats = 1) =>
    flowServer(
      { flows: { mine: flowOf('*', 'mine') }, levels: { mine: queued(seats, queuing), 'workload-low': undefined } },
      // Other levels have 145 shares.
      { totalSeats: 145 + seats },
    );

  test('queues requests until a seat is free', async () => {
    const { flow, clock } = server();
    const first = atOnce(flow.admit(requestDigest('u')));
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (number) => {
      const ticket = await flow.admit(requestDigest('u'));
      order.push(number);
      ticket.done();
    });
    await clock.advance(10);
    expect(order).toEqual([]);
    expect(flow.metrics.flows()).toMatchObject([{ inQueue: 3, inQueueSeats: 3, executing: 1, executingSeats: 1 }]);
    first.done();
    await Promise.all(waiting);
    expect(order.toSorted()).toEqual([1, 2, 3]);
    expect(flow.metrics.flows()).toMatchObject([{ inQueue: 0, executing: 0, executingSeats: 0, dispatched: 4 }]);
    expect(clock.pending).toBeLessThanOrEqual(1);
  });

  test('rejects a request whose queue is full', () => {
    const { flow } = server({ queues: 1, handSize: 1, queueLengthLimit: 2 });
    atOnce(flow.admit(requestDigest('u')));
    for (let one = 0; one < 2; one++) expect(isPromise(flow.admit(requestDigest('u')))).toBe(true);
    expect(rejectionOf(() => flow.admit(requestDigest('u')))).toMatchObject({ code: 429, reason: 'queue-full' });
  });

  test.each([
    [undefined, 15_000],
    [20_000, 5000],
    [400_000, 60_000],
  ])('rejects a request after a quarter of its timeout (%s)', async (timeoutMs, limitMs) => {
    const { flow, clock } = server();
    const running = atOnce(flow.admit(requestDigest('u')));
    const outcome = Promise.resolve(
      flow.admit({ ...requestDigest('u'), ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
    ).then(
      () => 'a ticket',
      (error: FlowRejection) => `${error.code} ${error.reason}`,
    );
    let settled = false;
    void outcome.then(() => {
      settled = true;
    });
    await clock.advance(limitMs - 1);
    expect(settled).toBe(false);
    await clock.advance(1);
    expect(await outcome).toBe('429 time-out');
    expect(flow.metrics.flows()).toMatchObject([{ inQueue: 0, rejected: { 'time-out': 1 } }]);
    running.done();
    // Its seat is free.
    atOnce(flow.admit(requestDigest('u'))).done();
  });

  test('removes a waiting request that is aborted', async () => {
    const { flow, clock } = server();
    const running = atOnce(flow.admit(requestDigest('u')));
    const client = new AbortController();
    const aborted = flow.admit(requestDigest('u'), client.signal);
    const next = flow.admit(requestDigest('u'));
    client.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    expect(flow.metrics.flows()).toMatchObject([{ inQueue: 1, rejected: { 'time-out': 1 } }]);
    running.done();
    (await next).done();
    expect(() => flow.admit(requestDigest('u'), client.signal)).toThrow('gone');
    expect(flow.metrics.flows()).toMatchObject([{ inQueue: 0, executing: 0, executingSeats: 0 }]);
    await clock.advance(20_000);
    expect(clock.pending).toBe(0);
  });

  test('dispatches no request on a level without seats', async () => {
    const { flow, clock } = server({}, 0);
    const blocked = flow.admit(requestDigest('u'));
    expect(isPromise(blocked)).toBe(true);
    const outcome = Promise.resolve(blocked).catch((error: FlowRejection) => error.reason);
    await clock.advance(15_000);
    expect(await outcome).toBe('time-out');
  });

  test('dispatches waiting requests when the level gets more seats', async () => {
    const { flow, putLevels, clock } = server();
    const running = atOnce(flow.admit(requestDigest('u')));
    const waiting = flow.admit(requestDigest('u'));
    putLevels({ mine: queued(50) });
    atOnce(flow.admit(requestDigest('other'))).done();
    await clock.advance(0);
    (await waiting).done();
    running.done();
    expect(flow.metrics.flows()).toMatchObject([{ dispatched: 3 }]);
  });
});

describe('work estimation', () => {
  const busy = (count: number) =>
    flowServer(
      { flows: { mine: flowOf('u', 'mine') }, levels: { mine: queued(145) } },
      { totalSeats: 780, count: ({ resource }) => (resource === 'pods' ? count : undefined) },
    );
  const list = { verb: 'list', name: '' };

  test.each([
    [10, 1],
    [250, 3],
    [100_000, 10],
  ])('charges a list of %i objects with %i seats', (objects, seats) => {
    const { flow } = busy(objects);
    atOnce(flow.admit(requestDigest('u', list)));
    expect(flow.metrics.flows()).toMatchObject([{ executing: 1, executingSeats: seats }]);
  });

  test('charges the start of a watch with one seat, and writes for the watch until it ends', async () => {
    const { flow, clock } = busy(0);
    const watches = Array.from({ length: 25 }, () =>
      atOnce(flow.admit(requestDigest('u', { verb: 'watch', name: '' }))),
    );
    expect(flow.metrics.flows()).toMatchObject([{ executingSeats: 25 }]);
    for (const watch of watches) watch.done();
    const seats = () => flow.metrics.flows()[0]?.executingSeats;
    expect(seats()).toBe(0);
    const write = { verb: 'update' };
    const ticket = atOnce(flow.admit(requestDigest('u', write)));
    expect(seats()).toBe(3);
    ticket.done();
    await clock.advance(4);
    expect(seats()).toBe(3);
    await clock.advance(1);
    expect(seats()).toBe(0);
    atOnce(flow.admit(requestDigest('u', { ...write, namespace: 'elsewhere' }))).done();
    expect(seats()).toBe(0);
    for (const watch of watches) watch.ended();
    atOnce(flow.admit(requestDigest('u', write))).done();
    expect(seats()).toBe(0);
  });

  test('tolerates a clock that is set back', () => {
    let now = 1e9;
    const clock = { now: () => now, after: () => () => undefined };
    const { flow } = flowServer({}, { clock });
    const ticket = atOnce(flow.admit(requestDigest('u')));
    now -= 1e6;
    ticket.done();
    atOnce(flow.admit(requestDigest('u'))).done();
    expect(flow.metrics.flows()).toMatchObject([{ dispatched: 2, executing: 0, executingSeats: 0 }]);
  });
});

test('reports wait and execution times to the observer', async () => {
  const reported: unknown[] = [];
  const { flow, clock } = flowServer(
    { flows: { mine: flowOf('u', 'mine') }, levels: { mine: queued(5) } },
    {
      totalSeats: 50,
      observer: {
        waited: ({ flowSchema }, seconds, executed) => reported.push(['waited', flowSchema, seconds, executed]),
        executed: ({ flowSchema }, seconds, type) => reported.push(['executed', flowSchema, seconds, type]),
      },
    },
  );
  const first = atOnce(flow.admit(requestDigest('u', { verb: 'watch' })));
  const second = flow.admit(requestDigest('u'));
  const third = Promise.resolve(flow.admit({ ...requestDigest('u'), timeoutMs: 4000 })).catch(() => undefined);
  await clock.advance(1000);
  await third;
  await clock.advance(1000);
  first.done();
  await clock.advance(500);
  (await second).done();
  atOnce(flow.admit(requestDigest('root', {}, ['system:masters']))).done();
  expect(reported).toEqual([
    ['waited', 'mine', 0, true],
    ['waited', 'mine', 1, false],
    ['executed', 'mine', 2, 'watch'],
    ['waited', 'mine', 2, true],
    ['executed', 'mine', 0.5, 'regular'],
    // No request waits on a level without a limit.
    ['executed', 'exempt', 0, 'regular'],
  ]);
});

describe('lending', () => {
  /** Two levels of ten seats, of which one may lend nine. */
  const pair = () =>
    flowServer(
      {
        flows: { busy: flowOf('b', 'busy'), idle: flowOf('i', 'idle'), exempt: undefined },
        levels: {
          busy: queued(10, {}, { borrowingLimitPercent: 100 }),
          idle: queued(10, {}, { lendablePercent: 90 }),
          ...Object.fromEntries(
            ['system', 'node-high', 'leader-election', 'workload-high', 'workload-low', 'global-default'].map(
              (name) => [name, undefined],
            ),
          ),
        },
      },
      { totalSeats: 25 },
    );
  const current = (server: ReturnType<typeof pair>) =>
    Object.fromEntries(server.flow.metrics.levels().map((level) => [level.priorityLevel, level.current]));

  test('lends unused seats to waiting requests of another level and takes them back', async () => {
    const server = pair();
    const { flow, clock } = server;
    const tickets: { done(): void }[] = [];
    const failures: unknown[] = [];
    for (let one = 0; one < 40; one++) {
      Promise.resolve(flow.admit({ ...requestDigest('b'), timeoutMs: 240_000 })).then(
        (ticket) => tickets.push(ticket),
        (error) => failures.push(error),
      );
    }
    await clock.advance(0);
    const before = tickets.length;
    await clock.advance(10_000);
    expect(tickets.length).toBeGreaterThan(before);
    expect(tickets.length).toBe(current(server)['busy']);
    expect(current(server)['idle']).toBeLessThan(10);
    expect(current(server)['busy']).toBeLessThanOrEqual(20);
    // The lending level needs its seats again: it has them after the next period.
    for (let one = 0; one < 10; one++) {
      Promise.resolve(flow.admit({ ...requestDigest('i'), timeoutMs: 240_000 })).then(
        (ticket) => tickets.push(ticket),
        (error) => failures.push(error),
      );
    }
    await clock.advance(10_000);
    expect(current(server)['idle']).toBe(10);
    for (let round = 0; round < 10; round++) {
      for (const ticket of tickets.splice(0)) ticket.done();
      await clock.advance(1);
    }
    expect(failures).toEqual([]);
    expect(flow.metrics.flows().map(({ dispatched, inQueue }) => [dispatched, inQueue])).toEqual([
      [40, 0],
      [10, 0],
    ]);
    await clock.advance(10_000);
    expect(clock.pending).toBe(0);
  });

  test('lends the same seats regardless of how often lending is evaluated', async () => {
    const use = async (readsMetrics: boolean) => {
      const server = pair();
      const tickets = Array.from({ length: 5 }, () => atOnce(server.flow.admit(requestDigest('b'))));
      for (let second = 0; second < 65; second++) {
        await server.clock.advance(1000);
        if (second === 25) for (const ticket of tickets) ticket.done();
        if (readsMetrics) server.flow.metrics.levels();
      }
      return server.flow.metrics.levels();
    };
    expect(await use(true)).toEqual(await use(false));
  });
});
