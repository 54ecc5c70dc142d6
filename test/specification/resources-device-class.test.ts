/** docs/specification.md, R12: DeviceClass. */
import { matchDevices } from 'orchplane';
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService } from './service.js';

const KI = 1024;
const select = (expression: string) => ({ spec: { selectors: [{ cel: { expression } }] } });
const opaque = (driver: string, parameters: Json) => ({ spec: { config: [{ opaque: { driver, parameters } }] } });
const create = (body: Json) => openService().create('DeviceClass', body);

const device = {
  driver: 'gpu.example.com',
  attributes: { model: { string: 'a100' }, 'other.example.com/version': { int: 2 } },
  capacity: { memory: { value: '40Gi' } },
};
const matches = (expression: string) => matchDevices([expression], [device]).length === 1;

describe('DeviceClass', () => {
  test('R12.1: has a required spec and the documented fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'DeviceClass', type);
    expect(await fields('DeviceClass')).toMatchObject({ spec: 'DeviceClassSpec!' });
    expect(await fields('DeviceClassSpec')).toMatchObject({
      config: '[]DeviceClassConfiguration atomic',
      selectors: '[]DeviceSelector atomic',
    });
    expect(await fields('OpaqueDeviceConfiguration')).toEqual({ driver: 'string!', parameters: 'RawExtension!' });
    expect(await fields('CELDeviceSelector')).toEqual({ expression: 'string!' });
    for (const body of [{}, { spec: null }]) {
      expect(await service.create('DeviceClass', body)).toMatchObject({ code: 422, causes: ['spec: Required'] });
    }
    expect((await service.create('DeviceClass', { spec: {} })).code).toBe(201);
    expect((await service.merge('DeviceClass', 'a', { spec: null })).causes).toEqual(['spec: Required']);
  });

  test('R12.2: the spec can change, which increments the generation', async () => {
    const service = openService();
    expect((await service.create('DeviceClass', { spec: {} })).body.metadata.generation).toBe(1);
    expect((await service.merge('DeviceClass', 'a', select('true'))).body.metadata.generation).toBe(2);
    const labelled = await service.merge('DeviceClass', 'a', { metadata: { labels: { l: '1' } } });
    expect(labelled.body.metadata.generation).toBe(2);
  });

  test('R12.3: a configuration names a driver and has parameters of at most 10 Ki', async () => {
    expect((await create(opaque('gpu.example.com', { a: 1 }))).body.spec.config[0].opaque.parameters).toEqual({ a: 1 });
    const at = 'spec.config[0].opaque';
    expect((await create(opaque('', {}))).causes).toContain(`${at}.driver: Required`);
    expect((await create(opaque('No_Domain', {}))).causes).toContain(`${at}.driver: Invalid`);
    expect((await create(opaque('gpu.example.com', undefined))).causes).toContain(`${at}.parameters: Required`);
    const ofSize = (size: number) => opaque('gpu.example.com', { a: 'x'.repeat(size - '{"a":""}'.length) });
    expect((await create(ofSize(10 * KI))).code).toBe(201);
    expect((await create(ofSize(10 * KI + 1))).causes).toEqual([`${at}.parameters: TooLong`]);
    expect((await create({ spec: { config: [{}] } })).code).toBe(422);
  });

  test('R12.4: a selector has an expression, and a device must satisfy every selector', async () => {
    const at = 'spec.selectors[0].cel';
    expect((await create(select(''))).causes).toEqual([`${at}.expression: Invalid`]);
    expect((await create({ spec: { selectors: [{}] } })).causes).toEqual([`${at}: Required`]);
    const isGpu = 'device.driver == "gpu.example.com"';
    expect(matchDevices([isGpu, 'true'], [device])).toHaveLength(1);
    expect(matchDevices([isGpu, 'false'], [device])).toHaveLength(0);
  });

  test('R12.5: an expression reads driver, attributes and capacity of a device', () => {
    expect(matches('device.driver == "gpu.example.com"')).toBe(true);
    expect(matches('device.attributes["gpu.example.com"].model == "a100"')).toBe(true);
    expect(matches('device.attributes["other.example.com"].version == 2')).toBe(true);
    expect(matches('device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) == 0')).toBe(true);
  });

  test('R12.6: an expression yields true or false; anything else is an error', async () => {
    expect(matches('false')).toBe(false);
    expect((await create(select('"text"'))).causes).toEqual(['spec.selectors[0].cel.expression: Invalid']);
    expect(() => matches('device.attributes["gpu.example.com"].model')).toThrow();
  });

  test('R12.7: an unknown prefix is an empty map, an unknown field is an error, and cel.bind is available', () => {
    expect(matches('device.attributes["unknown.example.com"].size() == 0')).toBe(true);
    expect(() => matches('device.attributes["gpu.example.com"].unknown == "x"')).toThrow();
    expect(matches('cel.bind(gpu, device.attributes["gpu.example.com"], gpu.model == "a100")')).toBe(true);
  });

  test('R12.8: length and cost of an expression are bounded', async () => {
    const ofLength = (length: number) => select(`"${'x'.repeat(length - 6)}"==""`);
    expect((await create(ofLength(10 * KI))).code).toBe(201);
    expect((await create(ofLength(10 * KI + 1))).causes).toEqual(['spec.selectors[0].cel.expression: TooLong']);
    const list = `[${Array.from({ length: 100 }, (_, index) => index).join()}]`;
    const costly = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    expect((await create(select(costly))).causes).toEqual(['spec.selectors[0].cel.expression: Forbidden']);
  });

  test('R12.9: the kind is served only with its feature gate', async () => {
    const service = openService({ featureGates: { DynamicResourceAllocation: false } });
    expect((await service.list('DeviceClass')).code).toBe(404);
    expect((await openService().list('DeviceClass')).code).toBe(200);
  });
});
