/** serve: the endpoints of the API server's Service, and the CA of client certificates for aggregated API servers. */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap, EndpointSlice, Endpoints } from '../../../src/kinds/index.js';
import { createClientAuthority } from '../../../src/node/certificates.js';
import { serve } from '../../../src/node/index.js';

let cluster: ReturnType<typeof createCluster>;

beforeEach(() => {
  cluster = createCluster({ dialect: 'kubernetes' });
});

afterEach(() => cluster.close());

const endpoints = async () => (await cluster.api(Endpoints).get('kubernetes')).subsets?.[0];

describe('a served cluster', () => {
  test('has its port and an address of the machine as endpoint until it closes', async () => {
    const server = await serve(cluster);
    const subset = await endpoints();
    expect(subset?.ports).toEqual([{ name: 'https', port: server.port, protocol: 'TCP' }]);
    // Not the loopback address on which it listens: an endpoint cannot have one.
    const [{ ip } = { ip: '' }] = subset?.addresses ?? [];
    expect(ip).not.toMatch(/^(127\.|0\.|::)/);
    expect((await cluster.api(EndpointSlice).get('kubernetes')).endpoints?.[0]?.addresses).toEqual([ip]);
    await server.close();
    expect(await endpoints()).toBeUndefined();
  });

  test('keeps the endpoint of a listener that is still open', async () => {
    const first = await serve(cluster);
    await using second = await serve(cluster);
    expect((await endpoints())?.ports?.[0]?.port).toBe(first.port);
    await first.close();
    expect((await endpoints())?.ports?.[0]?.port).toBe(second.port);
  });

  test('removes nothing after the cluster was closed', async () => {
    const server = await serve(cluster);
    await cluster.close();
    await expect(server.close()).resolves.toBeUndefined();
  });
});

describe('ConfigMap extension-apiserver-authentication', () => {
  const configMaps = () => cluster.api(ConfigMap, 'kube-system');
  const NAME = 'extension-apiserver-authentication';

  test('does not exist without a client CA', async () => {
    await using _server = await serve(cluster);
    expect(await configMaps().find(NAME)).toBeUndefined();
  });

  test('contains the client CAs of all servers, each once', async () => {
    const { ca } = await createClientAuthority();
    await using _one = await serve(cluster, { tls: true, clientCa: ca });
    const written = await configMaps().get(NAME);
    expect(written.data).toEqual({ 'client-ca-file': new X509Certificate(ca).toString() });
    expect(written.metadata.managedFields).toMatchObject([
      { manager: 'kube-apiserver', operation: 'Update', fieldsV1: { 'f:data': { '.': {}, 'f:client-ca-file': {} } } },
    ]);
    const other = await createClientAuthority();
    await using _two = await serve(cluster, { tls: true, clientCa: `${ca}${other.ca}` });
    const both = [ca, other.ca].map((pem) => new X509Certificate(pem).toString()).join('');
    expect((await configMaps().get(NAME)).data).toEqual({ 'client-ca-file': both });
  });

  test('is created again when it is deleted', async () => {
    await using _server = await serve(cluster, { tls: true, clientCa: true });
    const { data, metadata } = await configMaps().get(NAME);
    await configMaps().delete(NAME);
    const restored = await configMaps().get(NAME);
    expect(restored.data).toEqual(data);
    expect(restored.metadata.uid).not.toBe(metadata.uid);
  });

  test('contains the headers of authenticating proxies', async () => {
    const { ca } = await createClientAuthority();
    const requestHeader = {
      ca,
      allowedNames: ['front-proxy', 'other'],
      usernameHeaders: ['X-Remote-User'],
      groupHeaders: ['X-Remote-Group'],
    };
    await using _server = await serve(cluster, { tls: true, requestHeader });
    expect((await configMaps().get(NAME)).data).toEqual({
      'requestheader-allowed-names': '["front-proxy","other"]',
      'requestheader-client-ca-file': new X509Certificate(ca).toString(),
      'requestheader-extra-headers-prefix': '[]',
      'requestheader-group-headers': '["X-Remote-Group"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    });
  });

  test('keeps the headers of another server, and no other keys', async () => {
    const { ca } = await createClientAuthority();
    const present = {
      'requestheader-allowed-names': '["proxy"]',
      'requestheader-client-ca-file': new X509Certificate(ca).toString(),
      'requestheader-extra-headers-prefix': '[]',
      'requestheader-group-headers': '[]',
      'requestheader-uid-headers': '["X-Uid"]',
      'requestheader-username-headers': '["X-User"]',
    };
    await configMaps().create({ metadata: { name: NAME }, data: { ...present, other: 'value' } });
    const requestHeader = { ca, allowedNames: ['mine', 'proxy'] };
    await using _server = await serve(cluster, { tls: true, clientCa: true, requestHeader });
    expect((await configMaps().get(NAME)).data).toEqual({
      ...present,
      'requestheader-allowed-names': '["proxy","mine"]',
      'client-ca-file': expect.stringContaining('BEGIN CERTIFICATE'),
    });
  });

  test.each<[string, Record<string, string>]>([
    ['certificate', { 'client-ca-file': '-----BEGIN CERTIFICATE-----\nAQI=\n-----END CERTIFICATE-----\n' }],
    ['text instead of certificates', { 'client-ca-file': 'x' }],
    ['list of headers', { 'requestheader-group-headers': '{' }],
  ])('stays as it is when it contains an unreadable %s', async (_what, data) => {
    await configMaps().create({ metadata: { name: NAME }, data });
    await using _server = await serve(cluster, { tls: true, clientCa: true });
    expect((await configMaps().get(NAME)).data).toEqual(data);
  });
});
