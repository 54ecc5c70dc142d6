/** Pod updates at the main endpoint and at the subresources status, binding, eviction, ephemeralcontainers and resize. */
import { jsonPatch, mergePatch } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { Pod, PodDisruptionBudget, type PodDisruptionBudgetInput, type PodInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const NOW = '2030-01-01T00:00:00Z';
const container = { name: 'c', image: 'i' };

let cluster: TestCluster;
let pods: ReturnType<typeof open>;
const open = () => cluster.api(Pod, 'default');

function create(spec: object = {}, metadata: object = {}) {
  const input = { metadata: { name: 'p', ...metadata }, spec: { containers: [container], ...spec } };
  return pods.create(input as PodInput);
}

/** Sends a request to a subresource of the pod or to a collection. */
async function post(path: string, body: object, query = '') {
  const url = `http://localhost/api/v1/namespaces/default/${path}${query}`;
  const headers = { 'content-type': 'application/json' };
  const request = new Request(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const response = await createFetchHandler(cluster)(request);
  return { code: response.status, body: (await response.json()) as Record<string, unknown> };
}

beforeEach(() => {
  cluster = testCluster();
  pods = open();
});

describe('a pod update', () => {
  const patched = (patch: object) => pods.patch('p', mergePatch(patch as never));

  test('changes images, deadlines and tolerations, and increments the generation', async () => {
    await create();
    const image = await pods.patch('p', jsonPatch([{ op: 'replace', path: '/spec/containers/0/image', value: 'j' }]));
    expect(image.metadata.generation).toBe(2);
    expect((await patched({ spec: { activeDeadlineSeconds: 100 } })).metadata.generation).toBe(3);
    expect((await patched({ metadata: { labels: { a: 'b' } } })).metadata.generation).toBe(3);
    const tolerations = [...(image.spec.tolerations ?? []), { key: 'z', operator: 'Exists' as const }];
    expect((await patched({ spec: { tolerations } })).spec.tolerations).toEqual(tolerations);
  });

  test('does not change the status', async () => {
    await create();
    expect((await patched({ status: { phase: 'Running' } })).status.phase).toBe('Pending');
  });

  test.each<[before: object, patch: object, problem: string]>([
    [
      { activeDeadlineSeconds: 50 },
      { activeDeadlineSeconds: 60 },
      'spec.activeDeadlineSeconds: Invalid value: 60: must be less than or equal to previous value',
    ],
    [
      { activeDeadlineSeconds: 50 },
      { activeDeadlineSeconds: null },
      'spec.activeDeadlineSeconds: Invalid value: "null": must not update from a positive integer to nil value',
    ],
    [
      {},
      { containers: [container, { name: 'd', image: 'i' }] },
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ],
    [
      { schedulingGates: [{ name: 'x' }] },
      { schedulingGates: [{ name: 'y' }] },
      "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'y'",
    ],
    [
      { schedulingGates: [{ name: 'x' }], nodeSelector: { a: 'b' } },
      { nodeSelector: { a: 'c' } },
      'spec.nodeSelector: Invalid value: map[string]string{"a":"c"}: only additions to spec.nodeSelector are allowed (no mutations or deletions)',
    ],
    [
      { tolerations: [{ key: 'a', operator: 'Exists' }] },
      { tolerations: [{ key: 'b', operator: 'Exists' }] },
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ],
  ])('rejects a pod update of %j by %j', async (before, patch, problem) => {
    await create(before);
    expect(await rejectionCauses(patched({ spec: patch }))).toEqual([problem]);
  });

  test('reports a missing image twice', async () => {
    await create();
    const problem = 'spec.containers[0].image: Required value';
    const none = jsonPatch([{ op: 'replace', path: '/spec/containers/0/image', value: '' }]);
    expect(await rejectionCauses(pods.patch('p', none))).toEqual([problem, problem]);
  });

  test('rejects a pod update that changes other fields and prints a diff', async () => {
    await create();
    const [problem = ''] = await rejectionCauses(patched({ spec: { hostNetwork: true } }));
    expect(problem).toContain(
      'spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n  core.PodSpec{\n',
    );
    expect(problem).toContain('- \t\tHostNetwork: false,\n+ \t\tHostNetwork: true,\n');
  });

  test('allows a pod update to restrict the node affinity of a pod with scheduling gates', async () => {
    const gated = { schedulingGates: [{ name: 'x' }], nodeSelector: { a: 'b' } };
    await create(gated);
    expect((await patched({ spec: { nodeSelector: { c: 'd' } } })).spec.nodeSelector).toEqual({ a: 'b', c: 'd' });
    const nodeSelectorTerms = [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }];
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    expect((await patched({ spec: { affinity: { nodeAffinity } } })).spec.affinity).toEqual({ nodeAffinity });
    const two = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [...nodeSelectorTerms, {}] } };
    const [problem = ''] = await rejectionCauses(patched({ spec: { affinity: { nodeAffinity: two } } }));
    expect(problem).toMatch(/no additions\/deletions to non-empty NodeSelectorTerms list are allowed$/);
    expect((await patched({ spec: { schedulingGates: null } })).spec.schedulingGates).toBeUndefined();
  });

  test('does not allow a pod update to change annotations that take effect on create', async () => {
    const key = 'container.apparmor.security.beta.orch.io/c';
    await create({}, { annotations: { [key]: 'unconfined' } });
    expect(await rejectionCauses(patched({ metadata: { annotations: { [key]: null } } }))).toEqual([
      `metadata.annotations[${key}]: Forbidden: may not remove or update AppArmor annotations`,
    ]);
    expect(await rejectionCauses(patched({ metadata: { annotations: { 'orch.io/config.mirror': 'x' } } }))).toContain(
      'metadata.annotations[orch.io/config.mirror]: Forbidden: may not add mirror pod annotation',
    );
  });
});

describe('the pod status', () => {
  const patched = (status: object) => pods.status.patch('p', mergePatch({ status } as never));
  const ofContainer = { name: 'c', ready: false, restartCount: 0, image: 'i', imageID: '' };

  test('writes the pod status without the spec and sets its defaults', async () => {
    const { spec } = await create();
    const podStatus = { phase: 'Running', podIP: '10.0.0.5', conditions: [{ type: 'Ready', status: 'True' }] };
    const next = await pods.status.patch('p', mergePatch({ spec: { hostname: 'x' }, status: podStatus } as never));
    expect(next.spec).toEqual(spec);
    expect(next.status).toEqual({
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }],
      podIP: '10.0.0.5',
      podIPs: [{ ip: '10.0.0.5' }],
      qosClass: 'BestEffort',
    });
    expect((await patched({ podIPs: [{ ip: '10.0.0.6' }] })).status.podIPs).toEqual([{ ip: '10.0.0.5' }]);
    expect((await patched({ qosClass: null })).status.qosClass).toBe('BestEffort');
    expect((await patched({ observedGeneration: 4 })).status).not.toHaveProperty('observedGeneration');
  });

  test('keeps the observed generation if the feature gate is enabled', async () => {
    cluster = testCluster({ featureGates: { PodObservedGenerationTracking: true } });
    pods = open();
    await create();
    const conditions = [{ type: 'Ready', status: 'True', observedGeneration: 3 }];
    const { status } = await patched({ observedGeneration: 4, conditions });
    expect(status).toMatchObject({ observedGeneration: 4, conditions });
  });

  test.each<[object, string]>([
    [{ qosClass: 'Guaranteed' }, 'status.qosClass: Invalid value: "Guaranteed": field is immutable'],
    [
      { podIP: 'x' },
      'status.podIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      { podIPs: [{ ip: '1.1.1.1' }, { ip: '1.1.1.2' }] },
      'status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"1.1.1.1"}, core.PodIP{IP:"1.1.1.2"}}: may specify no more than one IP for each IP family',
    ],
    [
      { hostIP: '1.1.1.1', hostIPs: [{ ip: '1.1.1.2' }] },
      'status.hostIPs[0].ip: Invalid value: "1.1.1.2": must be equal to `hostIP`',
    ],
    [
      { hostIP: 'x', hostIPs: [{ ip: 'x' }] },
      'status.hostIPs[0]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    ],
    [
      { containerStatuses: [{ ...ofContainer, user: { linux: { uid: -1, gid: 0 } } }] },
      'status.containerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
    ],
  ])('rejects a pod status with %j', async (status, problem) => {
    await create();
    expect(await rejectionCauses(patched(status))).toEqual([problem]);
  });

  test('reports all errors of invalid addresses', async () => {
    await create();
    const twice = [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }];
    const dump = (type: string) => `[]core.${type}{core.${type}{IP:"1.1.1.1"}, core.${type}{IP:"1.1.1.1"}}`;
    const families = 'may specify no more than one IP for each IP family';
    expect(await rejectionCauses(patched({ podIPs: twice, hostIP: '1.1.1.1', hostIPs: twice }))).toEqual([
      `status.podIPs: Invalid value: ${dump('PodIP')}: ${families}`,
      `status.hostIPs: Invalid value: ${dump('HostIP')}: ${families}`,
    ]);
    expect(await rejectionCauses(patched({ podIPs: [{ ip: '1.1.1.1' }, { ip: 'x' }] }))).toEqual([
      'status.podIPs[1]: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
      'status.podIPs: Internal error: failed to check for dual stack with error:invalid IP[1]: x',
      `status.podIPs: Invalid value: []core.PodIP{core.PodIP{IP:"1.1.1.1"}, core.PodIP{IP:"x"}}: ${families}`,
    ]);
  });

  test('drops resource claim statuses if the feature gate is disabled', async () => {
    await create();
    const { status } = await patched({ resourceClaimStatuses: [{ name: 'x' }] });
    expect(status).not.toHaveProperty('resourceClaimStatuses');
  });

  test.each([
    ['Always', 0, false],
    ['OnFailure', 0, true],
    ['Never', 1, true],
  ])(
    'validates a restart with restart policy %s and an init container that exited with %i: %s',
    async (restartPolicy, exitCode, isRejected) => {
      await create({ restartPolicy, initContainers: [{ name: 'f', image: 'i' }] });
      const first = { ...ofContainer, name: 'f' };
      await patched({ initContainerStatuses: [{ ...first, state: { terminated: { exitCode } } }] });
      const again = patched({ initContainerStatuses: [{ ...first, state: { running: {} } }] });
      if (!isRejected) await expect(again).resolves.toBeDefined();
      else {
        expect(await rejectionCauses(again)).toEqual([
          'status.initContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
        ]);
      }
    },
  );

  test.each([
    ['Always', 1, false],
    ['OnFailure', 1, false],
    ['OnFailure', 0, true],
    ['Never', 1, true],
  ])(
    'validates a restart with restart policy %s and a container that exited with %i: %s',
    async (restartPolicy, exitCode, isRejected) => {
      await create({ restartPolicy });
      await patched({ containerStatuses: [{ ...ofContainer, state: { terminated: { exitCode } } }] });
      const again = patched({ containerStatuses: [{ ...ofContainer, state: { running: {} } }] });
      if (!isRejected) await expect(again).resolves.toBeDefined();
      else {
        expect(await rejectionCauses(again)).toEqual([
          'status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
        ]);
      }
    },
  );
});

describe('pod deletion', () => {
  test('has a grace period only for pods that are scheduled and running', async () => {
    await create({ nodeName: 'n' });
    await pods.delete('p');
    const { metadata } = await pods.get('p');
    expect(metadata).toMatchObject({
      generation: 2,
      deletionGracePeriodSeconds: 30,
      deletionTimestamp: '2030-01-01T00:00:30Z',
    });
    await pods.delete('p', { gracePeriodSeconds: 0 });
    expect(await pods.find('p')).toBeUndefined();
    await create();
    await pods.delete('p');
    expect(await pods.find('p')).toBeUndefined();
  });
});

describe('a Binding', () => {
  const binding = (target: object, name = 'p') => ({ metadata: { name }, target });

  test('assigns a pod to a node once', async () => {
    await create();
    const bound = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };
    expect(await post('pods/p/binding', binding({ kind: 'Node', name: 'n' }))).toEqual({ code: 201, body: bound });
    const { spec, status, metadata } = await pods.get('p');
    expect(spec.nodeName).toBe('n');
    expect(metadata.generation).toBe(1);
    expect(status.conditions).toEqual([
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: NOW },
    ]);
    const again = await post('pods/p/binding', binding({ name: 'm' }));
    expect(again.body['message']).toBe(
      'Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"',
    );
  });

  test.each<[spec: object, body: object, code: number, message: string]>([
    [
      {},
      binding({ kind: 'Rack', name: 'r' }),
      500,
      'target.kind: Unsupported value: "Rack": supported values: "Node", "<empty>"',
    ],
    [{}, binding({ kind: 'Node' }), 500, 'target.name: Required value'],
    [{}, binding({ name: 'n' }, 'q'), 400, 'name in URL does not match name in Binding object'],
    [
      { schedulingGates: [{ name: 'x' }] },
      binding({ name: 'n' }),
      409,
      'Operation cannot be fulfilled on pods/binding "p": pod p has non-empty .spec.schedulingGates',
    ],
  ])('rejects a Binding of %j by %j', async (spec, body, code, message) => {
    await create(spec);
    const answer = await post('pods/p/binding', body);
    expect(answer).toMatchObject({ code, body: { message } });
  });
});

describe('an Eviction', () => {
  const evict = (name = 'p', more: object = {}, query = '') =>
    post(`pods/${name}/eviction`, { metadata: { name }, ...more }, query);
  const budgets = () => cluster.api(PodDisruptionBudget, 'default');
  const budget = (spec: object, name = 'b') =>
    budgets().create({ metadata: { name }, spec: { selector: {}, ...spec } } as PodDisruptionBudgetInput);
  const budgetStatus = (status: object) =>
    budgets().status.patch('b', mergePatch({ status: { observedGeneration: 1, ...status } } as never));

  async function running(ready = true) {
    await create({ nodeName: 'n' });
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    await pods.status.patch('p', mergePatch({ status: { phase: 'Running', conditions } } as never));
  }

  test('deletes a pod without a budget and sets the DisruptionTarget condition', async () => {
    await running();
    expect((await evict('p', {}, '?dryRun=All')).code).toBe(201);
    expect((await evict('p', { deleteOptions: { dryRun: ['All'] } })).code).toBe(201);
    expect((await pods.get('p')).metadata.deletionTimestamp).toBeUndefined();
    expect((await evict()).code).toBe(201);
    const { metadata, status } = await pods.get('p');
    expect(metadata.deletionGracePeriodSeconds).toBe(30);
    expect(status.conditions?.[1]).toEqual({
      type: 'DisruptionTarget',
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: NOW,
      reason: 'EvictionByEvictionAPI',
      message: 'Eviction API: evicting',
    });
    await evict('p', { deleteOptions: { gracePeriodSeconds: 0 } });
    expect(await pods.find('p')).toBeUndefined();
  });

  test('requires an Eviction to have the name of the pod', async () => {
    await running();
    expect(await post('pods/p/eviction', { metadata: { name: 'q' } })).toMatchObject({
      code: 400,
      body: { message: 'name in URL does not match name in Eviction object' },
    });
    expect(await evict('absent')).toMatchObject({ code: 404, body: { message: 'pods "absent" not found' } });
  });

  const rejected = (message: string) => ({
    code: 429,
    body: {
      message: "Cannot evict pod as it would violate the pod's disruption budget.",
      reason: 'TooManyRequests',
      details: { causes: [{ reason: 'DisruptionBudget', message }] },
    },
  });

  test('charges the budget and is rejected when no disruption is allowed', async () => {
    await running();
    await budget({ minAvailable: 1 });
    expect(await evict()).toMatchObject(rejected('The disruption budget b is still being processed by the server.'));
    await budgetStatus({ currentHealthy: 1, desiredHealthy: 1 });
    expect(await evict()).toMatchObject(rejected('The disruption budget b needs 1 healthy pods and has 1 currently'));
    // The message is the same if the controller has not counted the pods.
    const failed = {
      type: 'DisruptionAllowed',
      status: 'False',
      reason: 'SyncFailed',
      message: 'no',
      observedGeneration: 1,
    };
    const conditions = [{ ...failed, lastTransitionTime: NOW }];
    await budgetStatus({ currentHealthy: 0, desiredHealthy: 0, conditions });
    expect(await evict()).toMatchObject(rejected('The disruption budget b needs 0 healthy pods and has 0 currently'));
    await budgetStatus({ currentHealthy: 1, desiredHealthy: 1, disruptionsAllowed: 1, conditions: null });
    expect((await evict('p', {}, '?dryRun=All')).code).toBe(201);
    expect((await evict()).code).toBe(201);
    expect((await budgets().get('b')).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: NOW },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods', message: '' }],
    });
  });

  test.each<[spec: object, status: object, code: number]>([
    [{ minAvailable: 1 }, { currentHealthy: 0, desiredHealthy: 1 }, 429],
    [{ minAvailable: 1 }, { currentHealthy: 1, desiredHealthy: 1 }, 201],
    [{ minAvailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' }, { currentHealthy: 0, desiredHealthy: 1 }, 201],
  ])('evicts or keeps an unready pod with a budget %j and status %j: code %i', async (spec, status, code) => {
    await running(false);
    await budget(spec);
    await budgetStatus(status);
    expect((await evict()).code).toBe(code);
  });

  test('ignores the budget for a pod that is not running', async () => {
    await create({ nodeName: 'n' });
    await budget({ minAvailable: 1 });
    expect((await evict()).code).toBe(201);
  });

  test('fails if two budgets match the pod', async () => {
    await running();
    await budget({ minAvailable: 1 });
    await budget({ maxUnavailable: 1 }, 'b2');
    expect(await evict()).toMatchObject({
      code: 500,
      body: {
        message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
      },
    });
  });
});

describe('ephemeral containers', () => {
  const put = (ephemeralContainers: object[]) =>
    pods.subresource('ephemeralcontainers').patch('p', mergePatch({ spec: { ephemeralContainers } } as never));

  test('allows ephemeral containers to be added, but not changed or removed', async () => {
    await create();
    const next = await put([{ name: 'e', image: 'i' }]);
    expect(next.metadata.generation).toBe(2);
    expect(next.spec.ephemeralContainers?.[0]).toMatchObject({ name: 'e', image: 'i', imagePullPolicy: 'Always' });
    const path = 'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be';
    expect(await rejectionCauses(put([]))).toEqual([`${path} removed\n`]);
    const [changed = ''] = await rejectionCauses(put([{ name: 'e', image: 'j' }]));
    expect(changed).toBe(
      `${path} changed\n  core.EphemeralContainer{\n  \tEphemeralContainerCommon: core.EphemeralContainerCommon{\n  \t\tName:    "e",\n- \t\tImage:   "i",\n+ \t\tImage:   "j",\n  \t\tCommand: nil,\n  \t\tArgs:    nil,\n  \t\t... // 20 identical fields\n  \t},\n  \tTargetContainerName: "",\n  }\n`,
    );
  });

  test.each<[object, string]>([
    [{ name: 'c' }, 'name: Duplicate value: "c"'],
    [{ targetContainerName: 'x' }, 'targetContainerName: Not found: "x"'],
    [{ ports: [{ containerPort: 1 }] }, 'ports: Forbidden: cannot be set for an Ephemeral Container'],
    [{ resources: { limits: { cpu: '1' } } }, 'resources: Forbidden: cannot be set for an Ephemeral Container'],
    [{ livenessProbe: {} }, 'livenessProbe: Forbidden: cannot be set for an Ephemeral Container'],
  ])('rejects ephemeral containers with %j', async (fields, problem) => {
    await create();
    expect(await rejectionCauses(put([{ name: 'e', image: 'i', ...fields }]))).toEqual([
      `spec.ephemeralContainers[0].${problem}`,
    ]);
  });
});

describe('a resize', () => {
  const requests = { cpu: '100m' };
  const limits = { cpu: '200m' };
  const resize = (resources: object, more: object = {}) =>
    pods
      .subresource('resize')
      .patch('p', mergePatch({ spec: { containers: [{ ...container, resources, ...more }] } } as never));

  test('changes only resources', async () => {
    await create({ containers: [{ ...container, resources: { requests, limits } }] });
    const next = await resize({ requests: { cpu: '150m' }, limits }, { image: 'z' });
    expect(next.metadata.generation).toBe(2);
    expect(next.spec.containers[0]).toMatchObject({ image: 'i', resources: { requests: { cpu: '150m' }, limits } });
  });

  test.each<[object, string]>([
    [{ requests }, 'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed'],
    [
      { requests, limits: { ...limits, memory: '1Gi' } },
      'spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be added unless resizePolicy is RestartContainer',
    ],
  ])('rejects a resize to %j', async (resources, problem) => {
    await create({ containers: [{ ...container, resources: { requests, limits } }] });
    expect(await rejectionCauses(resize(resources))).toEqual([problem]);
  });

  test('does not allow a resize to change the QoS class or resources other than cpu and memory', async () => {
    await create({ containers: [{ ...container, resources: { requests, limits } }] });
    const all = { cpu: '200m', memory: '1Gi' };
    expect(await rejectionCauses(resize({ limits: all, requests: all }))).toContain(
      'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
    );
    expect(await rejectionCauses(resize({ requests, limits: { ...limits, 'ephemeral-storage': '1Gi' } }))).toEqual([
      'spec: Forbidden: only cpu and memory resources are mutable',
    ]);
  });

  test('rejects a resize of containers with claims', async () => {
    const own = testCluster({ featureGates: { DynamicResourceAllocation: true } }).api(Pod);
    const resources = { requests, limits, claims: [{ name: 'r' }] };
    const resourceClaims = [{ name: 'r', resourceClaimName: 'c' }];
    await own.create({ metadata: { name: 'p' }, spec: { resourceClaims, containers: [{ ...container, resources }] } });
    const less = [{ ...container, resources: { ...resources, requests: { ...requests, cpu: '150m' } } }];
    expect(
      await rejectionCauses(own.subresource('resize').patch('p', mergePatch({ spec: { containers: less } } as never))),
    ).toEqual(['spec: Forbidden: only cpu and memory resources are mutable']);
  });

  test('does not allow a resize to change the resize policy', async () => {
    await create({ containers: [{ ...container, resources: { requests, limits } }] });
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    expect(await rejectionCauses(resize({ requests, limits }, { resizePolicy }))).toEqual([
      'spec: Forbidden: only cpu and memory resources are mutable',
    ]);
  });

  test('allows a resize of sidecars and no other init containers', async () => {
    const resources = { requests, limits };
    const [sidecar, first] = [
      { name: 's', image: 'i', restartPolicy: 'Always', resources },
      { name: 'f', image: 'i', resources },
    ];
    await create({ containers: [container], initContainers: [sidecar, first] });
    const more = { requests: { cpu: '150m' }, limits };
    const change = (initContainers: readonly object[]) =>
      pods.subresource('resize').patch('p', mergePatch({ spec: { initContainers } } as never));
    expect((await change([{ ...sidecar, resources: more }, first])).spec.initContainers?.[0]?.resources).toEqual({
      limits,
      requests: { cpu: '150m' },
    });
    expect(
      await rejectionCauses(
        change([
          { ...sidecar, resources: more },
          { ...first, resources: more },
        ]),
      ),
    ).toEqual(['spec: Forbidden: resources for non-sidecar init containers are immutable']);
    expect(await rejectionCauses(change([{ ...sidecar, resources: { requests } }, first]))).toEqual([
      'spec.initContainers[0].resources.limits: Forbidden: resource limits cannot be removed',
    ]);
    const disk = { 'ephemeral-storage': '1Gi' };
    expect(
      await rejectionCauses(change([{ ...sidecar, resources: { ...more, limits: { ...limits, ...disk } } }, first])),
    ).toEqual(['spec: Forbidden: only cpu and memory resources for sidecar containers are mutable']);
  });
});

describe('pod field selectors', () => {
  test.each([
    ['spec.nodeName=n', 1],
    ['spec.nodeName=', 0],
    ['status.phase=Pending', 1],
    ['spec.restartPolicy=Always', 1],
    ['spec.schedulerName=default-scheduler', 1],
    ['spec.serviceAccountName=s', 1],
    ['spec.hostNetwork=false', 1],
    ['status.nominatedNodeName=x', 0],
  ])('selects by %s %i pods', async (fields, count) => {
    await create({ nodeName: 'n', serviceAccountName: 's' });
    expect((await pods.list({ fields })).items).toHaveLength(count);
  });

  test('rejects unsupported fields', async () => {
    await expect(pods.list({ fields: 'spec.hostname=x' })).rejects.toThrow('field label not supported: spec.hostname');
  });
});
