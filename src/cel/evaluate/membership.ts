/**
 * `x in [1, 2]` with a list of constants: a look into a set, which costs nothing beyond computing `x`; and nothing at
 * all where the list is empty, since `x` is not even computed then.
 */
import { Failure } from '../failure.js';
import { intOfDouble, MAX_INT, uintOfDouble } from '../numbers.js';
import { referenceClass } from '../runtime-type.js';
import { CelBytes, CelList, CelOpaque, CelUint, type CelValue } from '../values.js';
import { constant, type Planned, step, stepOf } from './planned.js';

/** Undefined where it has to be looked up item by item. */
export function membership(value: Planned, container: Planned): Planned | undefined {
  if (container.kind !== 'constant' || !(container.value instanceof CelList)) return undefined;
  const list = container.value;
  if (list.size === 0) return constant(false);
  const set = new ValueSet();
  for (let index = 0; index < list.size; index++) if (!set.add(list.at(index))) return undefined;
  const compute = stepOf(value);
  return step((frame) => {
    const wanted = compute(frame);
    return wanted instanceof Failure ? wanted : (unhashable(wanted) ?? set.has(wanted));
  });
}

/** Not everything can be looked for in a set. */
function unhashable(value: CelValue): Failure | undefined {
  const isUnhashable = value instanceof CelBytes || (value instanceof CelOpaque && value.hashable === false);
  if (!isUnhashable) return undefined;
  return new Failure(`internal error: runtime error: hash of unhashable type ${referenceClass(value)}`);
}

/** Numbers are in it with those of other types that are equal to them. */
class ValueSet {
  readonly #values = new Set<CelValue>();
  readonly #uints = new Set<bigint>();

  /** False for values that are no plain ones. */
  add(value: CelValue): boolean {
    if (value instanceof CelUint) {
      this.#uints.add(value.value);
      this.#values.add(Number(value.value));
      if (value.value <= MAX_INT) this.#values.add(value.value);
      return true;
    }
    if (typeof value === 'object') return false;
    if (typeof value === 'number') this.#addDouble(value);
    else this.#values.add(value);
    if (typeof value === 'bigint') {
      this.#values.add(Number(value));
      if (value >= 0n) this.#uints.add(value);
    }
    return true;
  }

  #addDouble(value: number): void {
    // NaN is in no set.
    if (Number.isNaN(value)) return;
    this.#values.add(value);
    const [int, uint] = [intOfDouble(value), uintOfDouble(value)];
    if (int !== undefined && Number(int) === value) this.#values.add(int);
    if (uint !== undefined && Number(uint) === value) this.#uints.add(uint);
  }

  has(value: CelValue): boolean {
    return value instanceof CelUint ? this.#uints.has(value.value) : this.#values.has(value);
  }
}
