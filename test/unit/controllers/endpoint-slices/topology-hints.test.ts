/** Topology-aware hints of EndpointSlices: the annotation topology-mode of Services. */
import { endpointSlices } from 'orchplane/controllers';
import { EndpointSlice, Node, Service } from 'orchplane/kinds';
import { afterEach, expect, test } from 'vitest';
import { type Serving, serving } from '../endpoints-fixture.js';

const MODE = 'service.orch.io/topology-mode';
const ZONE = 'topology.orch.io/zone';

let self: Serving;
afterEach(async () => {
  expect(self.failures).toEqual([]);
  await self.cluster.close();
});

/** A cluster with one ready node in each zone, named like the zone, and the Service svc. */
async function start(cpus: Record<string, string>, annotations: Record<string, string> = { [MODE]: 'Auto' }) {
  self = await serving([endpointSlices()]);
  await self.cluster.api(Node).delete('n1');
  for (const [zone, cpu] of Object.entries(cpus)) await readyNode(zone, zone, cpu);
  await self.cluster.api(Service).create({
    metadata: { name: 'svc', annotations },
    spec: { selector: { app: 'x' }, ports: [{ port: 80 }] },
  });
}

async function readyNode(name: string, zone: string | undefined, cpu: string, labels: Record<string, string> = {}) {
  const zoneLabel = zone === undefined ? {} : { [ZONE]: zone };
  await self.cluster.api(Node).create({
    metadata: { name, labels: { ...labels, ...zoneLabel } },
    status: { allocatable: { cpu }, conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

/** The endpoints of the Service svc. */
async function endpointsOfService() {
  const { items } = await self.cluster.api(EndpointSlice).list({ labels: 'orch.io/service-name=svc' });
  return items.flatMap(({ endpoints }) => endpoints ?? []);
}

/** Creates ready pods on the nodes. */
async function pods(...nodes: string[]) {
  let next = (await endpointsOfService()).length + 1;
  for (const node of nodes) {
    await self.pod(`p${next}`, { ip: `10.1.0.${next}`, node });
    next++;
  }
  await self.cluster.settle();
}

/** `zone of the endpoint>zone of its hint`, sorted. */
async function hints() {
  await self.cluster.settle();
  return (await endpointsOfService())
    .map(({ zone, hints: given }) => `${zone}>${given?.forZones?.map(({ name }) => name).join() ?? ''}`)
    .sort();
}

/** Without the events of failed reconciles. */
async function events() {
  await self.cluster.settle();
  return (await self.events()).filter((event) => event.includes('Topology'));
}

test('gives endpoints a hint for their own zone if zones are balanced', async () => {
  await start({ a: '4', b: '4000m' });
  await pods('a', 'a', 'b', 'b');
  expect(await hints()).toEqual(['a>a', 'a>a', 'b>b', 'b>b']);
  expect((await events()).at(-1)).toBe(
    'Normal TopologyAwareHintsEnabled Topology Aware Hints has been enabled, addressType: IPv4 (1)',
  );
});

test('gives endpoints of a zone to zones that need them', async () => {
  await start({ a: '2', b: '2', c: '2' });
  await pods('a', 'a', 'a', 'a', 'b', 'b');
  expect(await hints()).toEqual(['a>a', 'a>a', 'a>c', 'a>c', 'b>b', 'b>b']);
});

test('allocates endpoints in proportion to the CPU of zones', async () => {
  await start({ a: '6', b: '2' });
  await pods('a', 'a', 'b', 'b', 'b', 'b', 'b', 'b');
  expect(await hints()).toEqual(['a>a', 'a>a', 'b>a', 'b>a', 'b>a', 'b>a', 'b>b', 'b>b']);
});

test('gives no hints to endpoints that are not ready', async () => {
  await start({ a: '2', b: '2' });
  await pods('a', 'b');
  await self.pod('unready', { ip: '10.1.0.99', node: 'a', ready: false });
  expect(await hints()).toEqual(['a>', 'a>a', 'b>b']);
});

test('gives no hints if there are fewer endpoints than zones', async () => {
  await start({ a: '2', b: '2', c: '2' });
  await pods('a', 'b');
  expect(await hints()).toEqual(['a>', 'b>']);
  expect(await events()).toContain(
    'Warning TopologyAwareHintsDisabled Insufficient number of endpoints (2 endpoints, 3 zones), addressType: IPv4 (1)',
  );
});

test('gives no hints if they would overload endpoints', async () => {
  await start({ a: '1', b: '1' });
  await pods('a', 'a', 'b');
  expect(await hints()).toEqual(['a>', 'a>', 'b>']);
  expect(await events()).toContain(
    'Warning TopologyAwareHintsDisabled Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones), addressType: IPv4 (1)',
  );
});

test.each([
  ['one zone only', { a: '2' }],
  ['a node without CPU', { a: '2', b: '0' }],
])('gives no hints with %s', async (_what, cpus) => {
  await start(cpus);
  await pods('a', 'a');
  expect(await hints()).toEqual(['a>', 'a>']);
  expect((await events()).at(-1)).toMatch(
    /^Warning TopologyAwareHintsDisabled Insufficient Node information: allocatable CPU or zone not specified on one or more nodes, addressType: IPv4 /,
  );
});

test('ignores nodes of the control plane and nodes that are not ready', async () => {
  await start({ a: '2', b: '2' });
  await readyNode('control', undefined, '2', { 'node-role.orch.io/control-plane': '' });
  await self.node('unready');
  await pods('a', 'b');
  expect(await hints()).toEqual(['a>a', 'b>b']);
});

test('removes hints when a ready endpoint has no zone', async () => {
  await start({ a: '2', b: '2' });
  await readyNode('control', undefined, '2', { 'node-role.orch.io/control-plane': '' });
  await pods('a', 'b');
  expect(await hints()).toEqual(['a>a', 'b>b']);
  await self.pod('elsewhere', { ip: '10.1.0.98', node: 'control' });
  await self.pod('another', { ip: '10.1.0.99', node: 'control' });
  expect(await hints()).toEqual(['a>', 'b>', 'undefined>', 'undefined>']);
  expect(await events()).toContainEqual(
    expect.stringContaining(
      'Warning TopologyAwareHintsDisabled One or more endpoints do not have a zone specified, addressType: IPv4',
    ),
  );
});

test('removes hints with an event when the annotation is removed', async () => {
  await start({ a: '2', b: '2' });
  await pods('a', 'b');
  await self.cluster
    .api(Service)
    .patch('svc', { type: 'merge', merge: { metadata: { annotations: { [MODE]: null } } } });
  expect(await hints()).toEqual(['a>', 'b>']);
  expect(await events()).toContain(
    'Warning TopologyAwareHintsDisabled Topology Aware Hints has been disabled, addressType: IPv4 (1)',
  );
});

test('reads the deprecated annotation, too, and ignores other values', async () => {
  await start({ a: '2', b: '2' }, { 'service.orch.io/topology-aware-hints': 'auto' });
  await pods('a', 'b');
  expect(await hints()).toEqual(['a>a', 'b>b']);
  const annotations = { 'service.orch.io/topology-aware-hints': 'disabled' };
  await self.cluster.api(Service).patch('svc', { type: 'merge', merge: { metadata: { annotations } } });
  expect(await hints()).toEqual(['a>', 'b>']);
});

test('updates hints when nodes change so that endpoints of a zone are overloaded', async () => {
  await start({ a: '2', b: '2' });
  await pods('a', 'a', 'a', 'b', 'b', 'b');
  expect(await hints()).toEqual(['a>a', 'a>a', 'a>a', 'b>b', 'b>b', 'b>b']);
  await readyNode('b2', 'b', '8');
  expect((await hints()).filter((hint) => hint.endsWith('>b'))).toHaveLength(5);
  const conditions = [{ type: 'Ready', status: 'False' as const }];
  await self.cluster.api(Node).status.patch('a', { type: 'merge', merge: { status: { conditions } } });
  expect((await hints()).every((hint) => hint.endsWith('>'))).toBe(true);
});
