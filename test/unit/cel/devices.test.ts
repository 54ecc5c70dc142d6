/** Device selectors, compared with results of the reference server. spec: DeviceClass */
import { describe, expect, test } from 'vitest';
import { compileDeviceSelector } from '../../../src/cel/devices/compile.js';
import {
  DeviceSelectionError,
  deviceValue,
  matchDevices,
  type SelectableDevice,
} from '../../../src/cel/devices/match.js';
import { CelError } from '../../../src/cel/values.js';
import { readCases } from './check-fixtures.js';
import { printBound } from './values-fixtures.js';

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

/** Omits the cost if the case does: map orders differ there. */
function result([expression, name, index, , , , cost]: DeviceCase): DeviceCase {
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

describe('compileDeviceSelector', () => {
  const cases = readCases<DeviceCase>('./devices-cases.jsonl');

  test.each(['problem', 'error', 'match'])(
    'returns the results of the reference server for cases with result %s',
    (kind) => {
      const own = cases.filter(([, , , what]) => what === kind);
      expect(own.length).toBeGreaterThan(20);
      expect(own.map(result)).toEqual(own);
    },
  );
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

  test('returns the given devices that satisfy every selector of a class', () => {
    const spec = { selectors: [{ cel: { expression: withMemory } }, { cel: { expression: large } }] };
    expect(matchDevices({ metadata: { name: 'large' }, spec }, devices)).toEqual([devices[1]]);
    expect(matchDevices({ metadata: { name: 'large' }, spec }, devices)[0]).toBe(devices[1]);
  });

  test('returns all devices for a class without selectors', () => {
    expect(matchDevices({ spec: {} }, devices)).toEqual(devices);
    expect(matchDevices([], devices)).toEqual(devices);
  });

  test('throws if a selector reads an absent attribute', () => {
    const spec = { selectors: [{ cel: { expression: large } }] };
    expect(() => matchDevices({ metadata: { name: 'large' }, spec }, devices)).toThrow(
      new DeviceSelectionError('class large: selector #0: CEL runtime error: no such key: memory'),
    );
  });

  test('does not evaluate later selectors for an excluded device', () => {
    expect(matchDevices([withMemory, large], devices)).toEqual([devices[1]]);
    expect(() => matchDevices([large, withMemory], devices)).toThrow('selector #0: CEL runtime error: no such key');
  });

  test('throws if a result is neither true nor false', () => {
    expect(() =>
      matchDevices(['device.attributes["gpu.example.com"].memory'], [gpu('a', { memory: { int: 1 } })]),
    ).toThrow(
      "selector #0: CEL runtime error: CEL result of type int could not be converted to bool: unsupported type conversion from 'int' to bool",
    );
  });

  test('throws for an expression that does not compile only if it is evaluated', () => {
    expect(() => matchDevices(['true', 'foo'], devices)).toThrow(
      "selector #1: CEL compile error: compilation failed: ERROR: <input>:1:1: undeclared reference to 'foo'",
    );
    expect(matchDevices(['foo'], [])).toEqual([]);
  });

  test('throws if an evaluation exceeds the cost limit', () => {
    const each = (name: string, inside: string) => `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(${name}, ${inside})`;
    const costly = each('a', each('b', each('c', each('d', each('e', 'a + b + c + d + e > 0')))));
    expect(() => matchDevices([costly], [gpu('a')])).toThrow('operation cancelled: actual cost limit exceeded');
  });

  test('treats an unknown domain as empty and not as a key', () => {
    const [device] = devices;
    expect(matchDevices(['device.attributes["nope"].size() == 0'], [device as SelectableDevice])).toHaveLength(1);
    expect(matchDevices(['"nope" in device.attributes'], [device as SelectableDevice])).toHaveLength(0);
  });

  test('treats names of JavaScript properties like other names', () => {
    const names = ['constructor', '__proto__', 'toString'];
    for (const name of names) {
      expect(() => matchDevices([`device.attributes["gpu.example.com"]["${name}"]`], devices)).toThrow('no such key');
      expect(() => matchDevices([`device.${name} == 1`], devices)).toThrow('undefined field');
    }
  });

  test('reports a capacity that is not a quantity', () => {
    const device = { driver: 'x', capacity: { memory: { value: 'much' } } };
    expect(() => deviceValue(device)).toThrow(CelError);
    expect(() => matchDevices(['true'], [device])).toThrow(
      'selector #0: CEL runtime error: capacity memory: quantities',
    );
  });
});

describe('matchDevices with invalid arguments', () => {
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
  ])('throws a TypeError for %j and %j', (from, devices, problem) => {
    const call = () => matchDevices(from as never, devices as never);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(problem);
  });
});
