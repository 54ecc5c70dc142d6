/** The effect of RuntimeClasses on pods. */
import { mergePatch } from 'orchplane';
import { Pod, type PodInput, PodTemplate, RuntimeClass, type RuntimeClassInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, expect, test } from 'vitest';
import { rejectionCauses } from '../kinds/rejections.js';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const runtimeClass = (body: Omit<RuntimeClassInput, 'handler' | 'metadata'> = {}, name = 'rc') =>
  cluster.api(RuntimeClass).create({ metadata: { name }, handler: 'h', ...body });

const pod = (spec: object, metadata: object = { name: 'p' }) =>
  cluster.api(Pod).create({ metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } as PodInput);

const forbidden = (why: string) => ({ code: 403, message: `pods "p" is forbidden: ${why}` });

const overhead = { podFixed: { cpu: '50m', memory: '64Mi' } };
const waiting = ['not-ready', 'unreachable'].map((name) => ({
  key: `node.orch.io/${name}`,
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}));

test('copies overhead, node selector and tolerations to the pod', async () => {
  const tolerations = [{ key: 'rt', operator: 'Exists' as const }];
  await runtimeClass({ overhead, scheduling: { nodeSelector: { rt: 'yes' }, tolerations } });
  const { spec } = await pod({ runtimeClassName: 'rc', nodeSelector: { x: 'y', a: 'b' } });
  expect(spec).toMatchObject({ overhead: overhead.podFixed, tolerations: [...waiting, ...tolerations] });
  expect(JSON.stringify(spec.nodeSelector)).toBe('{"a":"b","rt":"yes","x":"y"}');
  const { spec: bare } = await pod({ runtimeClassName: 'rc' }, { name: 'q' });
  expect(bare).toMatchObject({ nodeSelector: { rt: 'yes' }, overhead: overhead.podFixed });
});

test('omits tolerations that another one covers', async () => {
  const tolerations = [{ key: 'node.orch.io/not-ready', operator: 'Exists' as const }];
  await runtimeClass({ scheduling: { tolerations } });
  const { spec } = await pod({ runtimeClassName: 'rc' });
  expect(spec.tolerations).toEqual([waiting[1], ...tolerations]);
});

test.each([
  ['no overhead and scheduling', {}],
  ['an empty overhead', { overhead: {} }],
  ['an empty scheduling', { scheduling: {} }],
])('changes nothing for a class with %s', async (_, body) => {
  await runtimeClass(body);
  const { spec } = await pod({ runtimeClassName: 'rc' });
  expect(spec).not.toHaveProperty('overhead');
  expect(spec).not.toHaveProperty('nodeSelector');
  expect(spec.tolerations).toEqual(waiting);
});

test('accepts an equal overhead in another notation', async () => {
  await runtimeClass({ overhead, scheduling: { nodeSelector: { rt: 'yes' } } });
  const same = { overhead: { cpu: '0.05', memory: '67108864' }, nodeSelector: { rt: 'yes' } };
  expect((await pod({ runtimeClassName: 'rc', ...same })).spec.overhead).toEqual(overhead.podFixed);
});

const mismatch = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const unfounded = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

test.each<[string, object, string]>([
  ['a different overhead', { runtimeClassName: 'rc', overhead: { cpu: '1', memory: '64Mi' } }, mismatch],
  ['a part of the overhead', { runtimeClassName: 'rc', overhead: { cpu: '50m' } }, mismatch],
  ['other resources', { runtimeClassName: 'rc', overhead: { cpu: '50m', 'ephemeral-storage': '1' } }, mismatch],
  ['overhead that its class does not have', { runtimeClassName: 'free', overhead: { cpu: '1' } }, unfounded],
  ['overhead without a class', { overhead: { cpu: '1' } }, unfounded],
  ['a missing class', { runtimeClassName: 'absent' }, 'pod rejected: RuntimeClass "absent" not found'],
  ['an invalid class name', { runtimeClassName: 'Bad "Name' }, 'pod rejected: RuntimeClass "Bad \\"Name" not found'],
  [
    'a conflicting node selector',
    { runtimeClassName: 'rc', nodeSelector: { rt: 'no' } },
    'conflict: runtimeClass.scheduling.nodeSelector[rt] = yes; pod.spec.nodeSelector[rt] = no',
  ],
])('rejects a pod with %s', async (_, spec, why) => {
  await runtimeClass({ overhead, scheduling: { nodeSelector: { rt: 'yes' } } });
  await runtimeClass({}, 'free');
  await expect(pod(spec)).rejects.toMatchObject(forbidden(why));
});

test.each([
  ['', 'resource name may not be empty'],
  ['a/b%', `invalid resource name "a/b%": [may not contain '/' may not contain '%']`],
])('rejects the name %j', async (runtimeClassName, message) => {
  await expect(pod({ runtimeClassName })).rejects.toMatchObject({ code: 500, message });
});

test('names a pod without a name Unknown', async () => {
  await expect(pod({ runtimeClassName: 'absent' }, {})).rejects.toMatchObject({
    message: 'pods "Unknown" is forbidden: pod rejected: RuntimeClass "absent" not found',
  });
});

test('validates an invalid pod unless its overhead contradicts the class', async () => {
  const containers = [{ name: 'A', image: 'i' }];
  await expect(pod({ containers, overhead: { cpu: '1' } })).rejects.toMatchObject({ code: 422 });
  await runtimeClass({ overhead });
  await expect(pod({ containers, overhead: { cpu: '1' }, runtimeClassName: 'rc' })).rejects.toMatchObject({
    code: 403,
  });
});

test('validates what the class adds', async () => {
  await runtimeClass({ overhead: { podFixed: { memory: '1500m' } } });
  const warnings: string[] = [];
  const pods = cluster.with({ onWarning: (text) => warnings.push(text) }).api(Pod);
  const spec = { containers: [{ name: 'c', image: 'i' }], runtimeClassName: 'rc' };
  await pods.create({ metadata: { name: 'p' }, spec });
  expect(warnings).toEqual(['spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer']);
});

test('accepts a template with a missing class, but not with an invalid name', async () => {
  const template = (runtimeClassName: string) =>
    cluster.api(PodTemplate).create({
      metadata: { name: 't' },
      template: { spec: { containers: [{ name: 'c', image: 'i' }], runtimeClassName } },
    });
  expect(await rejectionCauses(template('A_B'))).toEqual([
    expect.stringContaining('template.spec.runtimeClassName: Invalid value: "A_B": a lowercase RFC 1123 subdomain'),
  ]);
  expect(await template('absent')).toBeDefined();
});

test('does not change pods when their class changes or is deleted', async () => {
  await runtimeClass({ overhead });
  await pod({ runtimeClassName: 'rc' });
  await cluster.api(RuntimeClass).delete('rc');
  const { spec } = await cluster.api(Pod).patch('p', mergePatch({ metadata: { labels: { a: 'b' } } }));
  expect(spec.overhead).toEqual(overhead.podFixed);
});
