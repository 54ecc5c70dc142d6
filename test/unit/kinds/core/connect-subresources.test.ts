/** Connect subresources (exec, log, proxy …): options, checks and error messages. */
import { createFetchHandler } from 'orchplane/http';
import { Endpoints, Node, Pod, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import type { AdmissionPlugin } from '../../../../src/admission/types.js';

async function start() {
  const cluster = testCluster({ dialect: 'kubernetes' });
  const handle = createFetchHandler(cluster);
  const send = async (path: string) => {
    const response = await handle(new Request(`http://cluster/api/v1/${path}`));
    const text = await response.text();
    return { code: response.status, ...(text === '' ? {} : JSON.parse(text)) } as { code: number; message?: string };
  };
  const one = { name: 'one', image: 'i' };
  const pods = cluster.api(Pod);
  await pods.create({ metadata: { name: 'p' }, spec: { containers: [one] } });
  const two = { initContainers: [{ ...one, name: 'first' }], containers: [one, { ...one, name: 'two' }] };
  await pods.create({ metadata: { name: 'two' }, spec: two });
  await pods.create({ metadata: { name: 'placed' }, spec: { nodeName: 'n', containers: [one] } });
  return { cluster, send, inDefault: (path: string) => send(`namespaces/default/${path}`) };
}

test('requires a valid container name if the pod has several containers', async () => {
  const { inDefault } = await start();
  const several = 'a container name must be specified for pod two, choose one of: [first one two]';
  for (const line of ['exec?command=sh', 'attach', 'log']) {
    expect(await inDefault(`pods/two/${line}`)).toMatchObject({ code: 400, message: several });
  }
  expect(await inDefault('pods/p/log?container=no')).toMatchObject({
    code: 400,
    message: 'container no is not valid for pod p',
  });
  expect(await inDefault('pods/two/exec?container=first')).toMatchObject({
    code: 400,
    message: 'pod two does not have a host assigned',
  });
});

test('returns an empty log for a pod that is not scheduled', async () => {
  const { inDefault } = await start();
  expect(await inDefault('pods/p/log?tailLines=1&sinceTime=2030-01-01T00:00:00Z&follow')).toEqual({ code: 204 });
  expect(await inDefault('pods/no/log')).toMatchObject({ code: 404, message: 'pods "no" not found' });
});

test('rejects options that are invalid or contradict each other', async () => {
  const { inDefault } = await start();
  const message = async (query: string) => (await inDefault(`pods/p/log?${query}`)).message;
  expect(await message('tailLines=x')).toBe('strconv.ParseInt: parsing "x": invalid syntax');
  expect(await message('sinceTime=x')).toBe(
    'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
  );
  expect(await message('tailLines=-1&limitBytes=0&sinceSeconds=0')).toBe(
    'PodLogOptions "p" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
  );
  for (const time of ['2030-01-01T00:00:00Z', '', 'null']) {
    expect(await message(`sinceSeconds=1&sinceTime=${time}`)).toContain(
      'at most one of `sinceTime` or `sinceSeconds` may be specified',
    );
  }
  expect(await message('stream=Stdout')).toContain('stream: Forbidden: may not be specified');
  expect((await inDefault('pods/p/portforward?ports=3000000000')).message).toBe(
    'cannot convert to []int32: strconv.ParseUint: parsing "3000000000": value out of range',
  );
});

test('accepts the stream option if its feature gate is enabled', async () => {
  const cluster = testCluster({ dialect: 'kubernetes', featureGates: { PodLogsQuerySplitStreams: true } });
  const handle = createFetchHandler(cluster);
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const log = async (query: string) =>
    (await handle(new Request(`http://cluster/api/v1/namespaces/default/pods/p/log?${query}`))).text();
  expect(await log('stream=Stdout')).toBe('');
  expect(await log('stream=x')).toContain('stream: Unsupported value: \\"x\\": supported values: \\"All\\"');
  expect(await log('stream=Stderr&tailLines=1')).toContain('`tailLines` and specific `stream` are mutually exclusive');
});

test('requires an existing node with an address', async () => {
  const { cluster, inDefault } = await start();
  expect(await inDefault('pods/placed/log')).toMatchObject({ code: 404, message: 'pods "n" not found' });
  await cluster.api(Node).create({ metadata: { name: 'n' } });
  expect(await inDefault('pods/placed/exec')).toMatchObject({
    code: 500,
    message: 'no preferred addresses found; known addresses: []',
  });
  await cluster.api(Node).status.update('n', {
    metadata: { name: 'n' },
    status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] },
  });
  expect((await inDefault('pods/placed/portforward')).message).toContain('orchplane runs no containers');
});

test('accepts a scheme and a port in the name of a proxy request', async () => {
  const { cluster, send, inDefault } = await start();
  expect(await inDefault('pods/ftp:p:80/proxy')).toMatchObject({
    code: 400,
    message: 'invalid pod request "ftp:p:80"',
  });
  expect(await inDefault('pods/https:p:80/proxy/x')).toMatchObject({ code: 400, message: 'address not allowed' });
  expect(await send('nodes/n:10250/proxy')).toMatchObject({ code: 404, message: 'nodes "n" not found' });
  expect(await inDefault('services/s/proxy')).toMatchObject({ code: 404, message: 'services "s" not found' });
  const selector = { app: 'a' };
  await cluster
    .api(Service)
    .create({ metadata: { name: 's' }, spec: { selector, ports: [{ port: 80, name: 'web' }] } });
  expect(await inDefault('services/s:81/proxy')).toMatchObject({
    code: 503,
    message: 'no service port 81 found for service "s"',
  });
  const endpoints = cluster.api(Endpoints);
  await endpoints.create({ metadata: { name: 's' } });
  const noEndpoints = { code: 503, message: 'no endpoints available for service "s"' };
  expect(await inDefault('services/s:80/proxy')).toMatchObject(noEndpoints);
  const subsets = [{ addresses: [{ ip: '10.0.0.1' }], ports: [{ name: 'web', port: 80 }] }];
  await endpoints.edit('s', (draft) => Object.assign(draft, { subsets }));
  expect((await inDefault('services/s:80/proxy')).message).toContain('orchplane runs no containers');
  expect(await inDefault('services/s:other/proxy')).toMatchObject({
    code: 503,
    message: 'no endpoints available for service "s:other"',
  });
});

test('admission sees the path of a proxied request, not a parameter with this name', async () => {
  const seen: unknown[] = [];
  const see: AdmissionPlugin = {
    name: 'See',
    handlesConnect: true,
    validate: ({ operation, object }) => void (operation === 'CONNECT' && seen.push(object?.['path'])),
  };
  const cluster = testCluster({ dialect: 'kubernetes', admission: [see] });
  const handle = createFetchHandler(cluster);
  const below = ['', '/', '/a', '/a/b%20c/', '/a%2Fb', '/..%2f'];
  for (const path of below)
    await handle(new Request(`http://cluster/api/v1/namespaces/default/pods/p/proxy${path}?path=/other`));
  await handle(new Request('http://cluster/api/v1/nodes/n/proxy/logs'));
  expect(seen).toEqual([undefined, '/', '/a', '/a/b c/', '/a/b', '/../', '/logs']);
});

test('options that a mutating plugin has changed decide what runs', async () => {
  const changes: Readonly<Record<string, object>> = {
    exec: { command: ['id'], container: 'two' },
    portforward: { ports: [81] },
  };
  const change: AdmissionPlugin = {
    name: 'Change',
    handlesConnect: true,
    mutate: ({ object, subresource }) => void Object.assign(object ?? {}, changes[subresource]),
  };
  const cluster = testCluster({ dialect: 'kubernetes', admission: [change] });
  const handle = createFetchHandler(cluster);
  const container = (name: string) => ({ name, image: 'i' });
  await cluster.api(Pod).create({ metadata: { name: 'p' }, spec: { containers: [container('one')] } });
  const messageOf = async (path: string) =>
    (await (await handle(new Request(`http://cluster/api/v1/namespaces/default/pods/p/${path}`))).json()).message;
  expect(await messageOf('exec?command=sh&container=one')).toBe('container two is not valid for pod p');
  expect(await messageOf('attach?container=one')).toBe('pod p does not have a host assigned');
  expect(await messageOf('portforward?ports=80')).toContain(
    'admission plugins cannot change the options of portforward',
  );
});
