/** Answers about pods that differed from the reference where no recording had looked. */
import { expect, test } from 'vitest';
import { STRATEGIC, start as startWith } from './over-http.js';

const PODS = '/api/v1/namespaces/default/pods';
const MIRROR = { annotations: { 'kubernetes.io/config.mirror': 'x' } };

function start(featureGates: Record<string, boolean> = {}) {
  const { call } = startWith({ featureGates });
  const create = (name: string, spec: object = {}, metadata: object = {}) =>
    call('POST', PODS, pod(name, spec, metadata));
  return { call, create };
}

function pod(name: string, spec: object = {}, metadata: object = {}) {
  return { metadata: { name, ...metadata }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } };
}

function causes({ body }: { body: { details?: { causes?: { field: string; message: string }[] } } }) {
  return (body.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}

const asks = (name: string, cpu: string) => ({ name, image: 'i', resources: { requests: { cpu } } });

test('a resize neither adds nor takes nor moves containers', async () => {
  const { call, create } = start();
  await create('p', { containers: [asks('a', '1'), asks('b', '1')] });
  const resize = (containers: object[]) => call('PUT', `${PODS}/p/resize`, pod('p', { containers }));
  expect(causes(await resize([asks('a', '1')]))).toEqual([
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ]);
  expect(causes(await resize([asks('b', '1'), asks('a', '1')]))).toEqual([
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
  ]);
  expect(causes(await resize([asks('A', '1'), asks('b', '1')]))[0]).toMatch(
    /^spec.containers\[0\].name: Invalid value/,
  );
  const { status, body } = await resize([{ ...asks('a', '2'), image: 'other' }, asks('b', '1')]);
  expect([status, body.spec.containers[0].image, body.spec.containers[0].resources.requests.cpu]).toEqual([
    200,
    'i',
    '2',
  ]);
});

test('what concerns no field stands at empty brackets', async () => {
  const { call, create } = start();
  await create('w', { os: { name: 'windows' } });
  await create('m', { nodeName: 'n' }, MIRROR);
  expect(causes(await call('PUT', `${PODS}/w/resize`, pod('w', { os: { name: 'windows' } })))).toEqual([
    '[]: Forbidden: windows pods cannot be resized',
  ]);
  const more = { spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] } };
  expect(causes(await call('PATCH', `${PODS}/m/ephemeralcontainers`, more, { 'content-type': STRATEGIC }))).toEqual([
    '[]: Forbidden: static pods do not support ephemeral containers',
  ]);
});

test('a class of service does not follow resources that are dropped', async () => {
  const { body } = await start().create('p', { resources: { requests: { cpu: '1' } } });
  expect(body.status.qosClass).toBe('BestEffort');
});

test('addresses in reports: odd ones are warned of, and bad ones may stay', async () => {
  const { call, create } = start();
  await create('p');
  const report = (status: object) => call('PATCH', `${PODS}/p/status`, { status });
  expect((await report({ podIP: '010.0.0.1' })).warning).toContain(
    'status.podIPs[0].ip: non-standard IP address \\"010.0.0.1\\"',
  );
  expect(causes(await report({ hostIPs: [{}] }))).toEqual([
    'status.hostIPs[0]: Invalid value: "": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ]);
});

test('reported amounts are rounded up to thousandths', async () => {
  const { call, create } = start();
  await create('p');
  const container = { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0 };
  const status = { containerStatuses: [{ ...container, allocatedResources: { cpu: '0.0001' } }] };
  const { body } = await call('PATCH', `${PODS}/p/status`, { status });
  expect(body.status.containerStatuses[0].allocatedResources).toEqual({ cpu: '1m' });
});

test('a profile in an annotation is warned of, even when the pod is refused', async () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' };
  const { status, warning } = await start().create('p', { containers: [{ name: 'c' }] }, { annotations });
  expect([status, warning]).toEqual([422, expect.stringContaining('deprecated since v1.30')]);
});

test('profiles of templates agree with their annotations', async () => {
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' };
  const { spec } = pod('t', { securityContext: { seccompProfile: { type: 'Unconfined' } } });
  const template = { metadata: { annotations }, spec };
  const url = PODS.replace('pods', 'podtemplates');
  expect(causes(await start().call('POST', url, { metadata: { name: 't' }, template }))).toEqual([
    'template.spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
  ]);
});

test('selectors and amounts speak for themselves in differences', async () => {
  const { call, create } = start();
  await create('p', { volumes: [{ name: 'v', emptyDir: { sizeLimit: '1Gi' } }] });
  const spread = { maxSkew: 1, topologyKey: 'k', whenUnsatisfiable: 'DoNotSchedule' };
  const labelSelector = { matchLabels: { a: 'b' } };
  const spec = { topologySpreadConstraints: [{ ...spread, labelSelector }], volumes: [{ name: 'v', emptyDir: {} }] };
  const { body } = await call('PATCH', `${PODS}/p`, { spec });
  expect(body.message).toContain(
    'LabelSelector:     s"&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpress"...,',
  );
  expect(body.message).toContain('SizeLimit: s"1Gi",');
});

test('an eviction does not go without reading', async () => {
  const { call, create } = start();
  await create('p');
  const deleteOptions = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions };
  const { status, body: answer } = await call('POST', `${PODS}/p/eviction`, body);
  expect([status, answer.message]).toEqual([
    422,
    'Eviction.policy "p" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the option',
  ]);
});

test('signals that are dropped leave other lifecycles alone', async () => {
  const initContainers = [
    { name: 'i', image: 'i', lifecycle: {} },
    { name: 'j', image: 'i', lifecycle: { stopSignal: 'SIGTERM' } },
  ];
  expect(causes(await start().create('p', { initContainers }))).toEqual([
    'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
  ]);
});

test('mirrors of static pods have no claims', async () => {
  const spec = { nodeName: 'n', resourceClaims: [{ name: 'x', resourceClaimName: 'y' }] };
  expect(causes(await start({ DynamicResourceAllocation: true }).create('p', spec, MIRROR))).toEqual([
    '[]: Forbidden: static pods do not support resource claims',
  ]);
});

test('names of sources may end in a dash, searches may not be in capitals', async () => {
  const { create } = start();
  const envFrom = [{ configMapRef: { name: 'a-' } }];
  expect((await create('p', { containers: [{ name: 'c', image: 'i', envFrom }] })).status).toBe(201);
  expect(causes(await create('q', { dnsConfig: { searches: ['A'] } }))[0]).toContain("'_', '-' or '.'");
});

test('some addresses below a pod have no tables', async () => {
  const { call, create } = start();
  await create('p');
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const asked = (accept: string) => call('GET', `${PODS}/p/resize`, undefined, { accept });
  expect((await asked(table)).status).toBe(406);
  expect((await asked(`${table},application/json`)).body.kind).toBe('Pod');
});

test('ports of a line are a list of numbers', async () => {
  const { call, create } = start();
  await create('p');
  const forward = async (ports: string) => (await call('POST', `${PODS}/p/portforward?ports=${ports}`)).body.message;
  expect(await forward('80,x')).toBe('cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax');
  expect(await forward('70000')).toBe(
    'cannot convert to []int32: strconv.ParseUint: parsing "70000": value out of range',
  );
  expect(await forward('80,81')).toBe('pod p does not have a host assigned');
});
