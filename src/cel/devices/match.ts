/**
 * Matches devices against the selectors of a DeviceClass or request. Attributes and capacities are grouped by domain
 * and name; a name without a domain belongs to the driver's domain. spec: DeviceClass
 */

import { Quantity } from '../../meta/quantity.js';
import { readSemver } from '../../meta/semver.js';
import { isRecord } from '../../util/json.js';
import type { Program } from '../engine.js';
import { EntryMap } from '../evaluate/views.js';
import { CelQuantity } from '../library/quantity.js';
import { CelSemver } from '../library/semver.js';
import { typeNameOf } from '../runtime-type.js';
import {
  CelBytes,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../values.js';
import { compileDeviceSelector, MAX_SELECTOR_COST } from './compile.js';

/** A selector of a class or request, or its expression. */
export type SelectorLike = string | { readonly cel?: { readonly expression: string } | undefined };

/** A DeviceClass of any API version. */
export interface ClassLike {
  readonly metadata?: { readonly name?: string | undefined } | undefined;
  readonly spec: { readonly selectors?: readonly SelectorLike[] | undefined };
}

/** A device of a ResourceSlice with the driver of the slice. */
export interface SelectableDevice {
  readonly driver: string;
  /** Attributes by name, with or without a `domain/` prefix. */
  readonly attributes?: Readonly<Record<string, SelectableAttribute>>;
  readonly capacity?: Readonly<Record<string, SelectableCapacity>>;
}

/** One of these fields; if several are set, the first applies. */
export interface SelectableAttribute {
  readonly int?: number | bigint;
  readonly bool?: boolean;
  readonly string?: string;
  /** A semantic version. */
  readonly version?: string;
}

export interface SelectableCapacity {
  readonly value: string | number;
}

/** Thrown if a selector fails. The result is then unknown for all devices. */
export class DeviceSelectionError extends Error {
  override readonly name = 'DeviceSelectionError';
}

/**
 * Returns the devices for which every selector is true. Throws a {@link DeviceSelectionError} if a selector fails on a
 * device or yields neither true nor false. Later selectors are not evaluated for a device that an earlier one excludes.
 * spec: DeviceClass
 *
 * @example
 * const gpus = [{ driver: 'gpu.example.com', attributes: { model: { string: 'a100' } } }];
 * matchDevices(['device.attributes["gpu.example.com"].model == "a100"'], gpus).length // 1
 */
export function matchDevices<Device extends SelectableDevice>(
  from: ClassLike | readonly SelectorLike[],
  devices: readonly Device[],
): Device[] {
  checkSelectors(from);
  checkDevices(devices);
  return devices.filter((device) => selectsDevice(from, device));
}

/** Whether every selector is true for a device. `spend` gets the cost of each evaluation. */
export function selectsDevice(
  from: ClassLike | readonly SelectorLike[],
  device: SelectableDevice,
  spend: (cost: number) => void = () => undefined,
): boolean {
  const [owner, selectors = []] =
    'spec' in from ? [`class ${from.metadata?.name ?? ''}: `, from.spec.selectors] : ['', from];
  const value = attempt(() => deviceValue(device));
  return selectors.every((selector, index) => {
    const fail = (what: string) => new DeviceSelectionError(`${owner}selector #${index}: ${what}`);
    const compiled = programOf(expressionOf(selector));
    if (typeof compiled === 'string') throw fail(`CEL compile error: ${compiled}`);
    if ('problem' in value) throw fail(`CEL runtime error: ${value.problem}`);
    const matches = evaluate(compiled, value.value, spend);
    if (typeof matches === 'string') throw fail(`CEL runtime error: ${matches}`);
    return matches;
  });
}

/** Throws a TypeError if the argument is neither a class nor a list of selectors. */
function checkSelectors(from: ClassLike | readonly SelectorLike[]): void {
  const given: unknown = from;
  const spec = isRecord(given) ? given['spec'] : undefined;
  const selectors = isRecord(spec) ? (spec['selectors'] ?? []) : given;
  if (!Array.isArray(selectors)) {
    throw new TypeError('orchplane: matchDevices takes a DeviceClass or a list of selectors first');
  }
  selectors.forEach((selector: unknown, index) => {
    if (typeof selector === 'string' || (isRecord(selector) && isExpression(selector['cel']))) return;
    const form = "an expression, or { cel: { expression: '…' } }";
    throw new TypeError(`orchplane: matchDevices: selector #${index} must be ${form}`);
  });
}

/** An absent expression is allowed here; compiling it fails. */
function isExpression(cel: unknown): boolean {
  return cel === undefined || (isRecord(cel) && typeof cel['expression'] === 'string');
}

function expressionOf(selector: SelectorLike): string {
  return typeof selector === 'string' ? selector : (selector.cel?.expression ?? '');
}

function attempt(make: () => CelMap): { readonly value: CelMap } | { readonly problem: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof CelError) return { problem: error.message };
    throw error;
  }
}

/** Whether a device satisfies a selector, or an error message. */
function evaluate(program: Program, device: CelMap, spend: (cost: number) => void): boolean | string {
  const { value, error, cost } = program.evaluate(new Map([['device', device]]), { costLimit: MAX_SELECTOR_COST });
  spend(Math.max(cost, MIN_EVALUATION_COST));
  if (error !== undefined) return error.message;
  const result = unwrapOptional(value);
  if (typeof result === 'boolean') return result;
  const problem = result === undefined ? 'optional.none() dereference' : conversionProblem(result);
  return `CEL result of type ${typeNameOf(value)} could not be converted to bool: ${problem}`;
}

/** Unwraps nested optional values. */
function unwrapOptional(value: CelValue | undefined): CelValue | undefined {
  return value instanceof CelOptional ? unwrapOptional(value.value) : value;
}

function conversionProblem(value: CelValue): string {
  if (value === null) return "type conversion error from 'null_type' to 'bool'";
  switch (typeof value) {
    case 'bigint':
      return "unsupported type conversion from 'int' to bool";
    case 'string':
      return "unsupported native conversion from string to 'bool'";
    case 'number':
      return "type conversion error from Double to 'bool'";
    default:
  }
  if (value instanceof CelTypeValue) return "type conversion not supported for 'type'";
  if (value instanceof CelUint) return "unsupported type conversion from 'uint' to bool";
  if (value instanceof CelBytes) return "type conversion error from Bytes to 'bool'";
  if (value instanceof CelList) return "type conversion error from list to 'bool'";
  if (value instanceof CelMap) return "type conversion error from map to 'bool'";
  if (value instanceof CelDuration) return "type conversion error from 'Duration' to 'bool'";
  if (value instanceof CelTimestamp) return "type conversion error from 'Timestamp' to 'bool'";
  return `type conversion error from '${value instanceof CelOpaque ? libraryName(value) : ''}' to 'bool'`;
}

/** The last part of the type name; `NamedFormat` is called `Format`. */
function libraryName({ type: { name } }: CelOpaque): string {
  return name.slice(name.lastIndexOf('.') + 1).replace(/^Named/, '');
}

/** Classes are few and evaluated often; with more selectors than this the cache is cleared. */
const MAX_CACHED_PROGRAMS = 200;

const programCache = new Map<string, Program | string>();

/** What an evaluation costs apart from the steps of the expression. */
const MIN_EVALUATION_COST = 20;
/** What a compilation costs, in units of an evaluation. */
const COMPILATION_COST = 2_000;
const COMPILATION_COST_PER_CHARACTER = 50;

/** The cost of compiling the selectors. It does not depend on what is in the cache. */
export function compilationCost(selectors: readonly SelectorLike[] = []): number {
  const costs = selectors.map(
    (selector) => COMPILATION_COST + COMPILATION_COST_PER_CHARACTER * expressionOf(selector).length,
  );
  return costs.reduce((sum, cost) => sum + cost, 0);
}

/** Returns the program or an error message. Expressions count as stored: they were accepted before. */
function programOf(expression: string): Program | string {
  const known = programCache.get(expression);
  if (known !== undefined) return known;
  if (programCache.size >= MAX_CACHED_PROGRAMS) programCache.clear();
  const compiled = compileDeviceSelector(expression, { stored: true });
  const made = compiled.problem ?? compiled.program;
  programCache.set(expression, made);
  return made;
}

/** Throws a TypeError that names the invalid device and the reason. */
function checkDevices(devices: unknown): void {
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

type EntryValidator = (entry: Readonly<Record<string, unknown>>) => string | undefined;

function entriesProblem(field: string, entries: unknown, validate: EntryValidator): string | undefined {
  if (entries === undefined) return undefined;
  if (!isRecord(entries)) return `${field} must be an object, or absent`;
  for (const [name, entry] of Object.entries(entries)) {
    const problem = isRecord(entry) ? validate(entry) : ' must be an object';
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

/** The value of the variable `device`. Throws a CelError for invalid attributes or capacities. */
export function deviceValue({ driver, attributes = {}, capacity = {} }: SelectableDevice): CelMap {
  return new EntryMap([
    ['driver', driver],
    ['attributes', new Domains(driver, attributes, attributeValue)],
    ['capacity', new Domains(driver, capacity, capacityValue)],
  ]);
}

const EMPTY: CelMap = new EntryMap([]);

/** A map from domain to entries. Unknown domains yield an empty map instead of a failure. */
class Domains extends CelMap {
  readonly #domains: CelMap;
  constructor(
    driver: string,
    entries: Readonly<Record<string, SelectableAttribute | SelectableCapacity>>,
    read: (name: string, entry: SelectableAttribute & SelectableCapacity) => CelValue,
  ) {
    super();
    const domains = new Map<string, [string, CelValue][]>();
    for (const [name, entry] of Object.entries(entries)) {
      const slash = name.indexOf('/');
      const domain = slash < 0 ? driver : name.slice(0, slash);
      const list = domains.get(domain) ?? [];
      list.push([name.slice(slash + 1), read(name, entry as SelectableAttribute & SelectableCapacity)]);
      domains.set(domain, list);
    }
    this.#domains = new EntryMap([...domains].map(([domain, list]) => [domain, new EntryMap(list)]));
  }
  get size(): number {
    return this.#domains.size;
  }
  get(key: CelValue): CelValue {
    return this.#domains.get(key) ?? EMPTY;
  }
  override contains(key: CelValue): boolean {
    return this.#domains.get(key) !== undefined;
  }
  keys(): Iterable<CelValue> {
    return this.#domains.keys();
  }
}

function attributeValue(name: string, { int, bool, string, version }: SelectableAttribute): CelValue {
  if (int !== undefined) return BigInt(int);
  const value = bool ?? string;
  if (value !== undefined) return value;
  if (version === undefined) throw new CelError(`attribute ${name}: unsupported attribute value`);
  const read = readSemver(version);
  if (typeof read === 'string') throw new CelError(`attribute ${name}: parse semantic version: ${read}`);
  return new CelSemver(read);
}

function capacityValue(name: string, { value }: SelectableCapacity): CelValue {
  const parsed = Quantity.tryParse(String(value));
  if (!parsed.ok) throw new CelError(`capacity ${name}: ${parsed.message}`);
  return new CelQuantity(parsed.quantity);
}
