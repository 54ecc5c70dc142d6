/** Responses of core kinds that once differed from the reference server and that no recording covers. */
import { describe, expect, test } from 'vitest';
import { start } from './over-http.js';

const CORE = '/api/v1/namespaces/default';
const DRY = '?dryRun=All';

const PORTS = [{ port: 80 }];
const service = (name: string, spec: object, metadata: object = {}) => ({ metadata: { name, ...metadata }, spec });

describe('dry run of a Service', () => {
  const tried = async (spec: object) => (await start().call('POST', `${CORE}/services${DRY}`, service('a', spec))).body;

  test('returns the network address and ports beyond the range', async () => {
    const ports = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
      { name: 'c', port: 80, protocol: 'UDP' },
    ];
    const { spec } = await tried({ type: 'NodePort', ports });
    expect(spec).toMatchObject({ clusterIP: '10.0.0.0', clusterIPs: ['10.0.0.0'] });
    expect(spec.ports.map(({ nodePort }: { nodePort: number }) => nodePort)).toEqual([32769, 32770, 32769]);
  });

  test('continues from the highest given node port', async () => {
    const { spec } = await tried({
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80, nodePort: 5 },
        { name: 'b', port: 81 },
      ],
    });
    expect(spec.ports[1].nodePort).toBe(6);
    const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: PORTS };
    expect((await tried(local)).spec).toMatchObject({ ports: [{ nodePort: 32769 }], healthCheckNodePort: 32770 });
  });

  test('checks the range of a given address but not whether it is allocated', async () => {
    const { call } = start();
    await call('POST', `${CORE}/services`, service('a', { clusterIP: '10.0.0.77', ports: PORTS }));
    expect(
      (await call('POST', `${CORE}/services${DRY}`, service('b', { clusterIP: '10.0.0.77', ports: PORTS }))).status,
    ).toBe(201);
    expect((await tried({ clusterIP: '1.2.3.4', ports: PORTS })).message).toContain(
      'failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/16',
    );
  });

  test('rejects a node port that is allocated', async () => {
    const { call } = start();
    const spec = { type: 'NodePort', ports: [{ port: 80, nodePort: 30077 }] };
    await call('POST', `${CORE}/services`, service('a', spec));
    const { body } = await call('POST', `${CORE}/services${DRY}`, service('b', spec));
    expect(body.message).toContain('30077: provided port is already allocated');
  });
});

describe('Service', () => {
  const headless = { clusterIP: 'None', ports: PORTS };

  test('deletes the Endpoints of the same name with the Service', async () => {
    const { call } = start();
    const endpoints = async (name: string) => (await call('GET', `${CORE}/endpoints/${name}`)).status;
    for (const name of ['a', 'b', 'c']) {
      await call('POST', `${CORE}/services`, service(name, headless, name === 'b' ? { finalizers: ['x.y/z'] } : {}));
      await call('POST', `${CORE}/endpoints`, { metadata: { name } });
    }
    await call('DELETE', `${CORE}/services/a${DRY}`);
    expect(await endpoints('a')).toBe(200);
    await call('DELETE', `${CORE}/services/a`);
    expect(await endpoints('a')).toBe(404);
    await call('DELETE', `${CORE}/services/b`);
    expect(await endpoints('b')).toBe(200);
    await call('PATCH', `${CORE}/services/b`, { metadata: { finalizers: null } });
    expect(await endpoints('b')).toBe(404);
    await call('DELETE', `${CORE}/services`);
    expect(await endpoints('c')).toBe(404);
  });

  test('marks Endpoints with a finalizer for deletion', async () => {
    const { call } = start();
    await call('POST', `${CORE}/services`, service('a', headless));
    await call('POST', `${CORE}/endpoints`, { metadata: { name: 'a', finalizers: ['x.y/z'] } });
    await call('DELETE', `${CORE}/services/a`);
    const { body } = await call('GET', `${CORE}/endpoints/a`);
    expect(body.metadata.deletionTimestamp).toEqual(expect.any(String));
  });

  test('drops internalTrafficPolicy of an ExternalName Service but records its owner', async () => {
    const { call } = start();
    const spec = { type: 'ExternalName', externalName: 'x.y', internalTrafficPolicy: 'Local' };
    const { body } = await call('POST', `${CORE}/services`, service('a', spec));
    expect(body.spec).not.toHaveProperty('internalTrafficPolicy');
    expect(body.metadata.managedFields[0].fieldsV1['f:spec']).toHaveProperty('f:internalTrafficPolicy');
  });

  test('warns about non-standard addresses in the status', async () => {
    const { call } = start();
    await call('POST', `${CORE}/services`, service('a', { type: 'LoadBalancer', ports: PORTS }));
    const ingress = [{ ip: '1.2.3.4' }, { ip: '001.2.3.4' }];
    const { warning } = await call('PATCH', `${CORE}/services/a/status`, { status: { loadBalancer: { ingress } } });
    expect(warning).toMatch(/^299 - "status\.loadBalancer\.ingress\[1\]: non-standard IP address/);
  });
});

describe('order of update validation errors', () => {
  const labels = { 'a b': 'x' };

  test('validates a Node as new and then its update', async () => {
    const { call, refusedFields } = start();
    await call('POST', '/api/v1/nodes', { metadata: { name: 'n' }, spec: { providerID: 'a' } });
    const next = { metadata: { name: 'n', labels }, spec: { taints: [{ key: 'a b', effect: 'NoSchedule' }] } };
    const [label, taint] = ['metadata.labels', 'metadata.taints[0].key'];
    expect(await refusedFields('PUT', '/api/v1/nodes/n', next)).toEqual([
      ...[label, label, label, taint],
      ...[label, 'spec.providerID', taint],
    ]);
  });

  test('validates a PersistentVolume twice as new', async () => {
    const { call, refusedFields } = start();
    const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
    await call('POST', '/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec });
    const next = { metadata: { name: 'v', labels, annotations: labels }, spec: { ...spec, accessModes: [] } };
    const meta = ['metadata.labels', 'metadata.annotations'];
    const whole = [...meta, 'spec.accessModes'];
    expect(await refusedFields('PUT', '/api/v1/persistentvolumes/v', next)).toEqual([
      ...meta,
      ...meta,
      ...whole,
      ...whole,
    ]);
  });

  test('validates a PersistentVolumeClaim twice as new with its metadata in between', async () => {
    const { call, refusedFields } = start();
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await call('POST', `${CORE}/persistentvolumeclaims`, { metadata: { name: 'c' }, spec });
    const next = { metadata: { name: 'c', labels }, spec: { ...spec, accessModes: ['X'] } };
    const [label, modes] = ['metadata.labels', 'spec.accessModes'];
    expect(await refusedFields('PUT', `${CORE}/persistentvolumeclaims/c`, next)).toEqual([
      ...[label, label, label, modes],
      ...[label, label, modes, 'spec'],
    ]);
  });

  test('validates Endpoints metadata once more and then the object as new', async () => {
    const { call, refusedFields } = start();
    await call('POST', `${CORE}/endpoints`, { metadata: { name: 'e' } });
    const next = { metadata: { name: 'e', labels }, subsets: [{ addresses: [{ ip: '169.254.1.1' }] }] };
    const label = 'metadata.labels';
    expect(await refusedFields('PUT', `${CORE}/endpoints/e`, next)).toEqual([
      ...[label, label, label, label],
      'subsets[0].addresses[0].ip',
    ]);
  });

  test('validates pod security labels of a Namespace after all others', async () => {
    const { call, refusedFields } = start();
    await call('POST', '/api/v1/namespaces', { metadata: { name: 'n' } });
    const wrong = { 'pod-security.kubernetes.io/enforce': 'x' };
    const next = { metadata: { name: 'n', labels: { ...labels, ...wrong } } };
    expect(await refusedFields('PUT', '/api/v1/namespaces/n', next)).toEqual(Array(4).fill('metadata.labels'));
    expect(await refusedFields('PATCH', '/api/v1/namespaces/n', { metadata: { labels: wrong } })).toEqual([
      'metadata.labels[pod-security.kubernetes.io/enforce]',
    ]);
  });

  test('does not validate the metadata of an Event again', async () => {
    const { call, refusedFields } = start();
    const event = { metadata: { name: 'e' }, involvedObject: { namespace: 'default' } };
    await call('POST', `${CORE}/events`, event);
    const next = { metadata: { name: 'e', labels }, involvedObject: { namespace: 'other' } };
    const found = ['metadata.labels', 'metadata.labels', 'involvedObject.namespace'];
    expect(await refusedFields('PUT', `${CORE}/events/e`, next)).toEqual(found);
  });

  test('validates ConfigMap keys one by one, data before binaryData', async () => {
    const data = { 'a b': 'x', dup: 'z', 'e e': 'x' };
    const binaryData = { dup: 'AAAA', 'e e': 'AAAA' };
    const body = { metadata: { name: 'a' }, data, binaryData };
    expect(await start().refusedFields('POST', `${CORE}/configmaps`, body)).toEqual([
      ...['data[a b]', 'data[dup]', 'data[e e]', 'data[e e]'],
      'binaryData[e e]',
    ]);
  });

  test('validates declarative rules of a ReplicationController last', async () => {
    const { call, refusedFields } = start({ featureGates: { DeclarativeValidationTakeover: true } });
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await call('POST', `${CORE}/replicationcontrollers`, { metadata: { name: 'r' }, spec: { template } });
    const spec = { replicas: -1, minReadySeconds: -1, selector: { a: 'c' }, template };
    const [label, ofTemplate] = ['metadata.labels', 'spec.template.metadata.labels'];
    expect(
      await refusedFields('PUT', `${CORE}/replicationcontrollers/r`, { metadata: { name: 'r', labels }, spec }),
    ).toEqual([
      ...[label, label, label, ofTemplate],
      ...[label, ofTemplate],
      ...['spec.replicas', 'spec.minReadySeconds'],
    ]);
  });
});

test('rejects updates of a ReplicationController with an unknown non-convertible field', async () => {
  const { call } = start();
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = `${CORE}/replicationcontrollers`;
  for (const field of ['foo', 'selector']) {
    const annotations = { [`non-convertible.kubernetes.io/${field}`]: 'bar' };
    await call('POST', path, { metadata: { name: field, annotations }, spec: { template } });
  }
  const { status, body } = await call('PATCH', `${path}/foo`, { spec: { replicas: 4 } });
  expect([status, body.details.causes]).toEqual([
    422,
    [{ reason: 'FieldValueNotFound', message: 'Not found: "bar": unknown non-convertible field', field: 'foo' }],
  ]);
  expect((await call('PATCH', `${path}/selector`, { spec: { replicas: 4 } })).status).toBe(200);
});

describe('reads of events', () => {
  test('applies the limit to a list at any resourceVersion', async () => {
    const { call } = start();
    for (const name of ['a', 'b']) {
      await call('POST', `${CORE}/events`, { metadata: { name }, involvedObject: { namespace: 'default' } });
    }
    const { body } = await call('GET', `${CORE}/events?limit=1&resourceVersion=0`);
    expect(body.items).toHaveLength(1);
    expect(body.metadata).toMatchObject({ remainingItemCount: 1, continue: expect.any(String) });
  });

  test('rejects an invalid resourceVersion with BadRequest', async () => {
    const { status, body } = await start().call('GET', `${CORE}/events/a?resourceVersion=x`);
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/^invalid resource version: resourceVersion: /),
    ]);
  });
});

test('records owners of the fields inside claimRef of a PersistentVolume', async () => {
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/a' },
    claimRef: { namespace: 'a', name: 'b' },
  };
  const { body } = await start().call('POST', '/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec });
  expect(body.metadata.managedFields[0].fieldsV1['f:spec']['f:claimRef']).toEqual({
    '.': {},
    'f:name': {},
    'f:namespace': {},
  });
});

test('reports the position of invalid base64 padding', async () => {
  const { body } = await start().call('POST', `${CORE}/secrets`, { metadata: { name: 'a' }, data: { k: 'AA=A' } });
  expect(body.message).toContain('illegal base64 data at input byte 2');
});

test('returns a TokenRequest with its keys in wire order', async () => {
  const { call } = start();
  await call('POST', `${CORE}/serviceaccounts`, { metadata: { name: 's' } });
  const { body } = await call('POST', `${CORE}/serviceaccounts/s/token`, { spec: {} });
  expect(Object.keys(body)).toEqual(['kind', 'apiVersion', 'metadata', 'spec', 'status']);
  expect(Object.keys(body.metadata)).toEqual(['name', 'namespace', 'creationTimestamp', 'managedFields']);
});

test('names the requested group in errors about events', async () => {
  const { call } = start();
  const path = '/apis/events.k8s.io/v1/namespaces/default/events';
  const { body } = await call('GET', `${path}/a`);
  expect([body.message, body.details.group]).toEqual(['events.events.k8s.io "a" not found', 'events.k8s.io']);
  expect((await call('GET', `${CORE}/events/a`)).body.message).toBe('events "a" not found');
});

describe('ReplicationController', () => {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const path = `${CORE}/replicationcontrollers`;

  test('names the ReplicationController in the not-found error of its scale', async () => {
    expect((await start().call('GET', `${path}/r/scale`)).body.message).toBe('replicationcontrollers "r" not found');
  });

  test('defaults the labels from the template in a status update', async () => {
    const { call } = start();
    await call('POST', path, { metadata: { name: 'r' }, spec: { template } });
    const { body } = await call('PUT', `${path}/r/status`, { metadata: { name: 'r' }, status: { replicas: 1 } });
    expect(body.metadata.labels).toEqual({ a: 'b' });
  });
});

test('validates the swap capacity of a node', async () => {
  const node = { metadata: { name: 'n' }, status: { nodeInfo: { swap: { capacity: -1 } } } };
  const { body } = await start().call('POST', '/api/v1/nodes', node);
  expect(body.message).toContain('metadata.nodeSwapStatus.capacity: Invalid value: -1: must be greater than zero');
});

test('prints a zero quantity with its format', async () => {
  const spec = { capacity: { storage: '0', cpu: '1' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } };
  const { body } = await start().call('POST', '/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec });
  expect(body.message).toContain('s:"0", Format:"DecimalSI"}');
});
