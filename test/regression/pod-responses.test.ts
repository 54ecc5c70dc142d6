/** Responses of pods that once differed from the reference server and that no recording covers. */
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

const containerWith = (name: string, cpu: string) => ({ name, image: 'i', resources: { requests: { cpu } } });

test('rejects a resize that adds, removes or reorders containers', async () => {
  const { call, create } = start();
  await create('p', { containers: [containerWith('a', '1'), containerWith('b', '1')] });
  const resize = (containers: object[]) => call('PUT', `${PODS}/p/resize`, pod('p', { containers }));
  expect(causes(await resize([containerWith('a', '1')]))).toEqual([
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ]);
  expect(causes(await resize([containerWith('b', '1'), containerWith('a', '1')]))).toEqual([
    'spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize',
    'spec.containers[1].name: Forbidden: containers may not be renamed or reordered on resize',
  ]);
  expect(causes(await resize([containerWith('A', '1'), containerWith('b', '1')]))[0]).toMatch(
    /^spec.containers\[0\].name: Invalid value/,
  );
  const { status, body } = await resize([{ ...containerWith('a', '2'), image: 'other' }, containerWith('b', '1')]);
  expect([status, body.spec.containers[0].image, body.spec.containers[0].resources.requests.cpu]).toEqual([
    200,
    'i',
    '2',
  ]);
});

test('reports errors without a field at []', async () => {
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

test('computes the QoS class without dropped resources', async () => {
  const { body } = await start().create('p', { resources: { requests: { cpu: '1' } } });
  expect(body.status.qosClass).toBe('BestEffort');
});

test('warns about non-standard addresses in the status and rejects empty ones', async () => {
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

test('rounds reported amounts up to thousandths', async () => {
  const { call, create } = start();
  await create('p');
  const container = { name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0 };
  const status = { containerStatuses: [{ ...container, allocatedResources: { cpu: '0.0001' } }] };
  const { body } = await call('PATCH', `${PODS}/p/status`, { status });
  expect(body.status.containerStatuses[0].allocatedResources).toEqual({ cpu: '1m' });
});

test('warns about an AppArmor annotation also when the pod is rejected', async () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'runtime/default' };
  const { status, warning } = await start().create('p', { containers: [{ name: 'c' }] }, { annotations });
  expect([status, warning]).toEqual([422, expect.stringContaining('deprecated since v1.30')]);
});

test('rejects a template whose seccomp annotation and field differ', async () => {
  const annotations = { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' };
  const { spec } = pod('t', { securityContext: { seccompProfile: { type: 'Unconfined' } } });
  const template = { metadata: { annotations }, spec };
  const url = PODS.replace('pods', 'podtemplates');
  expect(causes(await start().call('POST', url, { metadata: { name: 't' }, template }))).toEqual([
    'template.spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match',
  ]);
});

test('prints selectors and quantities in the diff of a rejected update', async () => {
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

test('rejects an eviction that ignores store read errors', async () => {
  const { call, create } = start();
  await create('p');
  const deleteOptions = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' }, deleteOptions };
  const { status, body: response } = await call('POST', `${PODS}/p/eviction`, body);
  expect([status, response.message]).toEqual([
    422,
    'Eviction.policy "p" is invalid: deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: can not be set for pod eviction, try after removing the option',
  ]);
});

test('validates lifecycles of init containers with and without a dropped stop signal', async () => {
  const initContainers = [
    { name: 'i', image: 'i', lifecycle: {} },
    { name: 'j', image: 'i', lifecycle: { stopSignal: 'SIGTERM' } },
  ];
  expect(causes(await start().create('p', { initContainers }))).toEqual([
    'spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers without restartPolicy=Always',
  ]);
});

test('rejects resource claims of mirror pods', async () => {
  const spec = { nodeName: 'n', resourceClaims: [{ name: 'x', resourceClaimName: 'y' }] };
  expect(causes(await start({ DynamicResourceAllocation: true }).create('p', spec, MIRROR))).toEqual([
    '[]: Forbidden: static pods do not support resource claims',
  ]);
});

test('accepts a source name that ends in a dash and rejects an upper-case search domain', async () => {
  const { create } = start();
  const envFrom = [{ configMapRef: { name: 'a-' } }];
  expect((await create('p', { containers: [{ name: 'c', image: 'i', envFrom }] })).status).toBe(201);
  expect(causes(await create('q', { dnsConfig: { searches: ['A'] } }))[0]).toContain("'_', '-' or '.'");
});

test('rejects tables for some subresources of a pod', async () => {
  const { call, create } = start();
  await create('p');
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const requested = (accept: string) => call('GET', `${PODS}/p/resize`, undefined, { accept });
  expect((await requested(table)).status).toBe(406);
  expect((await requested(`${table},application/json`)).body.kind).toBe('Pod');
});

test('parses the ports of a port-forward request as numbers', async () => {
  const { call, create } = start();
  await create('p');
  const forward = async (ports: string) => (await call('POST', `${PODS}/p/portforward?ports=${ports}`)).body.message;
  expect(await forward('80,x')).toBe('cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax');
  expect(await forward('70000')).toBe(
    'cannot convert to []int32: strconv.ParseUint: parsing "70000": value out of range',
  );
  expect(await forward('80,81')).toBe('pod p does not have a host assigned');
});

test('checks the resourceVersion of an apply that creates a pod after mutating admission', async () => {
  const { call } = start();
  const apply = (priorityClassName: string | undefined) =>
    call(
      'PATCH',
      `${PODS}/a?fieldManager=m`,
      { apiVersion: 'v1', kind: 'Pod', ...pod('a', { priorityClassName }, { resourceVersion: 'x' }) },
      { 'content-type': 'application/apply-patch+yaml' },
    );
  const { status, body } = await apply('none');
  expect([status, body.message]).toEqual([403, 'pods "a" is forbidden: no PriorityClass with name none was found']);
  const { status: code, body: failure } = await apply(undefined);
  expect([code, failure.message]).toEqual([500, 'strconv.ParseUint: parsing "x": invalid syntax']);
});
