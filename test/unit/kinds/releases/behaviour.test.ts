/** Clusters that emulate an older release: the behaviour of its kinds and of the server, beyond the served versions. */
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { HorizontalPodAutoscaler } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { compareReleases, OLDEST_RELEASE, REFERENCE_RELEASE } from '../../../../src/kinds/lifecycle.js';
import { removedKinds } from '../../../../src/kinds/releases/index.js';
import { emulate } from './wire.js';

const FLOW = '/apis/flowcontrol.apiserver.k8s.io';
const LEVELS = 'prioritylevelconfigurations';
const MERGE = 'application/merge-patch+json';

function level(name: string, limited: object, more: object = {}) {
  return {
    metadata: { name, ...more },
    spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...limited } },
  };
}

describe('flow control in release 1.24, which does not serve the storage version', () => {
  test('has its initial objects in the version of the release', async () => {
    const { send } = emulate('1.24');
    const { body: levels } = await send('GET', `${FLOW}/v1beta2/${LEVELS}`);
    const names = levels.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
    expect(names).toEqual(expect.arrayContaining(['catch-all', 'exempt', 'global-default', 'system']));
    const { body: high } = await send('GET', `${FLOW}/v1beta1/${LEVELS}/workload-high`);
    expect(high.spec.limited.assuredConcurrencyShares).toBe(40);
    const [{ apiVersion, fieldsV1 }] = high.metadata.managedFields;
    expect(apiVersion).toBe('flowcontrol.apiserver.k8s.io/v1beta2');
    expect(Object.keys(fieldsV1['f:spec']['f:limited'])).toContain('f:assuredConcurrencyShares');
    const { body: flow } = await send('GET', `${FLOW}/v1beta2/flowschemas/catch-all`);
    expect(flow.metadata.managedFields.map((entry: { apiVersion: string }) => entry.apiVersion)).toEqual(
      flow.metadata.managedFields.map(() => 'flowcontrol.apiserver.k8s.io/v1beta2'),
    );
  });

  test('has its initial objects in v1 where v1 is served, also after another release was emulated', async () => {
    await emulate('1.24').send('GET', `${FLOW}/v1beta2/${LEVELS}/system`);
    const { body } = await emulate('1.31').send('GET', `${FLOW}/v1/${LEVELS}/system`);
    expect(body.metadata.managedFields[0].apiVersion).toBe('flowcontrol.apiserver.k8s.io/v1');
    expect(body.spec.limited.nominalConcurrencyShares).toBe(30);
  });

  test('reports a conflict when a client applies a server-owned level', async () => {
    const { send } = emulate('1.24');
    const intent = { apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta2', kind: 'PriorityLevelConfiguration' };
    const { code, body } = await send(
      'PATCH',
      `${FLOW}/v1beta2/${LEVELS}/system?fieldManager=me`,
      { ...intent, ...level('system', { assuredConcurrencyShares: 1 }) },
      'application/apply-patch+yaml',
    );
    expect([code, body.message]).toEqual([409, expect.stringContaining('.spec.limited.assuredConcurrencyShares')]);
  });

  test.each(['1.22', '1.24', '1.28'] as const)(
    'reports in release %s whether the level of a flow exists',
    async (release) => {
      const { send } = emulate(release);
      const version = release === '1.22' ? 'v1beta1' : 'v1beta2';
      const spec = { priorityLevelConfiguration: { name: 'mine' }, matchingPrecedence: 500, rules: [] };
      await send('POST', `${FLOW}/${version}/flowschemas`, { metadata: { name: 'a' }, spec });
      const conditions = async () => {
        const { body } = await send('GET', `${FLOW}/${version}/flowschemas/a`);
        return body.status.conditions.map(({ type, status }: { type: string; status: string }) => `${type} ${status}`);
      };
      expect(await conditions()).toEqual(['Dangling True']);
      expect((await send('POST', `${FLOW}/${version}/${LEVELS}`, level('mine', {}))).code).toBe(201);
      expect(await conditions()).toEqual(['Dangling False']);
    },
  );

  test('reports an invalid field under its name in the version', async () => {
    const { send } = emulate('1.28');
    const wrong = await send('POST', `${FLOW}/v1beta2/${LEVELS}`, level('a', { assuredConcurrencyShares: -1 }));
    expect(wrong.body.details.causes[0]).toEqual({
      reason: 'FieldValueInvalid',
      message: 'Invalid value: -1: must be a non-negative integer',
      field: 'spec.limited.assuredConcurrencyShares',
    });
    const later = await send('POST', `${FLOW}/v1beta3/${LEVELS}`, level('a', { nominalConcurrencyShares: -1 }));
    expect(later.body.details.causes[0].field).toBe('spec.limited.nominalConcurrencyShares');
  });

  test('keeps mandatory levels fixed in every version', async () => {
    const { send } = emulate('1.24');
    const path = `${FLOW}/v1beta2/${LEVELS}/catch-all`;
    const { code } = await send('PATCH', path, { spec: { limited: { assuredConcurrencyShares: 6 } } }, MERGE);
    expect(code).toBe(422);
    expect((await send('PATCH', path, { metadata: { labels: { a: 'b' } } }, MERGE)).code).toBe(200);
  });

  test('prints shares in tables under the name of the version', async () => {
    const { cluster } = emulate('1.24');
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const request = new Request(`http://c${FLOW}/v1beta2/${LEVELS}/system`, { headers: { accept } });
    const table = (await (await createFetchHandler(cluster)(request)).json()) as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    const place = table.columnDefinitions.findIndex(({ name }) => name === 'AssuredConcurrencyShares');
    expect(table.rows[0]?.cells[place]).toBe(30);
  });
});

describe('levels with zero shares', () => {
  const ZERO = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

  test('marks levels with zero shares by an annotation in v1beta3', async () => {
    const { send } = emulate('1.30');
    await send('POST', `${FLOW}/v1/${LEVELS}`, level('none', { nominalConcurrencyShares: 0 }));
    const { body: shown } = await send('GET', `${FLOW}/v1beta3/${LEVELS}/none`);
    expect([shown.spec.limited.nominalConcurrencyShares, shown.metadata.annotations]).toEqual([0, { [ZERO]: '' }]);
    // The object can be sent back as it was read.
    expect((await send('PUT', `${FLOW}/v1beta3/${LEVELS}/none`, shown)).code).toBe(200);
    const { body: stored } = await send('GET', `${FLOW}/v1/${LEVELS}/none`);
    expect([stored.spec.limited.nominalConcurrencyShares, stored.metadata.annotations]).toEqual([0, undefined]);
  });

  test('creates levels with zero shares in v1beta3 with the annotation', async () => {
    const { send } = emulate('1.30');
    const zero = { nominalConcurrencyShares: 0 };
    await send('POST', `${FLOW}/v1beta3/${LEVELS}`, level('unannotated', zero));
    await send('POST', `${FLOW}/v1beta3/${LEVELS}`, level('annotated', zero, { annotations: { [ZERO]: '' } }));
    const shares = async (name: string) =>
      (await send('GET', `${FLOW}/v1/${LEVELS}/${name}`)).body.spec.limited.nominalConcurrencyShares;
    expect([await shares('unannotated'), await shares('annotated')]).toEqual([30, 0]);
    const inV1 = await send('POST', `${FLOW}/v1/${LEVELS}`, level('wrong', zero, { annotations: { [ZERO]: '' } }));
    expect(inV1.body.message).toContain(`annotation '${ZERO}' is forbidden`);
  });
});

describe('EndpointSlices in an older release', () => {
  const HOST = 'kubernetes.io/hostname';
  const slices = (version: string, name = '') =>
    `/apis/discovery.k8s.io/${version}/namespaces/default/endpointslices${name && `/${name}`}`;
  const made = (endpoint: object) => ({
    metadata: { name: 'a' },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
  });

  test('keeps the topology of an EndpointSlice until it is written in v1, which has none', async () => {
    const { send } = emulate('1.24');
    await send('POST', slices('v1beta1'), made({ topology: { rack: '7' } }));
    const { body: inV1 } = await send('GET', slices('v1', 'a'));
    expect(inV1.endpoints[0].deprecatedTopology).toEqual({ rack: '7' });
    await send('PATCH', slices('v1', 'a'), { metadata: { labels: { a: 'b' } } }, MERGE);
    expect((await send('GET', slices('v1beta1', 'a'))).body.endpoints[0].topology).toEqual({ rack: '7' });
    const [endpoint] = inV1.endpoints;
    await send('PATCH', slices('v1', 'a'), { endpoints: [{ ...endpoint, addresses: ['10.0.0.2'] }] }, MERGE);
    expect((await send('GET', slices('v1beta1', 'a'))).body.endpoints[0].topology).toBeUndefined();
  });

  test('keeps the node name in the topology of an EndpointSlice', async () => {
    const { send } = emulate('1.24');
    await send('POST', slices('v1beta1'), made({ topology: { [HOST]: 'n1' } }));
    const { body } = await send('GET', slices('v1', 'a'));
    const [endpoint] = body.endpoints;
    const written = (node: string) => [{ ...endpoint, addresses: ['10.0.0.2'], deprecatedTopology: { [HOST]: node } }];
    const kept = await send('PATCH', slices('v1', 'a'), { endpoints: written('n1') }, MERGE);
    expect(kept.body.endpoints[0]).toMatchObject({ addresses: ['10.0.0.2'], nodeName: 'n1' });
    const other = await send('POST', slices('v1'), {
      ...made({ deprecatedTopology: { [HOST]: 'n9' } }),
      metadata: { name: 'b' },
    });
    expect(other.body.endpoints[0]).toEqual({ addresses: ['10.0.0.1'], conditions: {} });
  });

  test('allows an EndpointSlice topology of at most sixteen labels', async () => {
    const { send } = emulate('1.24');
    const topology = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']));
    const { body } = await send('POST', slices('v1beta1'), made({ topology }));
    expect(body.details.causes).toEqual([
      {
        reason: 'FieldValueTooMany',
        message: 'Too many: 17: must have at most 16 items',
        field: 'endpoints[0].deprecatedTopology',
      },
    ]);
  });
});

describe('HorizontalPodAutoscalers in an older release', () => {
  const scalers = (version: string, name = '') =>
    `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers${name && `/${name}`}`;
  const spec = { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 };
  const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';

  test('keeps an autoscaler behavior that v2beta1 does not have, also on a status update', async () => {
    const { send } = emulate('1.24');
    const behavior = { scaleDown: { stabilizationWindowSeconds: 7 } };
    await send('POST', scalers('v2'), { metadata: { name: 'a' }, spec: { ...spec, behavior } });
    const { body: old } = await send('GET', scalers('v2beta1', 'a'));
    expect(JSON.parse(old.metadata.annotations[BEHAVIOR]).ScaleDown.StabilizationWindowSeconds).toBe(7);
    await send('PUT', scalers('v2beta1', 'a'), { ...old, spec: { ...old.spec, maxReplicas: 4 } });
    const { body: status } = await send('GET', scalers('v2beta1', 'a'));
    const { [BEHAVIOR]: _gone, ...annotations } = status.metadata.annotations;
    const currentMetrics = [{ type: 'Resource', resource: { name: 'cpu', currentAverageValue: '3' } }];
    await send('PUT', `${scalers('v2beta1', 'a')}/status`, {
      ...status,
      metadata: { ...status.metadata, annotations },
      status: { ...status.status, currentReplicas: 2, currentMetrics },
    });
    const { body: now } = await send('GET', scalers('v2', 'a'));
    expect(now.metadata.annotations).toBeUndefined();
    expect(now.spec).toMatchObject({ maxReplicas: 4, behavior: { scaleDown: { stabilizationWindowSeconds: 7 } } });
    expect(now.status).toMatchObject({
      currentReplicas: 2,
      currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageValue: '3' } } }],
    });
  });

  test('sets the default metric of a HorizontalPodAutoscaler in every version', async () => {
    const { send } = emulate('1.22');
    const inBeta = await send('POST', scalers('v2beta1'), { metadata: { name: 'a' }, spec });
    expect(inBeta.body.spec.metrics).toEqual([
      { type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 80 } },
    ]);
    expect((await send('GET', scalers('v1', 'a'))).body.spec.targetCPUUtilizationPercentage).toBe(80);
    expect((await send('GET', scalers('v2', 'a'))).code).toBe(404);
  });

  test('serves HorizontalPodAutoscalers of an older release as protobuf', async () => {
    const { cluster, send } = emulate('1.24');
    await send('POST', scalers('v2beta1'), { metadata: { name: 'a' }, spec });
    const handle = createFetchHandler(cluster, { codecs: [protobuf] });
    const headers = { accept: 'application/vnd.kubernetes.protobuf' };
    const response = await handle(new Request(`http://c${scalers('v2beta1', 'a')}`, { headers }));
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect([response.status, new TextDecoder().decode(bytes.subarray(0, 40))]).toEqual([
      200,
      expect.stringContaining('autoscaling/v2beta1'),
    ]);
  });
});

describe('PodDisruptionBudgets of v1beta1', () => {
  const budgets = (version: string, name = '') =>
    `/apis/policy/${version}/namespaces/default/poddisruptionbudgets${name && `/${name}`}`;

  test('accepts any status of a v1beta1 PodDisruptionBudget', async () => {
    const { send } = emulate('1.24');
    await send('POST', budgets('v1beta1'), { metadata: { name: 'a' }, spec: { minAvailable: 1 } });
    const write = async (version: string) => {
      const { body } = await send('GET', budgets(version, 'a'));
      const status = { ...body.status, currentHealthy: -1 };
      return (await send('PUT', `${budgets(version, 'a')}/status`, { ...body, status })).code;
    };
    expect([await write('v1beta1'), await write('v1')]).toEqual([200, 422]);
  });

  test('matches no pods with an empty selector of a v1beta1 PodDisruptionBudget, unlike in v1', async () => {
    const { send } = emulate('1.24');
    const containers = [{ name: 'c', image: 'i' }];
    await send('POST', '/api/v1/namespaces/default/pods', { metadata: { name: 'p' }, spec: { containers } });
    const ready = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await send('PATCH', '/api/v1/namespaces/default/pods/p/status', { status: ready }, MERGE);
    const evict = () =>
      send('POST', '/api/v1/namespaces/default/pods/p/eviction?dryRun=All', {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: 'p' },
      });
    const spec = { minAvailable: 1, selector: {} };
    await send('POST', budgets('v1beta1'), { metadata: { name: 'a' }, spec });
    expect((await evict()).code).toBe(201);
    await send('POST', budgets('v1'), { metadata: { name: 'b' }, spec });
    expect((await evict()).code).toBe(429);
  });

  test('merges selectors of a v1beta1 PodDisruptionBudget in a strategic patch, unlike in v1', async () => {
    const { send } = emulate('1.24');
    const spec = { selector: { matchLabels: { a: '1' } } };
    const patched = async (version: string) => {
      await send('POST', budgets(version), { metadata: { name: version }, spec });
      const patch = { spec: { selector: { matchLabels: { b: '2' } } } };
      const { body } = await send('PATCH', budgets(version, version), patch, 'application/strategic-merge-patch+json');
      return body.spec.selector.matchLabels;
    };
    expect(await patched('v1beta1')).toEqual({ a: '1', b: '2' });
    expect(await patched('v1')).toEqual({ b: '2' });
  });
});

test('validates events of v1beta1 like core events', async () => {
  const { send } = emulate('1.24');
  const events = (version: string) => `/apis/events.k8s.io/${version}/namespaces/default/events`;
  const event = { metadata: { name: 'a' }, regarding: { namespace: 'default' }, type: 'Odd', deprecatedCount: 2 };
  expect((await send('POST', events('v1beta1'), event)).code).toBe(201);
  expect((await send('POST', events('v1'), { ...event, metadata: { name: 'b' } })).code).toBe(422);
  const { body } = await send('GET', '/api/v1/namespaces/default/events/a');
  expect(body).toMatchObject({ involvedObject: { namespace: 'default' }, count: 2, type: 'Odd' });
  const selected = await send('GET', `${events('v1beta1')}?fieldSelector=regarding.namespace%3Ddefault`);
  expect(selected.body.items).toHaveLength(1);
});

test('allocates service addresses in a release without IPAddress objects', async () => {
  const { send } = emulate('1.24');
  const { code, body } = await send('POST', '/api/v1/namespaces/default/services', {
    metadata: { name: 'web' },
    spec: { ports: [{ port: 80 }] },
  });
  expect([code, body.spec.clusterIP]).toEqual([201, expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/)]);
});

test('describes the kinds of the release in OpenAPI', async () => {
  const { send } = emulate('1.24');
  const { body } = await send('GET', '/openapi/v2');
  const { definitions, paths } = body;
  expect(Object.keys(definitions)).toEqual(
    expect.arrayContaining(['io.k8s.api.batch.v1beta1.CronJob', 'io.k8s.api.autoscaling.v2beta1.MetricSpec']),
  );
  expect(definitions['io.k8s.api.batch.v1beta1.JobTemplateSpec'].properties.spec.$ref).toBe(
    '#/definitions/io.k8s.api.batch.v1.JobSpec',
  );
  expect(paths).toHaveProperty('/apis/flowcontrol.apiserver.k8s.io/v1beta2/flowschemas');
  expect(paths).not.toHaveProperty('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas');
  const limited = definitions['io.k8s.api.flowcontrol.v1beta2.LimitedPriorityLevelConfiguration'];
  expect(Object.keys(limited.properties)).toContain('assuredConcurrencyShares');
});

test('explains why a newer kind is not served', async () => {
  const { cluster } = emulate('1.22');
  await expect(cluster.api(HorizontalPodAutoscaler).list()).rejects.toThrow(
    'HorizontalPodAutoscaler in autoscaling/v2 was introduced in release 1.23; this cluster emulates release 1.22',
  );
  expect(() => cluster.kind('batch/v2', 'CronJob')).toThrow(TypeError);
});

test('has a complete lifecycle before the reference release for each former version', () => {
  for (const { lifecycle, kind, version } of removedKinds) {
    const { introducedIn = '', deprecatedIn = '', removedIn = '', servedByDefault: onByDefault } = lifecycle ?? {};
    const name = `${version} ${kind}`;
    expect(compareReleases(introducedIn, deprecatedIn), name).toBeLessThan(0);
    expect(compareReleases(deprecatedIn, removedIn), name).toBeLessThan(0);
    expect(compareReleases(OLDEST_RELEASE, removedIn), name).toBeLessThan(0);
    expect(compareReleases(removedIn, REFERENCE_RELEASE), name).toBeLessThanOrEqual(0);
    expect(onByDefault, name).toBe(true);
  }
  expect(removedKinds).toHaveLength(14);
});

test('emulates the same release in forks', async () => {
  const { cluster } = emulate('1.24');
  const fork = cluster.fork();
  expect(fork.release).toBe('1.24');
  const items = await fork.api(fork.kind('flowcontrol.apiserver.k8s.io/v1beta2', 'FlowSchema')).list();
  expect(items.items.length).toBeGreaterThan(5);
});

describe('kinds whose storage version the release does not serve', () => {
  const on = (apiVersion: string, gate?: string) => ({
    runtimeConfig: apiVersion,
    ...(gate === undefined ? {} : { featureGates: { [gate]: true } }),
  });

  test.each([
    ['1.22', 'storage.k8s.io/v1beta1', 'csistoragecapacities', undefined, { storageClassName: 'fast' }],
    ['1.29', 'storage.k8s.io/v1alpha1', 'volumeattributesclasses', 'VolumeAttributesClass', volumeClass()],
    ['1.31', 'resource.k8s.io/v1alpha3', 'deviceclasses', 'DynamicResourceAllocation', { spec: {} }],
    ['1.32', 'resource.k8s.io/v1beta1', 'deviceclasses', 'DynamicResourceAllocation', { spec: {} }],
    ['1.31', 'networking.k8s.io/v1beta1', 'servicecidrs', undefined, { spec: { cidrs: ['10.9.0.0/24'] } }],
    ['1.32', 'coordination.k8s.io/v1alpha2', 'leasecandidates', 'CoordinatedLeaderElection', candidate()],
  ] as const)(
    'creates and reads objects in release %s, which does not serve the storage version: %s %s',
    async (release, apiVersion, plural, gate, body) => {
      const { send } = emulate(release, on(apiVersion, gate));
      const isNamespaced = ['csistoragecapacities', 'leasecandidates'].includes(plural);
      const path = `/apis/${apiVersion}${isNamespaced ? '/namespaces/default' : ''}/${plural}`;
      const made = await send('POST', path, { metadata: { name: 'a' }, ...body });
      expect([made.code, made.body.apiVersion], JSON.stringify(made.body)).toEqual([201, apiVersion]);
      const changed = await send('PATCH', `${path}/a`, { metadata: { labels: { a: 'b' } } }, MERGE);
      expect([changed.code, changed.body.metadata.labels]).toEqual([200, { a: 'b' }]);
      expect((await send('GET', path)).body.items).toContainEqual(expect.objectContaining(body));
      expect((await send('DELETE', `${path}/a`)).code).toBe(200);
    },
  );

  test('validates requests by a v1beta1 policy', async () => {
    const { send } = emulate('1.28', on('admissionregistration.k8s.io/v1beta1'));
    const path = '/apis/admissionregistration.k8s.io/v1beta1/validatingadmissionpolic';
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
    await send('POST', `${path}ies`, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: "object.metadata.name != 'no'" }],
      },
    });
    const bound = await send('POST', `${path}ybindings`, {
      metadata: { name: 'b' },
      spec: { policyName: 'p', validationActions: ['Deny'] },
    });
    expect(bound.code).toBe(201);
    const create = (name: string) => send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name } });
    expect([(await create('yes')).code, (await create('no')).code]).toEqual([201, 422]);
  });

  function volumeClass(): object {
    return { driverName: 'd.example.com', parameters: { a: 'b' } };
  }

  function candidate(): object {
    return {
      spec: { leaseName: 'l', binaryVersion: '1.0.0', emulationVersion: '1.0.0', strategy: 'OldestEmulationVersion' },
    };
  }
});
