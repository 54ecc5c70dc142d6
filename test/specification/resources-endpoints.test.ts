/** docs/specification.md, R3: Endpoints. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

const address = { ip: '10.0.0.1' };
const create = (subset: Json, service = openService()) => service.create('Endpoints', { subsets: [subset] });
const withPort = (port: Json) => create({ addresses: [address], ports: [port] });

describe('Endpoints', () => {
  test('R3.1: has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Endpoints', 'Endpoints')).toMatchObject({ subsets: '[]EndpointSubset atomic' });
    expect(await fieldsOf(service, 'Endpoints', 'EndpointSubset')).toEqual({
      addresses: '[]EndpointAddress atomic',
      notReadyAddresses: '[]EndpointAddress atomic',
      ports: '[]EndpointPort atomic',
    });
    expect(await fieldsOf(service, 'Endpoints', 'EndpointAddress')).toEqual({
      ip: 'string!',
      hostname: 'string',
      nodeName: 'string',
      targetRef: 'ObjectReference',
    });
    expect(await fieldsOf(service, 'Endpoints', 'EndpointPort')).toEqual({
      port: 'int32!',
      protocol: 'string',
      name: 'string',
      appProtocol: 'string',
    });
  });

  test('R3.2: the endpoints are the union of the subsets, each with every pair of address and port', async () => {
    const service = openService();
    const { code } = await service.create('Endpoints', {
      subsets: [
        { addresses: [address, { ip: '10.0.0.2' }], ports: [{ name: 'a', port: 1 }] },
        { addresses: [{ ip: '10.0.0.3' }], ports: [{ port: 3 }] },
      ],
    });
    expect(code).toBe(201);
    const accept = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' };
    const table = await service.send('GET', pathOf('Endpoints', 'a'), undefined, accept);
    expect(table.body.rows[0].cells[1]).toBe('10.0.0.1:1,10.0.0.2:1,10.0.0.3:3');
  });

  test('R3.3: an address is ready or not ready in one subset, and may be both in different subsets', async () => {
    const both = await create({ addresses: [address], notReadyAddresses: [{ ip: '10.0.0.2' }, address] });
    expect(both).toMatchObject({ code: 422, causes: ['subsets[0].notReadyAddresses[1].ip: Invalid'] });
    const apart = await openService().create('Endpoints', {
      subsets: [
        { addresses: [address], ports: [{ port: 1 }] },
        { notReadyAddresses: [address], ports: [{ port: 2 }] },
      ],
    });
    expect(apart.code).toBe(201);
  });

  test('R3.4: an address has an IP', async () => {
    expect((await create({ addresses: [{}] })).causes).toContain('subsets[0].addresses[0].ip: Invalid');
  });

  test.each(['127.0.0.1', '::1', '169.254.1.1', 'fe80::1', '224.0.0.1', 'ff02::1'])(
    'R3.4: rejects the address %s',
    async (ip) => {
      expect((await create({ addresses: [{ ip }] })).causes).toEqual(['subsets[0].addresses[0].ip: Invalid']);
      expect((await create({ notReadyAddresses: [{ ip }] })).causes).toHaveLength(1);
    },
  );

  test('R3.5: a port has a number, and a protocol that is TCP by default', async () => {
    expect((await withPort({ port: 80 })).body.subsets[0].ports).toEqual([{ port: 80, protocol: 'TCP' }]);
    expect((await withPort({})).causes).toEqual(['subsets[0].ports[0].port: Invalid']);
    for (const protocol of ['TCP', 'UDP', 'SCTP']) expect((await withPort({ port: 1, protocol })).code).toBe(201);
    const unknown = await withPort({ port: 1, protocol: 'ICMP' });
    expect(unknown.causes).toEqual(['subsets[0].ports[0].protocol: NotSupported']);
  });

  test('R3.6: the name of a port is a DNS label, and optional only for a single port', async () => {
    expect((await withPort({ port: 1, name: 'Not_a_label' })).causes).toEqual(['subsets[0].ports[0].name: Invalid']);
    expect((await withPort({ port: 1, name: 'web' })).code).toBe(201);
    const unnamed = await create({ addresses: [address], ports: [{ port: 1, name: 'a' }, { port: 2 }] });
    expect(unnamed.causes).toEqual(['subsets[0].ports[1].name: Required']);
  });

  test('R3.7: appProtocol has the syntax of a label key', async () => {
    for (const appProtocol of ['http', 'example.com/p']) {
      expect((await withPort({ port: 1, appProtocol })).code).toBe(201);
    }
    const bad = await withPort({ port: 1, appProtocol: 'a b' });
    expect(bad.causes).toEqual(['subsets[0].ports[0].appProtocol: Invalid']);
  });
});
