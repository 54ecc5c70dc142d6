/** docs/specification.md, R13: APIService. */
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 10, versionPriority: 5 };
const remote = {
  ...spec,
  service: { name: 's', namespace: 'default' },
  insecureSkipTLSVerify: true,
};
const body = (change: Json = {}, name = 'v1.example.com') => ({ metadata: { name }, spec: { ...remote, ...change } });
const create = (change: Json, name?: string) => openService().create('APIService', body(change, name));

describe('APIService', () => {
  test('R13.1: has the documented fields', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'APIService', 'APIServiceSpec')).toEqual({
      groupPriorityMinimum: 'int32!',
      versionPriority: 'int32!',
      caBundle: 'byte atomic',
      group: 'string',
      version: 'string',
      insecureSkipTLSVerify: 'boolean',
      service: 'ServiceReference',
    });
    expect(await fieldsOf(service, 'APIService', 'ServiceReference')).toEqual({
      name: 'string',
      namespace: 'string',
      port: 'int32',
    });
  });

  test('R13.2: the name is version and group', async () => {
    expect((await create({})).code).toBe(201);
    expect((await create({}, 'v2.example.com')).causes).toContain('metadata.name: Invalid');
  });

  test('R13.3: both priorities are required and greater than zero', async () => {
    for (const value of [undefined, 0, -1]) {
      const causes = (await create({ groupPriorityMinimum: value, versionPriority: value })).causes;
      expect(causes).toEqual(['spec.groupPriorityMinimum: Invalid', 'spec.versionPriority: Invalid']);
    }
  });

  /** The versions of a group in discovery, with these APIServices. */
  async function discovered(...services: readonly (readonly [version: string, versionPriority: number])[]) {
    const service = openService();
    for (const [version, versionPriority] of services) {
      await service.create('APIService', body({ version, versionPriority }, `${version}.example.com`));
      const conditions = [{ type: 'Available', status: 'True' }];
      await service.merge('APIService', `${version}.example.com/status`, { status: { conditions } });
    }
    const { groups } = (await service.send('GET', '/apis')).body;
    const group = groups.find(({ name }: Json) => name === 'example.com');
    return group?.versions.map(({ version }: Json) => version);
  }

  test('R13.4: versions are ordered by priority, then by version', async () => {
    expect(await discovered(['v1', 5], ['v2', 9])).toEqual(['v2', 'v1']);
    const names = ['foo10', 'v3beta1', 'v12alpha1', 'v11alpha2', 'v1', 'v10', 'v11beta2', 'v10beta3', 'foo1', 'v2'];
    expect(await discovered(...names.map((name) => [name, 5] as const))).toEqual([
      ...['v10', 'v2', 'v1', 'v11beta2', 'v10beta3', 'v3beta1', 'v12alpha1', 'v11alpha2', 'foo1', 'foo10'],
    ]);
  });

  test('R13.5: groups are ordered by the minimum priority, then by name', async () => {
    const service = openService();
    for (const [group, groupPriorityMinimum] of [
      ['c.example.com', 10],
      ['b.example.com', 20],
      ['a.example.com', 10],
    ] as const) {
      const object = body({ group, groupPriorityMinimum }, `v1.${group}`);
      expect((await service.create('APIService', object)).code).toBe(201);
      const conditions = [{ type: 'Available', status: 'True' }];
      await service.merge('APIService', `v1.${group}/status`, { status: { conditions } });
    }
    const { groups } = (await service.send('GET', '/apis')).body;
    const names = groups.map(({ name }: Json) => name).filter((name: string) => name.endsWith('.example.com'));
    expect(names).toEqual(['b.example.com', 'a.example.com', 'c.example.com']);
  });

  test('R13.6: the port of a service is 443 by default and from 1 to 65535', async () => {
    expect((await create({})).body.spec.service.port).toBe(443);
    expect((await create({ service: { ...remote.service, port: 65_535 } })).code).toBe(201);
    for (const port of [0, 65_536]) {
      const made = await create({ service: { ...remote.service, port } });
      expect(made.causes).toEqual(['spec.service.port: Invalid']);
    }
    const incomplete = await create({ service: {} });
    expect(incomplete.causes).toEqual(['spec.service.namespace: Required', 'spec.service.name: Required']);
  });

  test('R13.7: a group version without a service is served by this server', async () => {
    const { body: local } = await openService().get('APIService', 'v1.apps');
    expect(local.spec).not.toHaveProperty('service');
    expect(local.status.conditions).toEqual([
      expect.objectContaining({ type: 'Available', status: 'True', reason: 'Local' }),
    ]);
  });

  test('R13.8: TLS verification uses the bundle or is off, not both', async () => {
    const both = await create({ caBundle: btoa('x') });
    expect(both.causes).toContain('spec.insecureSkipTLSVerify: Invalid');
  });

  test('R13.9: conditions have a type, which is their key, and a known status', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'APIService', 'APIServiceStatus')).toEqual({
      conditions: '[]APIServiceCondition map type',
    });
    expect(await fieldsOf(service, 'APIService', 'APIServiceCondition')).toEqual({
      status: 'string!',
      type: 'string!',
      lastTransitionTime: 'Time',
      message: 'string',
      reason: 'string',
    });
    await service.create('APIService', body());
    const put = (condition: Json) =>
      service.merge('APIService', 'v1.example.com/status', { status: { conditions: [condition] } });
    expect((await put({ type: 'Available', status: 'True' })).code).toBe(200);
    expect((await put({ type: 'Available' })).causes).toEqual(['status.conditions[0].status: Required']);
    expect((await put({ status: 'True' })).causes).toEqual(['status.conditions[0].type: Required']);
    expect((await put({ type: 'Available', status: 'Maybe' })).causes).toEqual([
      'status.conditions[0].status: NotSupported',
    ]);
  });
});
