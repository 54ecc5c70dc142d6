/** Responses that once differed from the reference server and that no recording covers. */
import { mergePatch } from 'orchplane';
import { controllers, readyPods, stages } from 'orchplane/controllers';
import {
  CertificateSigningRequest,
  ConfigMap,
  EndpointSlice,
  IPAddress,
  Pod,
  StorageClass,
  StorageVersionMigration,
} from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { start } from './over-http.js';

const CORE = `/api/v1/namespaces/default`;

test('warns about each repeated YAML key separately', async () => {
  const { call } = start();
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nodd: 1\ndata:\n  k: v\n  k: w\n';
  expect((await call('POST', `${CORE}/configmaps`, body, { 'content-type': 'application/yaml' })).warning).toBe(
    '299 - "line 7: key \\"k\\" already set in map", 299 - "unknown field \\"odd\\""',
  );
});

test('warns about a pod name that is not a valid host name', async () => {
  const { call } = start();
  const spec = { containers: [{ name: 'c', image: 'i' }] };
  const { warning } = await call('POST', `${CORE}/pods`, JSON.stringify({ metadata: { name: 'a.b' }, spec }));
  expect(warning).toBe(
    '299 - "metadata.name: this is used in the Pod\'s hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"',
  );
});

test('rejects an owner reference whose apiVersion has three parts', async () => {
  const owner = { apiVersion: 'a/b/c', kind: 'K', name: 'n', uid: 'u' };
  const created = start()
    .cluster.api(ConfigMap)
    .create({ metadata: { name: 'o', ownerReferences: [owner] } });
  await expect(created).rejects.toThrow(
    'metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
  );
});

test('rejects delete options that are not an object', async () => {
  const { call } = start();
  const { status, body } = await call('DELETE', `${CORE}/configmaps/a`, '[]');
  expect([status, body.message]).toEqual([
    500,
    expect.stringMatching(/^couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value/),
  ]);
});

test('names the Go type of an enumerated field in the error', async () => {
  const { call } = start();
  const spec = { containers: [{ name: 'c', image: 'i' }], tolerations: [{ effect: 1 }] };
  const { body } = await call('POST', `${CORE}/pods`, JSON.stringify({ metadata: { name: 'p' }, spec }));
  expect(body.message).toMatch(/of type v1\.TaintEffect$/);
});

test('returns table cells of migrations and of the default storage class', async () => {
  const { cluster, rows } = start({
    featureGates: { StorageVersionMigrator: true },
    runtimeConfig: { 'api/all': true },
  });
  const resource = { group: 'apps', version: 'v1', resource: 'deployments' };
  await cluster.api(StorageVersionMigration).create({ metadata: { name: 'm' }, spec: { resource } });
  const migrations = await rows('/apis/storagemigration.k8s.io/v1alpha1/storageversionmigrations');
  expect(migrations.cells).toEqual([['m', 'deployments.v1.apps']]);
  expect(migrations.columns).toMatchObject([
    { name: 'Name', format: '' },
    { name: 'Resource', format: '' },
  ]);
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  await cluster.api(StorageClass).create({ metadata: { name: 'd', annotations }, provisioner: 'p' });
  await cluster.api(StorageClass).create({ metadata: { name: 'e' }, provisioner: 'p' });
  const classes = await rows('/apis/storage.k8s.io/v1/storageclasses');
  expect(classes.cells.map(([name]: [string]) => name)).toEqual(['d (default)', 'e']);
});

test('does not change a slice that is written again with empty lists', async () => {
  const slices = start().cluster.api(EndpointSlice);
  const empty = { metadata: { name: 's' }, addressType: 'IPv4', endpoints: [], ports: [] } as const;
  const { resourceVersion } = (await slices.create(empty as never)).metadata;
  expect((await slices.update(empty as never)).metadata).toMatchObject({ generation: 1, resourceVersion });
});

test('validates a changed parentRef of an IPAddress also as a new one', async () => {
  const addresses = start().cluster.api(IPAddress);
  const parentRef = { resource: 'services', namespace: 'n', name: 's' };
  await addresses.create({ metadata: { name: '10.0.0.9' }, spec: { parentRef } });
  await expect(addresses.patch('10.0.0.9', mergePatch({ spec: { parentRef: null } }) as never)).rejects.toThrow(
    '[spec.parentRef: Required value, spec.parentRef: Invalid value: "null": field is immutable]',
  );
});

test('prints a missing certificate request as nil', async () => {
  const requests = start().cluster.api(CertificateSigningRequest);
  const spec = { signerName: 'example.com/a', usages: ['client auth'] };
  await expect(requests.create({ metadata: { name: 'r' }, spec } as never)).rejects.toThrow(
    'spec.request: Invalid value: []byte(nil): PEM block type must be CERTIFICATE REQUEST',
  );
});

test('terminates the sidecars of a killed pod', async () => {
  const { cluster } = start({ controllers: controllers([stages(readyPods({ grace: 'kept' }))]) });
  const pods = cluster.api(Pod);
  await pods.create({
    metadata: { name: 'p', finalizers: ['example.com/hold'] },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      initContainers: [{ name: 's', image: 'i', restartPolicy: 'Always' }],
    },
  });
  await cluster.settle();
  await pods.delete('p');
  await cluster.clock.advance(30_000);
  const { status } = await pods.get('p');
  expect(status.initContainerStatuses).toMatchObject([
    { name: 's', ready: false, state: { terminated: { exitCode: 137 } } },
  ]);
  await cluster.close();
});

test('sorts a table of FlowSchemas by precedence', async () => {
  const { rows } = start();
  const { columns, cells } = await rows('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas');
  const at = columns.findIndex(({ name }: { name: string }) => name === 'MatchingPrecedence');
  const ranks = cells.map((row: unknown[]) => row[at]);
  expect(ranks).toEqual([...ranks].sort((left: number, right: number) => left - right));
  expect(cells[0][0]).toBe('exempt');
  expect(cells.at(-1)[0]).toBe('catch-all');
});

test('does not append a suffix to generateName of an IPAddress', async () => {
  const { cluster } = start();
  const spec = { parentRef: { resource: 'services', namespace: 'default', name: 'web' } };
  const made = await cluster.api(IPAddress).create({ metadata: { generateName: '10.0.0.77' }, spec });
  expect(made.metadata.name).toBe('10.0.0.77');
});
