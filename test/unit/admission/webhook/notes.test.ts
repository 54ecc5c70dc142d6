/** What webhooks leave in the record of a request, and requests that are no writes. */
import { ConfigMap, Pod } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { valueBody } from '../../../../src/protocol/body.js';
import { allow, hookCluster, mutateWith, patching, rule, validateWith } from './hooks.js';

/** Creates a ConfigMap and gives the notes about that. */
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

test('who was asked, who changed something, and how', async () => {
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

test('who did not answer and was not missed', async () => {
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

test('what they note themselves, under their own name', async () => {
  const made = hookCluster({ note: () => ({ allowed: true, auditAnnotations: { why: 'because', 'no key': 'x' } }) });
  await validateWith(made.cluster, 'two', { service: 'note' });
  expect(await notesOf(made)).toEqual({ 'note.example.com/why': 'because' });
});

test('a line to what runs elsewhere is asked about too', async () => {
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

test('a whole collection is asked about object by object, and no name is told', async () => {
  const { cluster, calls } = hookCluster({ look: allow });
  const maps = cluster.api(ConfigMap, 'default');
  await maps.create({ metadata: { name: 'a' } });
  await maps.create({ metadata: { name: 'b' } });
  await validateWith(cluster, 'two', { service: 'look' });
  await maps.deleteCollection();
  expect(calls.map(({ review }) => review.request)).toMatchObject([
    { operation: 'DELETE', oldObject: { metadata: { name: 'a' } } },
    { operation: 'DELETE', oldObject: { metadata: { name: 'b' } } },
  ]);
  for (const { review } of calls) expect(Object.keys(review.request)).not.toContain('name');
});

test('an eviction is what is asked about, not the pod', async () => {
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

test('those who change come before those who judge', async () => {
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
