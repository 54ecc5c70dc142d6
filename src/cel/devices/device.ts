/**
 * A device as selectors see it: `device.driver`, and attributes and capacities by domain and name. A name without a
 * domain belongs to the driver's. spec: DeviceClass
 */
import { Quantity } from '../../meta/quantity.js';
import { readSemver } from '../../meta/semver.js';
import { EntryMap } from '../evaluate/views.js';
import { CelQuantity } from '../library/quantity.js';
import { CelSemver } from '../library/semver.js';
import { CelError, CelMap, type CelValue } from '../values.js';

/** A device of a slice, with the driver of the slice. */
export interface SelectableDevice {
  readonly driver: string;
  /** By name, with or without `domain/` before it. */
  readonly attributes?: Readonly<Record<string, SelectableAttribute>>;
  readonly capacity?: Readonly<Record<string, SelectableCapacity>>;
}

/** One of these; of several the first counts. */
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

/** The value of `device`. Throws a CelError for a device that says something that cannot be. */
export function deviceValue({ driver, attributes = {}, capacity = {} }: SelectableDevice): CelMap {
  return new EntryMap([
    ['driver', driver],
    ['attributes', new Domains(driver, attributes, attributeValue)],
    ['capacity', new Domains(driver, capacity, capacityValue)],
  ]);
}

const EMPTY: CelMap = new EntryMap([]);

/** Of domains that the device knows nothing of there is an empty map, not a failure. */
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
