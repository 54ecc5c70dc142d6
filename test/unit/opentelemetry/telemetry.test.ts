import { context, propagation, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { defineAdmission } from '../../../src/admission/define.js';
import { defaultAdmission } from '../../../src/admission/index.js';
import { createClient } from '../../../src/client/client.js';
import { controllers, defineController } from '../../../src/controllers/index.js';
import { createFetchHandler } from '../../../src/http/index.js';
import { httpTransport } from '../../../src/http/transport/http-transport.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { telemetry } from '../../../src/opentelemetry/index.js';
import { testCluster } from '../../../src/testing/index.js';

const spans = new InMemorySpanExporter();
const durations = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: durations, exportIntervalMillis: 1_000_000 });
const meters = new MeterProvider({ readers: [reader] });
const tracers = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

beforeAll(() => tracers.register());
beforeEach(() => spans.reset());
afterAll(async () => {
  for (const api of [trace, context, propagation]) api.disable();
  await meters.shutdown();
});

const observed = telemetry({ meter: meters.getMeter('test') });

const nameOf = (span: ReadableSpan | undefined) => span?.name;

function parentOf(span: ReadableSpan | undefined): ReadableSpan | undefined {
  return spans.getFinishedSpans().find((each) => each.spanContext().spanId === span?.parentSpanContext?.spanId);
}

function spanNamed(name: string): ReadableSpan | undefined {
  return spans.getFinishedSpans().find((span) => span.name === name);
}

test('a request has a span with its verb, resource, name and code', async () => {
  const cluster = testCluster();
  cluster.use(observed.middleware);
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await cluster.api(ConfigMap).apply({ metadata: { name: 'b' } }, { fieldManager: 'test' });
  await cluster.api(ConfigMap).find('missing');
  expect(spans.getFinishedSpans().map(nameOf)).toEqual(['create configmaps', 'apply configmaps', 'get configmaps']);
  expect(spanNamed('create configmaps')?.attributes).toEqual({
    'orchplane.verb': 'create',
    'orchplane.resource': 'configmaps',
    'k8s.namespace.name': 'default',
    'orchplane.code': 201,
  });
  const missing = spanNamed('get configmaps');
  expect(missing?.attributes).toMatchObject({
    'orchplane.name': 'missing',
    'orchplane.code': 404,
    'error.type': 'NotFound',
  });
  expect(missing?.status.code).toBe(SpanStatusCode.UNSET);
});

test('a failure of the server is an error', async () => {
  const cluster = testCluster();
  cluster.use(() => {
    throw new RangeError('out of order');
  });
  cluster.use(observed.middleware);
  await expect(cluster.api(ConfigMap).get('a')).rejects.toThrow();
  const { status, attributes, events } = spanNamed('get configmaps') as ReadableSpan;
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: expect.stringContaining('out of order') });
  expect(attributes['error.type']).toBeDefined();
  expect(events.map(({ name }) => name)).toEqual(['exception']);
});

test('admission has spans for steps that wait or reject, below that of the request', async () => {
  const waits = defineAdmission({
    name: 'Waits',
    kind: ConfigMap,
    async mutate() {
      // The part before the first await counts, too.
      for (const start = performance.now(); performance.now() - start < 20; );
      await Promise.resolve();
    },
  });
  const rejects = defineAdmission({
    name: 'Rejects',
    kind: ConfigMap,
    validate: ({ object }) => (object?.metadata.name === 'bad' ? 'bad' : undefined),
  });
  const cluster = testCluster({ admission: observed.admission([...defaultAdmission, waits, rejects]) });
  cluster.use(observed.middleware);
  await cluster.api(ConfigMap).create({ metadata: { name: 'good' } });
  expect(spans.getFinishedSpans().map(nameOf)).toEqual(['admission Waits', 'create configmaps']);
  expect(nameOf(parentOf(spanNamed('admission Waits')))).toBe('create configmaps');
  const [seconds = 0, nanoseconds = 0] = spanNamed('admission Waits')?.duration ?? [];
  expect(seconds + nanoseconds / 1e9).toBeGreaterThanOrEqual(0.019);

  await expect(cluster.api(ConfigMap).create({ metadata: { name: 'bad' } })).rejects.toThrow('bad');
  expect(spanNamed('admission Rejects')?.attributes).toMatchObject({
    'orchplane.admission.phase': 'validate',
    'orchplane.code': 403,
  });
  // The built-in steps still work.
  await expect(cluster.api(ConfigMap, 'nowhere').create({ metadata: { name: 'a' } })).rejects.toThrow('not found');
});

test('a reconcile is the parent of its requests', async () => {
  const copier = defineController({
    name: 'copier',
    kind: ConfigMap,
    labels: { copy: 'yes' },
    async reconcile(from, { client }) {
      await client.api(ConfigMap).apply({ metadata: { name: `${from.metadata.name}-copy` } });
    },
  });
  await using cluster = testCluster({ controllers: controllers(observed.controllers([copier])) });
  cluster.use(observed.middleware);
  await cluster.api(ConfigMap).create({ metadata: { name: 'a', labels: { copy: 'yes' } } });
  await cluster.settle();
  const applied = spanNamed('apply configmaps');
  expect(nameOf(parentOf(applied))).toBe('reconcile copier');
  expect(parentOf(applied)?.attributes).toMatchObject({ 'orchplane.key': 'default/a', 'orchplane.requeued': false });
  expect(parentOf(applied)?.parentSpanContext).toBeUndefined();
});

test('an HTTP request continues the trace of the client', async () => {
  const cluster = testCluster();
  cluster.use(observed.middleware);
  const handle = observed.handler(createFetchHandler(cluster));
  const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  const response = await handle(new Request('http://cluster.test/api/v1/namespaces/default', { headers }));
  expect(response.status).toBe(200);
  const server = spanNamed('GET');
  expect(server?.spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  expect(server?.attributes).toEqual({
    'http.request.method': 'GET',
    'url.path': '/api/v1/namespaces/default',
    'http.response.status_code': 200,
  });
  expect(nameOf(parentOf(spanNamed('get namespaces')))).toBe('GET');

  const remote = createClient({
    transport: httpTransport({ baseUrl: 'http://cluster.test', fetch: (request) => handle(new Request(request)) }),
  });
  expect(await remote.api(ConfigMap).find('missing')).toBeUndefined();
});

test('methods that clients make up have one name', async () => {
  const cluster = testCluster();
  const handle = observed.handler(createFetchHandler(cluster));
  for (const method of ['MADE', 'UP']) await handle(new Request('http://cluster.test/api', { method }));
  expect(nameOf(spanNamed('_OTHER'))).toBe('_OTHER');
  expect(spanNamed('MADE')).toBeUndefined();
});

test('durations are recorded by verb, resource and code', async () => {
  await reader.forceFlush();
  const points = durations
    .getMetrics()
    .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    .filter(({ descriptor }) => descriptor.name === 'orchplane.request.duration')
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes));
  expect(points).toContainEqual({
    'orchplane.verb': 'create',
    'orchplane.resource': 'configmaps',
    'orchplane.code': 201,
  });
});

test('refuses unknown options', () => {
  expect(() => telemetry({ trace: true } as object)).toThrow(TypeError);
});

test.each([
  [() => telemetry({ tracer: {} as never }), 'tracer is not a Tracer'],
  [() => telemetry({ meter: null as never }), 'meter is not a Meter'],
  [() => observed.admission(undefined as never), 'admission takes a list of plugins'],
  [() => observed.controllers([{}] as never), 'controllers takes a list of controllers'],
  [() => observed.handler({} as never), 'handler takes a function'],
])('rejects arguments of a wrong type (%#)', (call, message) => {
  expect(call).toThrow(TypeError);
  expect(call).toThrow(message);
});
