/** Mutating webhooks in a cluster. */
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { define, version } from '../../crd/widgets.js';
import { allow, hookCluster, mutateWith, patching, type ReviewResult, rule, validateWith } from './hooks.js';

const POD = { spec: { containers: [{ name: 'c', image: 'i' }] } };

/** Appends a letter to the value that earlier webhooks wrote. */
const signing =
  (letter: string): ReviewResult =>
  (review) => {
    const signed = review.request.object.data?.by ?? '';
    const operation =
      review.request.object.data === undefined
        ? { op: 'add', path: '/data', value: { by: letter } }
        : { op: 'add', path: '/data/by', value: signed + letter };
    return { allowed: true, patchType: 'JSONPatch', patch: btoa(JSON.stringify([operation])) };
  };

test('webhooks that together take longer than a write may take are not all called', async () => {
  const { cluster, calls } = hookCluster({
    slow: () => new Promise(() => undefined),
  });
  const ignored = { service: 'slow', timeoutSeconds: 20, failurePolicy: 'Ignore' };
  await mutateWith(
    cluster,
    'one',
    ...['a', 'b', 'c', 'd'].map((name) => ({ ...ignored, name: `${name}.example.com` })),
  );
  const creating = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
  const refused = expect(creating).rejects.toMatchObject({ code: 504, reason: 'Timeout' });
  await cluster.clock.advance(60_000);
  await refused;
  expect(calls.length).toBe(2);
  expect(await cluster.api(ConfigMap, 'default').find('a')).toBeUndefined();
});

describe('a webhook patch', () => {
  test('changes the object before it is validated and stored', async () => {
    const { cluster, calls } = hookCluster({
      label: patching({ op: 'add', path: '/metadata/labels', value: { a: 'b' } }),
      look: allow,
    });
    await mutateWith(cluster, 'one', { service: 'label' });
    await validateWith(cluster, 'two', { service: 'look' });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { k: 'v' } });
    expect(made).toMatchObject({ metadata: { labels: { a: 'b' } }, data: { k: 'v' } });
    expect(calls.map(({ review }) => review.request.object.metadata.labels)).toEqual([undefined, { a: 'b' }]);
  });

  test('applies to an object that has no name, uid or creation time yet', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    await mutateWith(cluster, 'one', { service: 'look' });
    await cluster.api(ConfigMap, 'default').create({ metadata: { generateName: 'a-' } });
    const { request } = calls[0]?.review ?? {};
    expect(Object.keys(request)).not.toContain('name');
    const { managedFields, ...metadata } = request.object.metadata;
    expect(metadata).toEqual({ generateName: 'a-', namespace: 'default', creationTimestamp: null });
    expect(managedFields).toHaveLength(1);
  });

  test('is rejected if its result has too many values', async () => {
    const copies = Array.from({ length: 3 }, (_, at) => ({ op: 'copy', from: '/x', path: `/y${at}` }));
    const { cluster } = hookCluster({
      large: patching({ op: 'add', path: '/x', value: Array(200_000).fill([]) }, ...copies),
    });
    await mutateWith(cluster, 'one', { service: 'large' });
    const creating = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await expect(creating).rejects.toMatchObject({ code: 413 });
  });

  test('of thousands of operations on a long list takes no longer than one of a client', async () => {
    const operations = Array(5_000).fill({ op: 'replace', path: '/data/list/0', value: 1 });
    const { cluster } = hookCluster({
      long: patching({ op: 'add', path: '/data', value: { list: Array(100_000).fill(0) } }, ...operations, {
        op: 'remove',
        path: '/data/none',
      }),
    });
    await mutateWith(cluster, 'one', { service: 'long' });
    const creating = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    // Copying the list for each operation took ten seconds.
    const spentMs = cpuTimer();
    await expect(creating).rejects.toThrow(/Unable to remove nonexistent key: none/);
    expect(spentMs()).toBeLessThan(3_000);
  });

  test('has defaults applied to the fields it adds', async () => {
    const container = { name: 'side', image: 'car:1' };
    const { cluster, calls } = hookCluster({
      inject: patching({ op: 'add', path: '/spec/containers/-', value: container }),
      look: allow,
    });
    await mutateWith(cluster, 'one', { service: 'inject', rules: [rule('', 'v1', 'pods')] });
    await mutateWith(cluster, 'two', { service: 'look', rules: [rule('', 'v1', 'pods')] });
    const pod = await cluster.api(Pod, 'default').create({ metadata: { name: 'p' }, ...POD });
    const defaults = { imagePullPolicy: 'IfNotPresent', terminationMessagePath: '/dev/termination-log' };
    expect(pod.spec.containers[1]).toMatchObject({ ...container, ...defaults });
    expect(calls[1]?.review.request.object.spec.containers[1]).toMatchObject({ ...container, ...defaults });
  });

  test.each([
    [
      '[{"op":"remove","path":"/data/x"}]',
      "error in remove for path: '/data/x': Unable to remove nonexistent key: x: missing value",
    ],
    [
      '[{"op":"add","path":"/spec/x","value":1}]',
      'add operation does not apply: doc is missing path: "/spec/x": missing value',
    ],
    ['[{"op":"test","path":"/kind","value":"Pod"}]', 'testing value /kind failed: test failed'],
    ['[{"op":"jump","path":"/kind"}]', 'Unexpected kind: jump'],
    ['[{"op":"add","value":1}]', 'add operation failed to decode path: missing value'],
    ['{}', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    ['[1]', 'json: cannot unmarshal number into Go value of type jsonpatch.Operation'],
    ['[', 'unexpected end of JSON input'],
    [
      '[{"op":"replace","path":"/data","value":{"k":1}}]',
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      '[{"op":"replace","path":"/kind","value":"Nothing"}]',
      'no kind "Nothing" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
    ],
  ])('fails the request if it is invalid: %s', async (patch, why) => {
    const { cluster } = hookCluster({ odd: () => ({ allowed: true, patchType: 'JSONPatch', patch: btoa(patch) }) });
    await mutateWith(cluster, 'one', { service: 'odd', failurePolicy: 'Ignore' });
    await expect(
      cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { k: 'v' } }),
    ).rejects.toMatchObject({ code: 500, message: `Internal error occurred: ${why}` });
  });

  test.each([
    [{ patch: 'W10=' }, 'webhook returned response.patch but not response.patchType'],
    [{ patchType: 'JSONPatch' }, 'webhook returned response.patchType but not response.patch'],
    [{ patch: 'W10=', patchType: '' }, 'webhook returned invalid response.patchType of ""'],
  ])('requires both patch and patchType: %j', async (response, why) => {
    const { cluster } = hookCluster({ odd: () => ({ allowed: true, ...response }) });
    await mutateWith(cluster, 'one', { service: 'odd' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(
      `failed calling webhook "odd.example.com": received invalid webhook response: ${why}`,
    );
  });

  test('rejects a webhook patch if its patchType is unsupported', async () => {
    const patch = btoa('[{"op":"add","path":"/data","value":{}}]');
    const { cluster } = hookCluster({ odd: () => ({ allowed: true, patchType: 'Merge', patch }) });
    await mutateWith(cluster, 'one', { service: 'odd' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(
      'Internal error occurred: failed calling webhook "odd.example.com": unsupported patch type "Merge"',
    );
  });

  test('rejects a webhook patch for a deletion', async () => {
    const { cluster } = hookCluster({ odd: patching({ op: 'add', path: '/data', value: {} }) });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await mutateWith(cluster, 'one', { service: 'odd', rules: [rule('', 'v1', 'configmaps', ['DELETE'])] });
    await expect(cluster.api(ConfigMap, 'default').delete('a')).rejects.toThrow(
      'Internal error occurred: admission webhook "odd.example.com" attempted to modify the object, which is not supported for this operation',
    );
  });

  test('needs no patchType in a v1beta1 review', async () => {
    const { cluster } = hookCluster(
      {},
      {
        old: () => ({ response: { allowed: true, patch: btoa('[{"op":"add","path":"/data","value":{"a":"b"}}]') } }),
      },
    );
    await mutateWith(cluster, 'one', { service: 'old', admissionReviewVersions: ['v1beta1'] });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    expect(made.data).toEqual({ a: 'b' });
  });

  test('ignores a webhook patch that arrives after the timeout', async () => {
    let late: (result: object) => void = () => undefined;
    const { cluster } = hookCluster({ slow: () => new Promise((resolve) => (late = resolve)) });
    await mutateWith(cluster, 'one', { service: 'slow', failurePolicy: 'Ignore', timeoutSeconds: 1 });
    const made = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await cluster.clock.advance(1000);
    late({ allowed: true, patchType: 'JSONPatch', patch: btoa('[{"op":"add","path":"/data","value":{"a":"b"}}]') });
    expect((await made).data).toBeUndefined();
    await cluster.clock.advance(0);
    expect((await cluster.api(ConfigMap, 'default').get('a')).data).toBeUndefined();
  });
});

describe('several mutating webhooks', () => {
  test('calls mutating webhooks one after another, ordered by configuration name and then by position', async () => {
    const { cluster, calls } = hookCluster({ a: signing('a'), b: signing('b'), c: signing('c') });
    await mutateWith(cluster, 'second', { service: 'c' });
    await mutateWith(cluster, 'first', { service: 'b' }, { service: 'a' });
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' } });
    expect(made.data).toEqual({ by: 'bac' });
    expect(calls.map(({ service }) => service)).toEqual(['b', 'a', 'c']);
  });

  test('calls mutating webhooks again if reinvocationPolicy is IfNeeded and the object has changed', async () => {
    const { cluster, calls } = hookCluster({ a: signing('a'), b: signing('b'), c: allow });
    const reinvocationPolicy = 'IfNeeded';
    await mutateWith(
      cluster,
      'one',
      { service: 'a', reinvocationPolicy },
      { service: 'b' },
      { service: 'c', reinvocationPolicy },
    );
    const made = await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' } });
    // The third webhook saw the last change and the second one has no reinvocation policy. The first one changes the
    // object again in the second round, and there is no third round.
    expect(calls.map(({ service }) => service)).toEqual(['a', 'b', 'c', 'a', 'c']);
    expect(made.data).toEqual({ by: 'aba' });
  });

  test('does not call mutating webhooks again if the object is unchanged', async () => {
    const { cluster, calls } = hookCluster({ a: allow, b: patching() });
    const reinvocationPolicy = 'IfNeeded';
    await mutateWith(cluster, 'one', { service: 'a', reinvocationPolicy }, { service: 'b', reinvocationPolicy });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' } });
    expect(calls.map(({ service }) => service)).toEqual(['a', 'b']);
  });

  test('does not call a mutating webhook for the first time during reinvocation', async () => {
    const { cluster, calls } = hookCluster({
      a: allow,
      b: patching({ op: 'add', path: '/metadata/labels', value: { now: 'yes' } }),
    });
    const reinvocationPolicy = 'IfNeeded';
    const objectSelector = { matchLabels: { now: 'yes' } };
    await mutateWith(cluster, 'one', { service: 'a', reinvocationPolicy, objectSelector }, { service: 'b' });
    await mutateWith(cluster, 'two', { service: 'a', reinvocationPolicy, objectSelector });
    await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'x' } });
    // The label did not exist for the first webhook; the second one was called after it was added.
    expect(calls.map(({ service }) => service)).toEqual(['b', 'a']);
  });
});

describe('a mutating webhook for another version', () => {
  async function twoVersions(matchPolicy: string) {
    const made = hookCluster({
      grow: (review) => {
        const { size } = review.request.object.spec;
        const patch = btoa(JSON.stringify([{ op: 'replace', path: '/spec/size', value: size + 1 }]));
        return { allowed: true, patchType: 'JSONPatch', patch };
      },
      look: allow,
    });
    const { cluster } = made;
    const whole = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    const widgets = await define(cluster, {
      versions: [version({ name: 'v1', whole }), version({ name: 'v2', storage: false, whole })],
    });
    await mutateWith(cluster, 'one', { service: 'grow', matchPolicy, rules: [rule('example.com', 'v2', 'widgets')] });
    await validateWith(cluster, 'two', { service: 'look', matchPolicy, rules: [rule('example.com', 'v2', 'widgets')] });
    return { ...made, widgets };
  }

  test('receives the object in its own version, and its change is converted back', async () => {
    const { widgets, calls } = await twoVersions('Equivalent');
    const made = await widgets.create({ metadata: { name: 'w' }, spec: { size: 1 } });
    expect(made).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 2 } });
    expect(calls).toHaveLength(2);
    for (const { review } of calls) {
      expect(review.request).toMatchObject({
        kind: { group: 'example.com', version: 'v2', kind: 'Widget' },
        resource: { group: 'example.com', version: 'v2', resource: 'widgets' },
        requestKind: { group: 'example.com', version: 'v1', kind: 'Widget' },
        requestResource: { group: 'example.com', version: 'v1', resource: 'widgets' },
        object: { apiVersion: 'example.com/v2', kind: 'Widget' },
      });
    }
  });

  test('does not call a webhook for another version if its matchPolicy is Exact', async () => {
    const { widgets, calls } = await twoVersions('Exact');
    await widgets.create({ metadata: { name: 'w' }, spec: { size: 1 } });
    expect(calls).toEqual([]);
  });
});

describe('mutating webhooks for subresources', () => {
  const deployment = {
    metadata: { name: 'd' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, ...POD },
    },
  };

  test('sends the Scale object to a mutating webhook and applies its change', async () => {
    const { cluster, calls } = hookCluster({ grow: patching({ op: 'replace', path: '/spec/replicas', value: 5 }) });
    const deployments = cluster.api(Deployment, 'default');
    await deployments.create(deployment);
    await mutateWith(cluster, 'one', { service: 'grow', rules: [rule('apps', 'v1', 'deployments/scale')] });
    await deployments.subresource('scale').update('d', { metadata: { name: 'd' }, spec: { replicas: 2 } } as never);
    expect((await deployments.get('d')).spec.replicas).toBe(5);
    expect(calls[0]?.review.request).toMatchObject({
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', version: 'v1', resource: 'deployments' },
      subResource: 'scale',
      requestKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      requestSubResource: 'scale',
      name: 'd',
      object: { kind: 'Scale', spec: { replicas: 2 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    });
  });

  test('sends the whole object for a status write, and calls no status webhook for the main resource', async () => {
    const { cluster, calls } = hookCluster({ look: allow });
    const deployments = cluster.api(Deployment, 'default');
    await deployments.create(deployment);
    await mutateWith(cluster, 'one', { service: 'look', rules: [rule('apps', 'v1', '*/status')] });
    await deployments.update(deployment);
    await deployments.subresource('status').update('d', { ...deployment, status: { replicas: 1 } } as never);
    expect(calls.map(({ review }) => review.request)).toMatchObject([
      { subResource: 'status', kind: { kind: 'Deployment' }, object: { status: { replicas: 1 } } },
    ]);
  });
});
