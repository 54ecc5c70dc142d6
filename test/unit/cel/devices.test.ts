/** Device selectors. What they answer was taken from the reference implementation. spec: DeviceClass */
import { describe, expect, test } from 'vitest';
import { compileDeviceSelector } from '../../../src/cel/devices/compile.js';
import {
  DeviceSelectionError,
  deviceValue,
  matchDevices,
  type SelectableDevice,
} from '../../../src/cel/devices/match.js';
import { CelError } from '../../../src/cel/values.js';
import { readCases } from './check-world.js';
import { printBound } from './values-world.js';

type DeviceCase = readonly [
  expression: string,
  environment: 'new' | 'stored',
  device: number,
  kind: 'problem' | 'internal' | 'error' | 'match',
  text: string | boolean,
  maxCost?: string,
  cost?: number,
];

const DEVICES: readonly SelectableDevice[] = [
  {
    driver: 'gpu.example.com',
    attributes: {
      model: { string: 'a100' },
      count: { int: 3 },
      ok: { bool: true },
      ver: { version: '1.2.3' },
      'other.io/model': { string: 'b' },
      'other.io/ok': { bool: false },
    },
    capacity: { mem: { value: '40Gi' }, 'other.io/cores': { value: '8' } },
  },
  { driver: 'other.io', attributes: { ver: { version: '1.2' } } },
  { driver: 'other.io', attributes: { model: {} } },
  {
    driver: 'gpu.example.com',
    attributes: { 'gpu.example.com/ok': { bool: false }, count: { int: -1 }, model: { string: '' } },
    capacity: { 'gpu.example.com/mem': { value: '1' } },
  },
  { driver: 'x' },
];

/** The cost is left out where it is in the case: orders of maps differ there. */
function answer([expression, name, index, , , , cost]: DeviceCase): DeviceCase {
  const head = [expression, name, index] as const;
  const compiled = compileDeviceSelector(expression, { stored: name === 'stored' });
  if (compiled.problem !== undefined) return [...head, compiled.internal ? 'internal' : 'problem', compiled.problem];
  const device = DEVICES[index] as SelectableDevice;
  const tail: [string, number?] = [printBound(compiled.maxCost)];
  if (cost !== undefined) {
    tail.push(compiled.program.evaluate(new Map([['device', deviceValue(device)]]), { costLimit: 1_000_000 }).cost);
  }
  try {
    return [...head, 'match', matchDevices([expression], [device]).length === 1, ...tail];
  } catch (error) {
    if (!(error instanceof DeviceSelectionError)) throw error;
    return [...head, 'error', error.message.replace('selector #0: CEL runtime error: ', ''), ...tail];
  }
}

describe('answers of the reference', () => {
  const cases = readCases<DeviceCase>('./devices-cases.jsonl');

  test.each(['problem', 'error', 'match'])('%s', (kind) => {
    const own = cases.filter(([, , , what]) => what === kind);
    expect(own.length).toBeGreaterThan(20);
    expect(own.map(answer)).toEqual(own);
  });
});

describe('matchDevices', () => {
  const gpu = (name: string, attributes: SelectableDevice['attributes'] = {}) => ({
    name,
    driver: 'gpu.example.com',
    attributes,
  });
  const devices = [gpu('a', { memory: { int: 40 } }), gpu('b', { memory: { int: 80 } }), gpu('c')];
  const large = 'device.attributes["gpu.example.com"].memory >= 80';
  const withMemory = '"memory" in device.attributes["gpu.example.com"]';

  test('gives the devices that satisfy every selector of a class, as they were given', () => {
    const spec = { selectors: [{ cel: { expression: withMemory } }, { cel: { expression: large } }] };
    expect(matchDevices({ metadata: { name: 'large' }, spec }, devices)).toEqual([devices[1]]);
    expect(matchDevices({ metadata: { name: 'large' }, spec }, devices)[0]).toBe(devices[1]);
  });

  test('a class without selectors takes all', () => {
    expect(matchDevices({ spec: {} }, devices)).toEqual(devices);
    expect(matchDevices([], devices)).toEqual(devices);
  });

  test('an attribute that is not there ends the search', () => {
    const spec = { selectors: [{ cel: { expression: large } }] };
    expect(() => matchDevices({ metadata: { name: 'large' }, spec }, devices)).toThrow(
      new DeviceSelectionError('class large: selector #0: CEL runtime error: no such key: memory'),
    );
  });

  test('a device that is ruled out is not shown to later selectors', () => {
    expect(matchDevices([withMemory, large], devices)).toEqual([devices[1]]);
    expect(() => matchDevices([large, withMemory], devices)).toThrow('selector #0: CEL runtime error: no such key');
  });

  test('a result that is neither true nor false ends the search', () => {
    expect(() =>
      matchDevices(['device.attributes["gpu.example.com"].memory'], [gpu('a', { memory: { int: 1 } })]),
    ).toThrow(
      "selector #0: CEL runtime error: CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to bool",
    );
  });

  test('an expression that does not compile ends the search, unless nobody asks', () => {
    expect(() => matchDevices(['true', 'foo'], devices)).toThrow(
      "selector #1: CEL compile error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo'",
    );
    expect(matchDevices(['foo'], [])).toEqual([]);
  });

  test('an evaluation that costs too much ends the search', () => {
    const each = (name: string, inside: string) => `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(${name}, ${inside})`;
    const costly = each('a', each('b', each('c', each('d', each('e', 'a + b + c + d + e > 0')))));
    expect(() => matchDevices([costly], [gpu('a')])).toThrow('operation cancelled: actual cost limit exceeded');
  });

  test('an unknown domain is empty, and none of the domains', () => {
    const [device] = devices;
    expect(matchDevices(['device.attributes["nope"].size() == 0'], [device as SelectableDevice])).toHaveLength(1);
    expect(matchDevices(['"nope" in device.attributes'], [device as SelectableDevice])).toHaveLength(0);
  });

  test('names that belong to JavaScript are names like others', () => {
    const names = ['constructor', '__proto__', 'toString'];
    for (const name of names) {
      expect(() => matchDevices([`device.attributes["gpu.example.com"]["${name}"]`], devices)).toThrow('no such key');
      expect(() => matchDevices([`device.${name} == 1`], devices)).toThrow('undefined field');
    }
  });

  test('a capacity that is no quantity is told', () => {
    const device = { driver: 'x', capacity: { memory: { value: 'much' } } };
    expect(() => deviceValue(device)).toThrow(CelError);
    expect(() => matchDevices(['true'], [device])).toThrow(
      'selector #0: CEL runtime error: capacity memory: quantities',
    );
  });
});

describe('matchDevices, misused', () => {
  const driver = 'gpu.example.com';

  test.each([
    [null, [], 'takes a DeviceClass or a list of selectors first'],
    [{ spec: null }, [], 'takes a DeviceClass or a list of selectors first'],
    [[null], [], 'selector #0 must be an expression'],
    [['true'], null, 'takes a list of devices'],
    [['true'], [null], 'device #0: must be an object with a driver'],
    [['true'], [{ driver, attributes: null }], 'device #0: attributes must be an object'],
    [['true'], [{ driver, attributes: { x: { int: 1.5 } } }], 'device #0: attributes["x"].int must be a whole number'],
    [['true'], [{ driver, capacity: { x: null } }], 'device #0: capacity["x"] must be an object'],
  ])('%j, %j', (from, devices, problem) => {
    const call = () => matchDevices(from as never, devices as never);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(problem);
  });
});
