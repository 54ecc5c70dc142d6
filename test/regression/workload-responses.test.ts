/** Responses of workloads, budgets, scales and addresses that once differed from the reference server. */
import { expect, test } from 'vitest';
import { MERGE, METADATA, STRATEGIC, start as startWith, TABLE } from './over-http.js';

const APPS = '/apis/apps/v1/namespaces/default';
const AUTOSCALERS = '/namespaces/default/horizontalpodautoscalers';
const BATCH = '/apis/batch/v1/namespaces/default';
const CORE = '/api/v1/namespaces/default';
const POLICY = '/apis/policy/v1/namespaces/default';

const PATCHES = {
  merge: MERGE,
  strategic: STRATEGIC,
  apply: 'application/apply-patch+yaml',
};

function start() {
  const { call, rows } = startWith();
  const agent = { 'user-agent': 'tester' };
  return {
    get: (path: string, accept = 'application/json') => call('GET', path, undefined, { accept }),
    post: (path: string, body: unknown) => call('POST', path, body, agent),
    put: (path: string, body: unknown) => call('PUT', path, body, agent),
    patch: (path: string, body: unknown, type: keyof typeof PATCHES = 'merge') =>
      call('PATCH', path, body, { ...agent, 'content-type': PATCHES[type] }),
    cells: async (path: string): Promise<unknown[]> => (await rows(path)).cells[0],
  };
}

const containers = [{ name: 'c', image: 'i' }];

function workload(kind: string, metadata: object = {}) {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers } };
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  return { apiVersion: 'apps/v1', kind, metadata: { name: 'o', ...metadata }, spec };
}

function job(metadata: object = {}) {
  return { metadata: { name: 'o', ...metadata }, spec: { template: { spec: { restartPolicy: 'Never', containers } } } };
}

const fieldsOf = (response: { body: { details: { causes: { field: string }[] } } }) =>
  response.body.details.causes.map(({ field }) => field);

const GENERATION = 'deprecated.daemonset.template.generation';
const ROLLBACK = 'deprecated.deployment.rollback.to';
const annotated = (name: string, value: string) => ({ annotations: { [name]: value } });

test('parses the template generation of a DaemonSet as a 64-bit integer', async () => {
  const { post, put, patch } = start();
  const sets = `${APPS}/daemonsets`;
  const why = (value: string, what = 'invalid syntax') => `strconv.ParseInt: parsing "${value}": ${what}`;
  const rejected = await post(sets, workload('DaemonSet', annotated(GENERATION, 'x')));
  expect([rejected.status, rejected.body.message]).toEqual([
    400,
    `DaemonSet in version "v1" cannot be handled as a DaemonSet: ${why('x')}`,
  ]);
  const large = await post(sets, workload('DaemonSet', annotated(GENERATION, '99999999999999999999')));
  expect(large.body.message).toContain(why('99999999999999999999', 'value out of range'));
  const created = await post(sets, workload('DaemonSet', annotated(GENERATION, '9007199254740993')));
  expect(created.body.metadata.annotations).toEqual({ [GENERATION]: '9007199254740993' });
  expect((await put(`${sets}/o`, workload('DaemonSet', annotated(GENERATION, '')))).status).toBe(400);

  const bad = { metadata: annotated(GENERATION, 'x') };
  const merged = await patch(`${sets}/o`, bad);
  expect([merged.status, ...fieldsOf(merged)]).toEqual([422, 'patch']);
  expect(merged.body.message).toMatch(/: strconv.ParseInt: parsing "x": invalid syntax$/);
  const strategic = await patch(`${sets}/o`, bad, 'strategic');
  expect([strategic.status, strategic.body.message]).toEqual([500, why('x')]);
  const applied = await patch(
    `${sets}/p?fieldManager=m`,
    workload('DaemonSet', { name: 'p', ...bad.metadata }),
    'apply',
  );
  expect([applied.status, applied.body.message]).toEqual([
    500,
    `failed to convert to unversioned (/p; apps/v1, Kind=DaemonSet): ${why('x')}`,
  ]);
});

test('parses the rollback annotation of a Deployment as an integer and ignores it in status updates', async () => {
  const { post, put, patch } = start();
  const all = `${APPS}/deployments`;
  const rejected = await post(all, workload('Deployment', annotated(ROLLBACK, 'x')));
  expect([rejected.status, rejected.body.message]).toEqual([
    400,
    `Deployment in version "v1" cannot be handled as a Deployment: failed to parse annotation[${ROLLBACK}]=x as int64: strconv.ParseInt: parsing "x": invalid syntax`,
  ]);
  const negative = await post(all, workload('Deployment', annotated(ROLLBACK, '-3')));
  expect(negative.body.message).toBe(
    'Deployment.apps "o" is invalid: spec.rollback.version: Invalid value: -3: must be greater than or equal to 0',
  );
  const created = await post(all, workload('Deployment', annotated(ROLLBACK, '007')));
  expect(created.body.metadata.annotations).toEqual({ [ROLLBACK]: '7' });
  const status = await patch(`${all}/o/status`, { metadata: annotated(ROLLBACK, '9') });
  expect(status.body.metadata.annotations).toEqual({ [ROLLBACK]: '7' });
  const without = await put(`${all}/o`, workload('Deployment', annotated(ROLLBACK, '')));
  expect(without.body.metadata.annotations).toBeUndefined();
});

test('hides annotations that represent fields from metadata-only requests', async () => {
  const { get, post } = start();
  await post(`${APPS}/daemonsets`, workload('DaemonSet', { annotations: { mine: 'yes' } }));
  const whole = await get(`${APPS}/daemonsets/o`);
  expect(whole.body.metadata.annotations).toEqual({ [GENERATION]: '1', mine: 'yes' });
  const bare = await get(`${APPS}/daemonsets/o`, METADATA);
  expect(bare.body.metadata.annotations).toEqual({ mine: 'yes' });
  const table = await get(`${APPS}/daemonsets`, TABLE);
  expect(table.body.rows[0].object.metadata.annotations).toEqual({ mine: 'yes' });
  const rows = await get(`${APPS}/daemonsets?includeObject=Object`, TABLE);
  expect(rows.body.rows[0].object.metadata.annotations).toEqual(whole.body.metadata.annotations);

  const target = { type: 'AverageValue', averageValue: '1' };
  await post(`/apis/autoscaling/v2${AUTOSCALERS}`, {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'o' },
      maxReplicas: 2,
      metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target } }],
    },
  });
  const old = `/apis/autoscaling/v1${AUTOSCALERS}/h`;
  expect(Object.keys((await get(old)).body.metadata.annotations)).toEqual(['autoscaling.alpha.kubernetes.io/metrics']);
  expect((await get(old, METADATA)).body.metadata.annotations).toBeUndefined();
});

test('counts dropped fields in the generation of an EndpointSlice', async () => {
  const { post, put } = start();
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const hints = { forNodes: [{ name: 'n' }] };
  const slice = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [{ addresses: ['10.0.0.1'], hints }] };
  expect((await post(slices, slice)).body.metadata.generation).toBe(1);
  const { body } = await put(`${slices}/s`, slice);
  expect(body.endpoints[0].hints).toEqual({});
  expect(body.metadata.generation).toBe(2);
});

test('owns the status fields of a budget after an eviction', async () => {
  const { get, post, patch } = start();
  const spec = { minAvailable: 1, selector: { matchLabels: { app: 'a' } } };
  await post(`${POLICY}/poddisruptionbudgets`, { metadata: { name: 'b' }, spec });
  await post(`${CORE}/pods`, {
    metadata: { name: 'p', labels: { app: 'a' } },
    spec: { containers, nodeName: 'n' },
  });
  await patch(`${CORE}/pods/p/status`, {
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const condition = { type: 'DisruptionAllowed', status: 'True', reason: 'Enough', message: 'fine' };
  await patch(`${POLICY}/poddisruptionbudgets/b/status`, {
    status: {
      observedGeneration: 1,
      disruptionsAllowed: 1,
      currentHealthy: 2,
      desiredHealthy: 1,
      expectedPods: 2,
      conditions: [{ ...condition, lastTransitionTime: '2020-01-01T00:00:00Z' }],
    },
  });
  const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } };
  expect((await post(`${CORE}/pods/p/eviction`, eviction)).status).toBe(201);
  const { body } = await get(`${POLICY}/poddisruptionbudgets/b`);
  const server = body.metadata.managedFields.find(({ manager }: { manager: string }) => manager === 'kube-apiserver');
  expect(server).toMatchObject({ operation: 'Update', apiVersion: 'policy/v1', subresource: 'status' });
  expect(Object.keys(server.fieldsV1['f:status'])).toEqual(['f:conditions', 'f:disruptedPods', 'f:disruptionsAllowed']);
  expect(body.status.conditions[0]).toMatchObject({ status: 'False', reason: 'InsufficientPods', message: '' });
});

test('reports the time zone local as not explicit and unknown', async () => {
  const { post } = start();
  const schedule = (timeZone: string) =>
    post(`${BATCH}/cronjobs`, {
      metadata: { name: 'c' },
      spec: { schedule: '* * * * *', timeZone, jobTemplate: job() },
    });
  const messages = async (timeZone: string) =>
    (await schedule(timeZone)).body.details.causes.map(({ message }: { message: string }) => message);
  const explicit = 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  expect(await messages('local')).toEqual([
    `Invalid value: "local": ${explicit}`,
    'Invalid value: "local": unknown time zone local',
  ]);
  expect(await messages('Local')).toEqual([`Invalid value: "Local": ${explicit}`]);
});

test('prints missing quantities and duplicate conditions in tables', async () => {
  const { post, patch, cells } = start();
  const autoscalers = `/apis/autoscaling/v2${AUTOSCALERS}`;
  const target = { type: 'AverageValue', averageValue: '1' };
  await post(autoscalers, {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'o' },
      maxReplicas: 2,
      metrics: [{ type: 'Pods', pods: { metric: { name: 'm' }, target } }],
    },
  });
  expect((await cells(autoscalers))[2]).toBe('<unknown>/1');
  const current = { type: 'Pods', pods: { metric: { name: 'm' }, current: {} } };
  await patch(`${autoscalers}/h/status`, {
    status: { currentReplicas: 1, desiredReplicas: 1, currentMetrics: [current] },
  });
  expect((await cells(autoscalers))[2]).toBe('<nil>/1');

  await post(`${BATCH}/jobs`, job());
  const conditions = ['False', 'True'].map((status) => ({ type: 'Suspended', status }));
  await patch(`${BATCH}/jobs/o/status`, { status: { conditions } });
  expect((await cells(`${BATCH}/jobs`))[1]).toBe('Running');
  const met = [{ type: 'SuccessCriteriaMet', status: 'True' }];
  expect((await patch(`${BATCH}/jobs/o/status`, { status: { conditions: met } })).status).toBe(200);
  expect((await cells(`${BATCH}/jobs`))[1]).toBe('Running');
});

test('validates the pod labels of a Job only in the template', async () => {
  const { post } = start();
  const long = await post(`${BATCH}/jobs`, job({ name: 'j'.repeat(64) }));
  expect(fieldsOf(long)).toEqual(['spec.template.labels', 'spec.template.labels']);
  const { body } = await post(`${BATCH}/jobs`, job());
  expect(body.metadata.labels).toEqual(body.spec.template.metadata.labels);
});

test('prints a zero quantity with its format', async () => {
  const { post } = start();
  const target = { type: 'AverageValue', averageValue: '0' };
  const { body } = await post(`/apis/autoscaling/v2${AUTOSCALERS}`, {
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { kind: 'Deployment', name: 'o' },
      maxReplicas: 2,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }],
    },
  });
  expect(body.message).toContain('s:"0", Format:"DecimalSI"}: must be positive');
});

test('validates the metadata of a Scale although it is not stored', async () => {
  const { post, put, patch } = start();
  await post(`${APPS}/deployments`, workload('Deployment'));
  const scale = `${APPS}/deployments/o/scale`;
  const bad = { labels: { 'a b': 'c' }, finalizers: ['bare'] };
  const rejected = await put(scale, { metadata: { name: 'o', ...bad }, spec: { replicas: -2 } });
  expect(fieldsOf(rejected)).toEqual(['metadata.labels', 'metadata.finalizers[0]', 'spec.replicas']);
  expect(rejected.body.message).toMatch(/^Scale.autoscaling "o" is invalid: \[metadata.labels: /);
  expect((await patch(scale, { metadata: bad })).status).toBe(422);
});

test('records the writer of an unchanged scale in two entries until the next write', async () => {
  const { get, post, put } = start();
  await post(`${APPS}/deployments`, workload('Deployment'));
  const scale = { metadata: { name: 'o' }, spec: { replicas: 1 } };
  const owners = async () => {
    const { body } = await get(`${APPS}/deployments/o`);
    return body.metadata.managedFields.map((entry: { fieldsV1: { 'f:spec': object } }) => [
      Object.keys(entry.fieldsV1['f:spec']).includes('f:replicas'),
      'time' in entry,
    ]);
  };
  expect(await owners()).toEqual([[true, true]]);
  await put(`${APPS}/deployments/o/scale`, scale);
  expect(await owners()).toEqual([
    [true, false],
    [false, true],
  ]);
  await put(`${APPS}/deployments/o/scale`, scale);
  expect(await owners()).toEqual([[false, true]]);
});

test('reports a version mismatch for a Scale of a removed version', async () => {
  const { post, put } = start();
  await post(`${APPS}/deployments`, workload('Deployment'));
  const old = { apiVersion: 'extensions/v1beta1', kind: 'Scale', metadata: { name: 'o' }, spec: { replicas: 1 } };
  expect((await put(`${APPS}/deployments/o/scale`, old)).body.message).toBe(
    'the API version in the data (extensions/v1beta1) does not match the expected API version (autoscaling/v1)',
  );
});

test('validates the service name of a StatefulSet and its status before its metadata', async () => {
  const { post, patch } = start();
  const set = workload('StatefulSet');
  const rejected = await post(`${APPS}/statefulsets`, { ...set, spec: { ...set.spec, serviceName: 'A_' } });
  expect(fieldsOf(rejected)).toEqual(['spec.serviceName']);
  await post(`${APPS}/statefulsets`, set);
  const response = await patch(`${APPS}/statefulsets/o/status`, {
    metadata: { labels: { 'a b': 'c' } },
    status: { observedGeneration: -1 },
  });
  const labels = 'metadata.labels';
  expect(fieldsOf(response)).toEqual([labels, labels, 'status.observedGeneration', labels]);
});

test('validates the metadata of an update a number of times that depends on the kind', async () => {
  const { post, patch } = start();
  const networking = '/apis/networking.k8s.io/v1/namespaces/default';
  const cluster = '/apis/networking.k8s.io/v1';
  const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
  const backend = { defaultBackend: { service: { name: 's', port: { number: 80 } } } };
  const parentRef = { resource: 'services', name: 's', namespace: 'default' };
  const named = (rest: object = {}, name = 'o') => ({ metadata: { name }, ...rest });
  // The number of errors for an invalid annotation and for a finalizer without a domain: on the object and on its status.
  const cases: [path: string, body: object, annotation: number, finalizer: number, status?: [number, number]][] = [
    [`${APPS}/deployments`, workload('Deployment'), 3, 1, [3, 1]],
    [`${APPS}/daemonsets`, workload('DaemonSet'), 4, 2, [3, 1]],
    [`${APPS}/replicasets`, workload('ReplicaSet'), 4, 2, [3, 1]],
    [`${APPS}/statefulsets`, workload('StatefulSet'), 3, 1, [3, 1]],
    [`${APPS}/controllerrevisions`, named({ revision: 1, data: {} }), 4, 2],
    [`${BATCH}/jobs`, job(), 4, 2, [3, 1]],
    [`${POLICY}/poddisruptionbudgets`, named({ spec: {} }), 2, 0, [2, 0]],
    [`${networking}/ingresses`, named({ spec: backend }), 4, 2, [3, 1]],
    [`${networking}/networkpolicies`, named({ spec: {} }), 4, 2],
    [slices, named({ addressType: 'IPv4', endpoints: [] }), 3, 1],
    [`${cluster}/ingressclasses`, named({ spec: { controller: 'a.b/c' } }), 4, 2],
    [`${cluster}/ipaddresses`, named({ spec: { parentRef } }, '10.1.2.3'), 4, 2],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', named({ value: 1 }), 3, 1],
    ['/apis/node.k8s.io/v1/runtimeclasses', named({ handler: 'h' }), 4, 0],
    ['/apis/coordination.k8s.io/v1/namespaces/default/leases', named(), 3, 0],
  ];
  for (const [path, body, annotation, finalizer, status] of cases) {
    const { metadata } = body as { metadata: { name: string } };
    expect((await post(path, body)).status, path).toBe(201);
    const times = async (at: string, change: object) => {
      const response = await patch(at, { metadata: change });
      return response.status === 200 ? 0 : response.body.details.causes.length;
    };
    const at = `${path}/${metadata.name}`;
    const counts = async (where: string) => [
      await times(where, { annotations: { '-': 'x' } }),
      await times(where, { finalizers: ['bare'] }),
    ];
    if (status !== undefined) expect(await counts(`${at}/status`), `${path} status`).toEqual(status);
    expect(await counts(at), path).toEqual([annotation, finalizer]);
  }
});

test('validates the metadata of a budget only when its spec is valid', async () => {
  const { post } = start();
  const metadata = { name: 'b', labels: { 'a b': 'c' } };
  const budgets = `${POLICY}/poddisruptionbudgets`;
  expect(fieldsOf(await post(budgets, { metadata, spec: { minAvailable: -1 } }))).toEqual(['spec.minAvailable']);
  expect(fieldsOf(await post(budgets, { metadata, spec: {} }))).toEqual(['metadata.labels']);
  const prefix = { ...metadata, name: undefined, generateName: '100%' };
  expect(fieldsOf(await post(budgets, { metadata: prefix, spec: {} }))).toEqual([
    'metadata.generateName',
    'metadata.name',
    'metadata.labels',
  ]);
});
