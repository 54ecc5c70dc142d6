/**
 * The metrics of an API server: names, labels, buckets, and the effect of each recording.
 */
import { createCluster } from 'orchplane';
import { describe, expect, test } from 'vitest';
import { auditLog } from '../../../src/audit/log.js';
import { answerSize, createHandlerMetrics, HandlerMetrics } from '../../../src/http/metrics.js';
import type { Action, ServedResource } from '../../../src/http/routes.js';
import { ConfigMap } from '../../../src/kinds/core/v1/config-map.js';
import { Endpoints } from '../../../src/kinds/core/v1/endpoints.js';
import type { Kind } from '../../../src/kinds/kind.js';
import { VolumeAttributesClassV1alpha1 } from '../../../src/kinds/storage/v1beta1/volume-attributes-class.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { ServerMetrics, type ServerMetricsOptions } from '../../../src/metrics/server-metrics.js';
import { readPrometheus, valueIn } from './prometheus.js';

const servedAs = (kind: Kind): ServedResource => ({
  kind,
  gvr: { group: kubernetesDialect.group(kind.group), version: kind.version, resource: kind.names.plural },
});
const action = (verb: Action['verb'], more: Partial<Action> = {}): Action => ({ type: 'action', verb, ...more });
const configMaps = servedAs(ConfigMap as unknown as Kind);

function handlerMetrics(options: ServerMetricsOptions = {}) {
  const server = new ServerMetrics({ dialect: kubernetesDialect, ...options });
  const metrics = new HandlerMetrics(server);
  return { server, metrics, read: () => readPrometheus(metrics.print()) };
}

describe('requests', () => {
  test('counts, times and measures requests', () => {
    const { metrics, read } = handlerMetrics();
    const countedRequest = {
      served: configMaps,
      action: action('list', { namespace: 'x' }),
      method: 'GET',
      dryRun: false,
    };
    metrics.count({ ...countedRequest, code: 200, seconds: 0.03, bytes: 50_000 });
    metrics.count({ ...countedRequest, code: 200, seconds: 0.3, bytes: 500 });
    metrics.count({ ...countedRequest, code: 410, seconds: 70 });
    const labels = {
      component: 'apiserver',
      group: '',
      resource: 'configmaps',
      version: 'v1',
      verb: 'LIST',
      scope: 'namespace',
    };
    expect(valueIn(read(), 'apiserver_request_total', { ...labels, code: '200', dry_run: '' })).toBe(2);
    expect(valueIn(read(), 'apiserver_request_total', { ...labels, code: '410' })).toBe(1);
    const upTo = (le: string) => valueIn(read(), 'apiserver_request_duration_seconds_bucket', { ...labels, le });
    expect(['0.025', '0.05', '0.4', '60', '+Inf'].map(upTo)).toEqual([0, 1, 2, 2, 3]);
    const sized = (le: string) => valueIn(read(), 'apiserver_response_sizes_bucket', { ...labels, le });
    expect(['1000', '10000', '100000', '1e+09'].map(sized)).toEqual([1, 1, 2, 2]);
    expect(read().get('apiserver_request_duration_seconds')?.samples).toHaveLength(23 + 3);
  });

  test.each<[Partial<Action> & Pick<Action, 'verb'>, string, string | undefined, string, string]>([
    [{ verb: 'get', name: 'a', namespace: 'x' }, 'GET', undefined, 'GET', 'resource'],
    [{ verb: 'get', name: 'a', namespace: 'x' }, 'HEAD', undefined, 'GET', 'resource'],
    [{ verb: 'list' }, 'GET', undefined, 'LIST', 'cluster'],
    [{ verb: 'watch', namespace: 'x' }, 'GET', undefined, 'WATCH', 'namespace'],
    [{ verb: 'create', namespace: 'x' }, 'POST', undefined, 'POST', 'resource'],
    [{ verb: 'update', name: 'a' }, 'PUT', undefined, 'PUT', 'resource'],
    [{ verb: 'patch', name: 'a' }, 'PATCH', 'application/merge-patch+json', 'PATCH', 'resource'],
    [{ verb: 'patch', name: 'a' }, 'PATCH', 'application/apply-patch+yaml', 'APPLY', 'resource'],
    [{ verb: 'delete', name: 'a' }, 'DELETE', undefined, 'DELETE', 'resource'],
    [{ verb: 'deletecollection', namespace: 'x' }, 'DELETE', undefined, 'DELETE', 'namespace'],
    [{ verb: 'get', name: 'a', subresource: 'log' }, 'GET', undefined, 'CONNECT', 'resource'],
  ])('records %j by %s (%s) as %s with scope %s', (requestAction, method, contentType, verb, scope) => {
    const { metrics, read } = handlerMetrics();
    const type = contentType === undefined ? {} : { contentType };
    metrics.count({
      served: configMaps,
      action: action(requestAction.verb, requestAction),
      method,
      ...type,
      dryRun: false,
      code: 200,
    });
    expect(valueIn(read(), 'apiserver_request_total', { verb, scope })).toBe(1);
  });

  test.each([
    [true, 'All'],
    [false, ''],
    [[], ''],
    [['All', 'All'], 'All'],
    [['None'], 'invalid'],
    [[''], 'invalid'],
  ] as const)('labels a request with dry run %j as %j', (dryRun, label) => {
    const { metrics, read } = handlerMetrics();
    metrics.count({ served: configMaps, action: action('create'), method: 'POST', dryRun, code: 201 });
    expect(valueIn(read(), 'apiserver_request_total', { dry_run: label })).toBe(1);
  });

  test('records no resource for non-resource paths and no verb for unknown methods', () => {
    const { metrics, read } = handlerMetrics();
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'BOGUS']) {
      metrics.count({ served: undefined, action: undefined, method, dryRun: false, code: 200 });
    }
    const page = { resource: '', scope: '', subresource: '' };
    expect(valueIn(read(), 'apiserver_request_total', { ...page, verb: 'GET' })).toBe(2);
    expect(valueIn(read(), 'apiserver_request_total', { ...page, verb: 'other' })).toBe(2);
  });

  test('records requests to deprecated versions', () => {
    const { metrics, read } = handlerMetrics();
    const countRequest = (kind: unknown, subresource?: string) =>
      metrics.count({
        served: servedAs(kind as Kind),
        action: action('get', { name: 'a', ...(subresource === undefined ? {} : { subresource }) }),
        method: 'GET',
        dryRun: false,
        code: 404,
      });
    countRequest(ConfigMap);
    expect(read().has('apiserver_requested_deprecated_apis')).toBe(false);
    for (let i = 0; i < 3; i++) countRequest(Endpoints);
    countRequest(VolumeAttributesClassV1alpha1, 'status');
    const family = read().get('apiserver_requested_deprecated_apis');
    expect(family?.samples.map(({ labels, value }) => [Object.fromEntries(labels), value])).toEqual([
      [{ group: '', version: 'v1', resource: 'endpoints', subresource: '', removed_release: '' }, 1],
      [
        {
          group: 'storage.k8s.io',
          version: 'v1alpha1',
          resource: 'volumeattributesclasses',
          subresource: 'status',
          removed_release: '1.35',
        },
        1,
      ],
    ]);
    expect(family?.help).toMatch(/^\[STABLE\] /);
    expect(family?.type).toBe('gauge');
  });

  test('does not record versions that the release has not deprecated', () => {
    const { metrics, read } = handlerMetrics({ release: '1.32' });
    metrics.count({
      served: servedAs(Endpoints as unknown as Kind),
      action: action('list'),
      method: 'GET',
      dryRun: false,
      code: 200,
    });
    expect(read().has('apiserver_requested_deprecated_apis')).toBe(false);
  });

  test('prints in-flight requests for one second', () => {
    let nowMs = 0;
    const { metrics, read } = handlerMetrics({ now: () => nowMs });
    const ends = [metrics.startRequest('GET'), metrics.startRequest('HEAD'), metrics.startRequest('POST')];
    for (const end of ends) end();
    const most = (kind: string) => valueIn(read(), 'apiserver_current_inflight_requests', { request_kind: kind });
    expect([most('readOnly'), most('mutating')]).toEqual([2, 1]);
    nowMs = 2000;
    expect([most('readOnly'), most('mutating')]).toEqual([0, 0]);
  });
});

describe('watches', () => {
  test('counts watches until they end', () => {
    const { metrics, read } = handlerMetrics();
    const ended = metrics.startStream(configMaps, action('watch'));
    metrics.startStream(configMaps, action('watch', { namespace: 'x' }));
    const open = (scope: string) =>
      valueIn(read(), 'apiserver_longrunning_requests', { resource: 'configmaps', scope });
    expect([open('cluster'), open('namespace')]).toEqual([1, 1]);
    ended();
    ended();
    expect([open('cluster'), open('namespace')]).toEqual([0, 1]);
  });

  test('counts and measures the events of a watch', () => {
    const { metrics, read } = handlerMetrics();
    const sent = metrics.watchEventCounter(configMaps);
    for (const bytes of [100, 3000, 1_000_000]) sent(bytes);
    const labels = { group: '', version: 'v1', kind: 'ConfigMap' };
    expect(valueIn(read(), 'apiserver_watch_events_total', labels)).toBe(3);
    const upTo = (le: string) => valueIn(read(), 'apiserver_watch_events_sizes_bucket', { ...labels, le });
    expect(['1024', '4096', '131072', '+Inf'].map(upTo)).toEqual([1, 2, 2, 3]);
  });
});

describe('authentication and authorization', () => {
  test('counts authentication and authorization by result', () => {
    const { server, read } = handlerMetrics();
    server.authentication('success');
    server.authentication('failure');
    server.authorization({ allowed: true, reason: '' });
    server.authorization({ allowed: false, denied: true, reason: 'no' });
    server.authorization({ allowed: false, reason: '' });
    server.authorization({ allowed: false, reason: '', error: 'broken' });
    const attempts = (result: string) => valueIn(read(), 'authentication_attempts', { result });
    expect(['success', 'failure'].map(attempts)).toEqual([1, 1]);
    const decisions = (result: string) => valueIn(read(), 'authorization_attempts_total', { result });
    expect(['allowed', 'denied', 'no-opinion', 'error'].map(decisions)).toEqual([1, 1, 1, 1]);
  });
});

describe('collected sources', () => {
  const flow = {
    flows: () => [
      {
        priorityLevel: 'workload-low',
        flowSchema: 'service-accounts',
        dispatched: 7,
        rejected: { 'queue-full': 2, 'time-out': 1 },
        inQueue: 3,
        inQueueSeats: 4,
        executing: 5,
        executingSeats: 6,
      },
    ],
    levels: () => [{ priorityLevel: 'workload-low', nominal: 20, lower: 10, upper: 40, current: 25 }],
  };

  test('prints waiting, executing and rejected requests by level and schema', () => {
    const { read, server } = handlerMetrics({ sources: { flow } });
    const labels = { priority_level: 'workload-low', flow_schema: 'service-accounts' };
    server.flowObserver.waited({ priorityLevel: 'workload-low', flowSchema: 'service-accounts' }, 0.3, true);
    server.flowObserver.executed({ priorityLevel: 'workload-low', flowSchema: 'service-accounts' }, 3, 'watch');
    const value = (name: string, more = {}) => valueIn(read(), `apiserver_flowcontrol_${name}`, { ...labels, ...more });
    const level = (name: string) =>
      valueIn(read(), `apiserver_flowcontrol_${name}`, { priority_level: 'workload-low' });
    expect(value('dispatched_requests_total')).toBe(7);
    expect(value('rejected_requests_total', { reason: 'queue-full' })).toBe(2);
    expect(value('current_inqueue_requests')).toBe(3);
    expect(value('current_executing_requests')).toBe(5);
    expect(value('current_executing_seats')).toBe(6);
    expect(value('request_wait_duration_seconds_bucket', { execute: 'true', le: '0.5' })).toBe(1);
    expect(value('request_execution_seconds_sum', { type: 'watch' })).toBe(3);
    expect(['nominal_limit_seats', 'lower_limit_seats', 'upper_limit_seats', 'current_limit_seats'].map(level)).toEqual(
      [20, 10, 40, 25],
    );
  });

  test('prints the old names of flow control metrics as deprecated or hidden', () => {
    const name = 'apiserver_flowcontrol_request_concurrency_in_use';
    const hidden = 'apiserver_flowcontrol_request_concurrency_limit';
    const { read } = handlerMetrics({ sources: { flow } });
    expect(read().get(name)?.help).toMatch(/^\[ALPHA\] \(Deprecated from 1\.31\) /);
    expect(read().has(hidden)).toBe(false);
    const more = handlerMetrics({ sources: { flow }, showHiddenMetricsForVersion: '1.32' });
    expect(more.read().get(hidden)?.help).toMatch(/^\[ALPHA\] \(Deprecated from 1\.30\) /);
  });

  test('prints metrics of objects, features, build, start time and audit log', () => {
    const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
    const request = {
      attributes: { type: 'path', verb: 'get', path: '/' },
      auditId: () => '',
      requestURI: () => '/',
    } as const;
    audit.begin(request, { dialect: kubernetesDialect, now: () => 0 })?.complete();
    const build = {
      major: '1',
      minor: '33',
      gitVersion: 'v1.33.0',
      gitCommit: '',
      gitTreeState: '',
      buildDate: '',
      goVersion: 'none',
      compiler: '',
      platform: '',
    };
    const { read } = handlerMetrics({
      sources: {
        startedMs: 1_700_000_000_500,
        build,
        features: () => [
          { name: 'A', stage: 'Alpha', enabled: false },
          { name: 'G', stage: 'GA', enabled: true },
        ],
        objects: () => [['deployments.apps', 4]],
        audit: () => audit.counts,
      },
    });
    expect(valueIn(read(), 'process_start_time_seconds')).toBe(1_700_000_000.5);
    expect(valueIn(read(), 'kubernetes_build_info', { git_version: 'v1.33.0', minor: '33' })).toBe(1);
    expect(valueIn(read(), 'kubernetes_feature_enabled', { name: 'A', stage: 'ALPHA' })).toBe(0);
    expect(valueIn(read(), 'kubernetes_feature_enabled', { name: 'G', stage: '' })).toBe(1);
    expect(valueIn(read(), 'apiserver_storage_objects', { resource: 'deployments.apps' })).toBe(4);
    expect(valueIn(read(), 'apiserver_audit_event_total')).toBe(1);
    expect(valueIn(read(), 'apiserver_audit_level_total', { level: 'Metadata' })).toBe(1);
  });

  test('uses the names of the dialect in metric labels', () => {
    const server = new ServerMetrics({ sources: { features: () => [{ name: 'A', stage: 'Beta', enabled: true }] } });
    expect(valueIn(readPrometheus(server.print()), 'orch_feature_enabled', { name: 'A', stage: 'BETA' })).toBe(1);
  });
});

test("prints the counters of a handler's cluster", async () => {
  const audit = auditLog({ policy: { rules: [{ level: 'Metadata' }] } });
  await using cluster = createCluster({ dialect: 'kubernetes', audit });
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  const metrics = createHandlerMetrics(cluster, { sources: { flow: { flows: () => [], levels: () => [] } } });
  const read = readPrometheus(metrics.print());
  expect(valueIn(read, 'apiserver_storage_objects', { resource: 'configmaps' })).toBe(1);
  expect(valueIn(read, 'apiserver_storage_objects', { resource: 'namespaces' })).toBe(4);
  expect(valueIn(read, 'apiserver_storage_objects', { resource: 'deployments.apps' })).toBe(0);
  expect(valueIn(read, 'apiserver_storage_objects', { resource: 'componentstatuses' })).toBeUndefined();
  expect(valueIn(read, 'apiserver_audit_event_total')).toBe(2);
  expect(valueIn(read, 'kubernetes_feature_enabled', { name: 'APIResponseCompression', stage: 'BETA' })).toBe(1);
  expect(valueIn(read, 'process_start_time_seconds')).toBeGreaterThan(1e9);
});

test.each([
  [null, 0],
  ['abc', 3],
  [new Uint8Array(5), 5],
  [new ReadableStream<Uint8Array>(), undefined],
])('measures the size of a response: %s', (body, size) => {
  expect(answerSize({ code: 200, headers: [], body })).toBe(size);
});
