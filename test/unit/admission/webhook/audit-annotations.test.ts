/** Audit annotations of webhooks, and webhook calls for connect, deletecollection and eviction requests. */
import { ConfigMap, Pod } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { valueBody } from '../../../../src/protocol/body.js';
import { allow, hookCluster, mutateWith, patching, rule, validateWith } from './hooks.js';

/** Creates a ConfigMap and returns its audit annotations. */
async function notesOf({ cluster }: Pick<ReturnType<typeof hookCluster>, 'cluster'>): Promise<Record<string, string>> {
  const notes: Record<string, string> = {};
  await cluster.send({
    verb: 'create',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'default',
    options: {},
    body: valueBody({ metadata: { name: 'a' } }),
    audit: {
      annotate(key, value) {
        notes[key] ??= value;
      },
    },
  });
  return notes;
}

test('records each called webhook, whether it mutated the object, and its patch', async () => {
  const operation = { op: 'add', path: '/data', value: { k: 'v' } };
  const made = hookCluster({ look: allow, set: patching(operation) });
  await mutateWith(made.cluster, 'one', { service: 'look', reinvocationPolicy: 'IfNeeded' }, { service: 'set' });
  expect(await notesOf(made)).toEqual({
    'mutation.webhook.admission.k8s.io/round_0_index_0':
      '{"configuration":"one","webhook":"look.example.com","mutated":false}',
    'mutation.webhook.admission.k8s.io/round_0_index_1':
      '{"configuration":"one","webhook":"set.example.com","mutated":true}',
    'mutation.webhook.admission.k8s.io/round_1_index_0':
      '{"configuration":"one","webhook":"look.example.com","mutated":false}',
    'patch.webhook.admission.k8s.io/round_0_index_1':
      '{"configuration":"one","webhook":"set.example.com","patch":[{"op":"add","path":"/data","value":{"k":"v"}}],"patchType":"JSONPatch"}',
  });
});

test('records webhooks that failed open', async () => {
  const made = hookCluster({ look: allow });
  const failurePolicy = 'Ignore';
  await mutateWith(made.cluster, 'one', { service: 'gone', failurePolicy });
  await validateWith(made.cluster, 'two', { service: 'look' }, { service: 'gone', failurePolicy });
  expect(await notesOf(made)).toEqual({
    'failed-open.mutation.webhook.admission.k8s.io/round_0_index_0': 'gone.example.com',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_1': 'gone.example.com',
    'mutation.webhook.admission.k8s.io/round_0_index_0':
      '{"configuration":"one","webhook":"gone.example.com","mutated":false}',
  });
});

test('records audit annotations of a webhook under its name', async () => {
  const made = hookCluster({ note: () => ({ allowed: true, auditAnnotations: { why: 'because', 'no key': 'x' } }) });
  await validateWith(made.cluster, 'two', { service: 'note' });
  expect(await notesOf(made)).toEqual({ 'note.example.com/why': 'because' });
});

test('calls webhooks for connect subresources', async () => {
  const { cluster, calls } = hookCluster({
    look: allow,
    no: () => ({ allowed: false, status: { message: 'no shells' } }),
  });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  await cluster.api(Pod, 'default').create({ metadata: { name: 'p' }, spec });
  const rules = [rule('', 'v1', 'pods/exec', ['CONNECT'])];
  await mutateWith(cluster, 'one', { service: 'look', rules });
  await validateWith(cluster, 'two', { service: 'no', rules });
  const exec = {
    verb: 'create',
    resource: { group: '', version: 'v1', resource: 'pods' },
    namespace: 'default',
    name: 'p',
    subresource: 'exec',
    options: {},
  } as const;
  await expect((async () => cluster.send(exec))()).rejects.toMatchObject({
    code: 400,
    message: 'admission webhook "no.example.com" denied the request: no shells',
  });
  expect(calls.map(({ review }) => review.request)).toMatchObject(
    ['look', 'no'].map(() => ({
      kind: { group: '', version: 'v1', kind: 'PodExecOptions' },
      resource: { group: '', version: 'v1', resource: 'pods' },
      subResource: 'exec',
      operation: 'CONNECT',
      name: 'p',
      namespace: 'default',
      object: { kind: 'PodExecOptions', apiVersion: 'v1' },
      oldObject: null,
      options: null,
    })),
  );
});

test('calls webhooks for each object of a deletecollection, without a name in the request', async () => {
  const { cluster, calls } = hookCluster({ look: allow });
  const maps = cluster.api(ConfigMap, 'default');
  await maps.create({ metadata: { name: 'a' } });
  await maps.create({ metadata: { name: 'b' } });
  await mutateWith(cluster, 'one', { service: 'look' });
  await validateWith(cluster, 'two', { service: 'look' });
  await maps.deleteCollection();
  expect(calls.map(({ review }) => review.request)).toMatchObject(
    ['a', 'a', 'b', 'b'].map((name) => ({ operation: 'DELETE', oldObject: { metadata: { name } } })),
  );
  for (const { review } of calls) expect(Object.keys(review.request)).not.toContain('name');
});

test('calls webhooks for an eviction with the Eviction object', async () => {
  const { cluster, calls } = hookCluster({ no: () => ({ allowed: false, status: { code: 429, message: 'later' } }) });
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const pods = cluster.api(Pod, 'default');
  await pods.create({ metadata: { name: 'p' }, spec });
  await validateWith(cluster, 'two', { service: 'no', rules: [rule('', 'v1', 'pods/eviction')] });
  await expect(pods.subresource('eviction').create('p', {})).rejects.toMatchObject({ code: 429 });
  expect(calls[0]?.review.request).toMatchObject({
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    resource: { group: '', version: 'v1', resource: 'pods' },
    subResource: 'eviction',
    operation: 'CREATE',
    name: 'p',
    object: { kind: 'Eviction', apiVersion: 'policy/v1', metadata: { name: 'p', namespace: 'default' } },
  });
});

test('calls mutating webhooks before validating webhooks', async () => {
  const seen: string[] = [];
  const { cluster } = hookCluster({
    change: (review) => {
      seen.push(`mutating ${JSON.stringify(review.request.object.data)}`);
      return patching({ op: 'add', path: '/data/b', value: '2' })(review);
    },
    look: (review) => {
      seen.push(`validating ${JSON.stringify(review.request.object.data)}`);
      return { allowed: true };
    },
  });
  await mutateWith(cluster, 'one', { service: 'change' });
  await validateWith(cluster, 'two', { service: 'look' });
  await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' }, data: { a: '1' } });
  expect(seen).toEqual(['mutating {"a":"1"}', 'validating {"a":"1","b":"2"}']);
});
