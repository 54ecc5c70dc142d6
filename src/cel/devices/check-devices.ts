/**
 * Whether what a caller calls devices are some: types end where JavaScript or a file of JSON begins.
 */
import { isRecord } from '../../util/json.js';

/** Throws a TypeError that says which device is none, and why. */
export function checkDevices(devices: unknown): void {
  if (!Array.isArray(devices)) throw new TypeError('orchplane: matchDevices takes a list of devices');
  devices.forEach((device: unknown, index) => {
    const problem = deviceProblem(device);
    if (problem !== undefined) throw new TypeError(`orchplane: matchDevices: device #${index}: ${problem}`);
  });
}

function deviceProblem(device: unknown): string | undefined {
  if (!isRecord(device)) return 'must be an object with a driver';
  const { driver, attributes, capacity } = device;
  if (typeof driver !== 'string') return 'driver must be a string';
  return (
    entriesProblem('attributes', attributes, attributeProblem) ?? entriesProblem('capacity', capacity, capacityProblem)
  );
}

type Judge = (entry: Readonly<Record<string, unknown>>) => string | undefined;

function entriesProblem(field: string, entries: unknown, judge: Judge): string | undefined {
  if (entries === undefined) return undefined;
  if (!isRecord(entries)) return `${field} must be an object, or absent`;
  for (const [name, entry] of Object.entries(entries)) {
    const problem = isRecord(entry) ? judge(entry) : ' must be an object';
    if (problem !== undefined) return `${field}[${JSON.stringify(name)}]${problem}`;
  }
  return undefined;
}

function attributeProblem({ int, bool, string, version }: Readonly<Record<string, unknown>>): string | undefined {
  if (int !== undefined && typeof int !== 'bigint' && !Number.isInteger(int)) return '.int must be a whole number';
  if (bool !== undefined && typeof bool !== 'boolean') return '.bool must be a boolean';
  if (string !== undefined && typeof string !== 'string') return '.string must be a string';
  return version === undefined || typeof version === 'string' ? undefined : '.version must be a string';
}

function capacityProblem({ value }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? undefined : '.value must be a quantity';
}
