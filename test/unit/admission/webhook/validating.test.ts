/** Validating webhooks in a cluster. */
import { ConfigMap, Namespace, Pod, Service } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { allow, CONFIG_MAPS, hookCluster, rule, validateWith } from './hooks.js';

describe('a validating webhook', () => {
  test('receives the review that the reference server sends', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    await validateWith(cluster, 'one', { service: 'look' });
    const maps = cluster.api(ConfigMap, 'default');
    await maps.create({ metadata: { name: 'a', labels: { b: 'c' } }, data: { k: 'v' } });
    const [call] = calls;
    expect(Object.keys(call?.review)).toEqual(['kind', 'apiVersion', 'request']);
    expect(call?.review).toMatchObject({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' });
    const { uid, object, ...request } = call?.review.request ?? {};
    expect(uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(request).toEqual({
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      requestKind: { group: '', version: 'v1', kind: 'ConfigMap' },
      requestResource: { group: '', version: 'v1', resource: 'configmaps' },
      name: 'a',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'system:admin', groups: ['system:masters', 'system:authenticated'] },
      oldObject: null,
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    });
    expect(Object.keys(call?.review.request)).toEqual([
      'uid',
      'kind',
      'resource',
      'requestKind',
      'requestResource',
      'name',
      'namespace',
      'operation',
      'userInfo',
      'object',
      'oldObject',
      'dryRun',
      'options',
    ]);
    expect(Object.keys(object)).toEqual(['kind', 'apiVersion', 'metadata', 'data']);
    expect(object.metadata).toMatchObject({ name: 'a', namespace: 'default', labels: { b: 'c' } });
    expect(Object.keys(object.metadata)).not.toContain('resourceVersion');
    expect(object.metadata.uid).not.toBe('');
  });

  test("receives names of the cluster's dialect", async () => {
    const { cluster, calls } = hookCluster({ look: allow }, {}, { dialect: 'orch' });
    await validateWith(cluster, 'one', { service: 'look' });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    expect(calls[0]?.review).toMatchObject({
      apiVersion: 'admission.orch.io/v1',
      request: { options: { apiVersion: 'meta.orch.io/v1' } },
    });
  });

  test('receives both objects of an update, and the old object of a deletion', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    const maps = cluster.api(ConfigMap, 'default');
    await maps.create({ metadata: { name: 'a' }, data: { k: '1' } });
    await validateWith(cluster, 'one', { service: 'look' });
    await maps.update({ metadata: { name: 'a' }, data: { k: '2' } });
    await maps.delete('a');
    expect(calls.map(({ review }) => review.request)).toMatchObject([
      { operation: 'UPDATE', object: { data: { k: '2' } }, oldObject: { data: { k: '1' } } },
      {
        operation: 'DELETE',
        object: null,
        oldObject: { data: { k: '2' } },
        name: 'a',
        options: { kind: 'DeleteOptions' },
      },
    ]);
  });

  test('receives the generated name', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    await validateWith(cluster, 'one', { service: 'look' });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { generateName: 'a-' } });
    expect(calls[0]?.review.request.name).toBe(made.metadata.name);
  });
});

describe('a webhook denial', () => {
  async function rejection(response: object) {
    const { cluster } = hookCluster({ no: () => ({ allowed: false, ...response }) });
    await validateWith(cluster, 'one', { service: 'no' });
    const failure = await cluster
      .api(ConfigMap, 'default')
      .create({ metadata: { name: 'a' } })
      .catch((error) => error);
    const { kind: _kind, apiVersion: _apiVersion, ...status } = failure.status;
    return status;
  }
  const denied = 'admission webhook "no.example.com" denied the request';

  test.each([
    ['no status', {}, { message: `${denied} without explanation`, code: 400, metadata: {}, status: 'Failure' }],
    [
      'a message',
      { status: { message: 'too bad' } },
      { message: `${denied}: too bad`, code: 400, metadata: {}, status: 'Failure' },
    ],
    [
      'a reason',
      { status: { reason: 'Forbidden', code: 403 } },
      { message: `${denied}: Forbidden`, reason: 'Forbidden', code: 403, metadata: {}, status: 'Failure' },
    ],
    [
      'a success',
      { status: { status: 'Success', code: 200, message: 'x', reason: 'Odd' } },
      { message: `${denied}: x`, reason: 'Odd', code: 400, metadata: {}, status: 'Failure' },
    ],
    [
      'details',
      { status: { code: 409, details: { name: 'n', causes: [{ message: 'm' }], retryAfterSeconds: 3 } } },
      {
        message: `${denied} without explanation`,
        details: { name: 'n', causes: [{ message: 'm' }], retryAfterSeconds: 3 },
        code: 409,
        metadata: {},
        status: 'Failure',
      },
    ],
  ])('produces the expected Status for a response with %s', async (_name, response, status) => {
    expect(await rejection(response)).toEqual(status);
  });

  test('leaves nothing stored', async () => {
    const { cluster } = hookCluster({ no: () => ({ allowed: false }) });
    await validateWith(cluster, 'one', { service: 'no' });
    const maps = cluster.api(ConfigMap, 'default');
    await expect(maps.create({ metadata: { name: 'a' } })).rejects.toMatchObject({ code: 400 });
    expect(await maps.find('a')).toBeUndefined();
  });
});

describe('a failing webhook call', () => {
  const url = 'https://gone.hooks.svc:443/gone?timeout=10s';

  test('rejects the request or not, according to failurePolicy', async () => {
    const { cluster } = hookCluster({});
    const maps = cluster.api(ConfigMap, 'default');
    await validateWith(cluster, 'open', { service: 'gone', failurePolicy: 'Ignore' });
    await maps.create({ metadata: { name: 'a' } });
    await validateWith(cluster, 'shut', { service: 'gone' });
    const why = `failed calling webhook "gone.example.com": failed to call webhook: Post "${url}": service "gone" not found`;
    await expect(maps.create({ metadata: { name: 'b' } })).rejects.toMatchObject({
      status: {
        code: 500,
        reason: 'InternalError',
        message: `Internal error occurred: ${why}`,
        details: { causes: [{ message: why }] },
      },
    });
  });

  test.each([
    [{ clusterIP: 'None', ports: [{ port: 443 }] }, 'cannot route to service with ClusterIP "None"'],
    [{ ports: [{ port: 80 }] }, 'no service port 443 found for service "gone"'],
  ])('reports why a service cannot be called: %j', async (spec, why) => {
    const { cluster } = hookCluster({});
    await cluster.api(Namespace).create({ metadata: { name: 'hooks' } });
    await cluster.api(Service, 'hooks').create({ metadata: { name: 'gone' }, spec } as never);
    await validateWith(cluster, 'shut', { service: 'gone' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'b' } })).rejects.toThrow(
      `Post "${url}": ${why}`,
    );
  });

  test.each<[string, (review: { request: { uid: string } }) => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
      'failed to call webhook: Post "URL": boom',
    ],
    ['rejects', () => Promise.reject(new Error('later')), 'failed to call webhook: Post "URL": later'],
    [
      'throws a value that is not an error',
      () => {
        throw 'text';
      },
      'failed to call webhook: Post "URL": text',
    ],
    [
      'returns nothing',
      () => undefined,
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    ],
    [
      'returns a string',
      () => 'yes',
      `failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
    ],
    ['returns a function', () => () => 1, 'failed to call webhook: Post "URL": a function is no JSON'],
    [
      'returns a review without a response',
      () => ({}),
      'received invalid webhook response: webhook response was absent',
    ],
    [
      'returns the uid of another request',
      () => ({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid: 'x', allowed: true } }),
      'received invalid webhook response: expected response.uid="UID", got "x"',
    ],
    [
      'returns a review without a kind',
      ({ request }) => ({ response: { uid: request.uid, allowed: true } }),
      'received invalid webhook response: expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=',
    ],
    [
      'returns another version',
      () => ({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1', response: {} }),
      'failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion',
    ],
    [
      'returns a field of the wrong type',
      ({ request }) => ({ response: { uid: request.uid, allowed: 'yes' } }),
      'failed to call webhook: json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool',
    ],
    [
      'returns a patch',
      ({ request }) => ({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { uid: request.uid, allowed: true, patch: 'W10=', patchType: 'JSONPatch' },
      }),
      'received invalid webhook response: validating webhook may not return response.patch',
    ],
  ])('reports a failing call if the webhook %s', async (_name, result, why) => {
    const { cluster, calls } = hookCluster({}, { odd: result as never });
    await validateWith(cluster, 'one', { service: 'odd' });
    const failure = await cluster
      .api(ConfigMap, 'default')
      .create({ metadata: { name: 'a' } })
      .catch((error) => error);
    const message = failure.message
      .replace('https://odd.hooks.svc:443/odd?timeout=10s', 'URL')
      .replace(calls[0]?.review.request.uid, 'UID');
    expect(message).toBe(`Internal error occurred: failed calling webhook "odd.example.com": ${why}`);
  });

  test('abandons a webhook call after its timeout', async () => {
    const { cluster } = hookCluster({ slow: () => new Promise(() => undefined) });
    await validateWith(cluster, 'one', { service: 'slow', timeoutSeconds: 3 });
    const made = cluster
      .api(ConfigMap, 'default')
      .create({ metadata: { name: 'a' } })
      .catch((error) => error);
    await cluster.clock.advance(2999);
    expect(cluster.clock.pending).toBeGreaterThan(0);
    await cluster.clock.advance(1);
    expect((await made).message).toBe(
      'Internal error occurred: failed calling webhook "slow.example.com": failed to call webhook: Post "https://slow.hooks.svc:443/slow?timeout=3s": context deadline exceeded',
    );
    expect(cluster.clock.pending).toBe(0);
  });

  test('does not stop a request if failurePolicy is Ignore', async () => {
    const { cluster } = hookCluster({ slow: () => new Promise(() => undefined) });
    await validateWith(cluster, 'one', { service: 'slow', failurePolicy: 'Ignore' });
    const made = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await cluster.clock.advance(10_000);
    expect((await made).metadata.name).toBe('a');
  });
});

test('calls all validating webhooks concurrently, and returns the first rejection', async () => {
  const doors = new Map<string, (value: object) => void>();
  const wait = (name: string) => () => new Promise<object>((resolve) => doors.set(name, resolve));
  const { cluster } = hookCluster({ a: wait('a'), b: wait('b'), c: wait('c') });
  await validateWith(cluster, 'one', { service: 'a' }, { service: 'b' });
  await validateWith(cluster, 'two', { service: 'c' });
  const made = cluster
    .api(ConfigMap, 'default')
    .create({ metadata: { name: 'x' } })
    .catch((error) => error.message);
  await cluster.clock.advance(0);
  expect([...doors.keys()]).toEqual(['a', 'b', 'c']);
  doors.get('c')?.({ allowed: false, status: { message: 'third' } });
  await cluster.clock.advance(0);
  doors.get('a')?.({ allowed: false, status: { message: 'first' } });
  doors.get('b')?.({ allowed: true });
  expect(await made).toBe('admission webhook "c.example.com" denied the request: third');
});

test('calls a webhook with sideEffects NoneOnDryRun in a dry run', async () => {
  const { cluster, calls } = hookCluster({ look: allow });
  await validateWith(cluster, 'one', { service: 'look', sideEffects: 'NoneOnDryRun' });
  await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } }, { dryRun: true } as never);
  expect(calls[0]?.review.request).toMatchObject({ dryRun: true, options: { dryRun: ['All'] } });
});

test('sends v1beta1 reviews to a webhook that prefers them, and accepts a response without uid', async () => {
  const { cluster, calls } = hookCluster(
    {},
    { old: () => ({ response: { allowed: false, status: { message: 'no' } } }) },
  );
  await validateWith(cluster, 'one', { service: 'old', admissionReviewVersions: ['v2', 'v1beta1', 'v1'] });
  await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(
    'admission webhook "old.example.com" denied the request: no',
  );
  expect(calls[0]?.review.apiVersion).toBe('admission.k8s.io/v1beta1');
});

test('passes warnings of a webhook to the client', async () => {
  const { cluster } = hookCluster({ warn: () => ({ allowed: true, warnings: ['old stuff', ''] }) });
  await validateWith(cluster, 'one', { service: 'warn' });
  const warnings: string[] = [];
  using _recorder = cluster.use(async (_request, next) => {
    const response = await next();
    if ('warnings' in response) warnings.push(...response.warnings);
    return response;
  });
  await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
  expect(warnings).toEqual(['old stuff']);
});

test('limits the warnings of a request', async () => {
  let calls = 0;
  const warnings = () => Array.from({ length: 1000 }, (_, at) => `${calls}-${at} ${'x'.repeat(at === 0 ? 1e6 : 100)}`);
  const { cluster } = hookCluster({
    warn: () => {
      calls++;
      return { allowed: true, warnings: ['again', ...warnings()] };
    },
  });
  const configMaps = cluster.api(ConfigMap, 'default');
  for (let at = 0; at < 30; at++) await configMaps.create({ metadata: { name: `a${at}` } });
  await validateWith(cluster, 'one', { service: 'warn', rules: [rule('', 'v1', 'configmaps', ['DELETE'])] });
  const received: string[] = [];
  using _recorder = cluster.use(async (_request, next) => {
    const response = await next();
    if ('warnings' in response) received.push(...response.warnings);
    return response;
  });
  await configMaps.deleteCollection();
  expect(calls).toBe(30);
  expect(received.slice(0, 3)).toEqual(['again', `1-0 ${'x'.repeat(8192 - 4)}`, `1-1 ${'x'.repeat(100)}`]);
  expect(received.filter((text) => text === 'again')).toHaveLength(1);
  expect(received.join('').length).toBeLessThan(1024 * 1024 + 8192);
});

test('isolates the review of one webhook from changes by another', async () => {
  const { cluster, calls } = hookCluster({
    vandal: (review) => {
      review.request.object.data = { gone: 'yes' };
      delete review.request.userInfo;
      return { allowed: true };
    },
    look: allow,
  });
  await validateWith(cluster, 'one', { service: 'vandal' }, { service: 'look' });
  const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { k: 'v' } });
  expect(made.data).toEqual({ k: 'v' });
  expect(calls[1]?.review.request.object.data).toEqual({ k: 'v' });
});

describe('webhook selection', () => {
  test('calls a webhook according to its rules and selectors', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    await cluster.api(Namespace).create({ metadata: { name: 'marked', labels: { watch: 'yes' } } });
    await validateWith(cluster, 'one', {
      service: 'look',
      namespaceSelector: { matchLabels: { watch: 'yes' } },
      objectSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] },
      rules: [CONFIG_MAPS, rule('', 'v1', 'pods', ['CREATE'])],
    });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await cluster.api(ConfigMap, 'marked').create({ metadata: { name: 'b', labels: { skip: '' } } });
    await cluster.api(ConfigMap, 'marked').create({ metadata: { name: 'c' } });
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await cluster.api(Pod, 'marked').create({ metadata: { name: 'd' }, spec });
    await cluster.api(Pod, 'marked').delete('d');
    expect(calls.map(({ review }) => review.request.name)).toEqual(['c', 'd']);
  });

  test('calls a webhook according to its match conditions', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    const matchConditions = [
      { name: 'not-me', expression: "request.userInfo.username != 'me'" },
      { name: 'has-data', expression: "has(object.data) && object.data.k == 'v'" },
    ];
    await validateWith(cluster, 'one', { service: 'look', matchConditions });
    const maps = cluster.api(ConfigMap, 'default');
    await maps.create({ metadata: { name: 'a' } });
    await maps.create({ metadata: { name: 'b' }, data: { k: 'v' } });
    await expect(maps.create({ metadata: { name: 'c' }, data: { x: 'v' } })).rejects.toMatchObject({
      code: 403,
      message: `configmaps "c" is forbidden: expression 'has(object.data) && object.data.k == 'v'' resulted in error: no such key: k`,
    });
    expect(calls.map(({ review }) => review.request.name)).toEqual(['b']);
  });

  test('skips a webhook whose match condition fails if failurePolicy is Ignore', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    const matchConditions = [{ name: 'odd', expression: "object.data.k == 'v'" }];
    await validateWith(cluster, 'one', { service: 'look', matchConditions, failurePolicy: 'Ignore' });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'c' }, data: { x: 'v' } });
    expect(calls).toEqual([]);
  });

  test('never calls webhooks for webhook configurations', async () => {
    const { cluster } = hookCluster({ no: () => ({ allowed: false }) });
    await validateWith(cluster, 'one', { service: 'no', rules: [rule('*', '*', '*/*')] });
    await validateWith(cluster, 'two', { service: 'no' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow('denied');
  });
});
