/** Evaluates list, map and object literals. */
import { Failure, failureOf, type Result } from '../failure.js';
import { printValue } from '../library/print-value.js';
import type { TypeProvider } from '../types.js';
import { CelBytes, CelError, CelOptional, type CelValue } from '../values.js';
import { constructWellKnownMessage } from '../well-known-messages.js';
import { COST_OF_LIST, COST_OF_MAP, COST_OF_OBJECT } from './call-cost.js';
import type { Step } from './frame.js';
import { ArrayList, EntryMap } from './views.js';

export interface Element {
  readonly value: Step;
  readonly optional: boolean;
}

/** The cost is charged even if an element fails; later elements are then not evaluated. */
export function listStep(elements: readonly Element[]): Step {
  return (frame) => {
    const items: CelValue[] = [];
    for (const { value, optional } of elements) {
      let item = value(frame);
      if (optional && !(item instanceof Failure)) {
        if (item instanceof CelOptional) {
          if (item.value === undefined) continue;
          item = item.value;
        } else {
          item = new Failure(`cannot initialize optional list element from non-optional value ${printValue(item)}`);
        }
      }
      if (item instanceof Failure) {
        frame.charge(COST_OF_LIST);
        return item;
      }
      items.push(item);
    }
    frame.charge(COST_OF_LIST);
    return new ArrayList(items);
  };
}

/** The checker accepts bytes as keys. cel-go panics then, and `||` cannot absorb that error. */
const NO_KEY = 'internal error: runtime error: hash of unhashable type types.Bytes';

export interface Entry extends Element {
  readonly key: Step;
}

export function mapStep(entries: readonly Entry[]): Step {
  return (frame) => {
    const made: [CelValue, CelValue][] = [];
    for (const entry of entries) {
      const key = entry.key(frame);
      const value = key instanceof Failure ? key : unwrapped(entry.value(frame), entry.optional, key);
      if (key instanceof Failure || value instanceof Failure) {
        frame.charge(COST_OF_MAP);
        return value as Failure;
      }
      if (key instanceof CelBytes) throw new CelError(NO_KEY);
      if (value !== undefined) made.push([key, value]);
    }
    frame.charge(COST_OF_MAP);
    return new EntryMap(made);
  };
}

export interface Field extends Element {
  readonly name: string;
}

export function objectStep(typeName: string, fields: readonly Field[], provider: TypeProvider): Step {
  return (frame) => {
    const values = new Map<string, CelValue>();
    for (const { name, value: compute, optional } of fields) {
      const value = unwrapped(compute(frame), optional, name);
      if (value instanceof Failure) {
        frame.charge(COST_OF_OBJECT);
        return value;
      }
      if (value !== undefined) values.set(name, value);
    }
    const made = constructed(provider, typeName, values);
    frame.charge(COST_OF_OBJECT);
    return made;
  };
}

function constructed(provider: TypeProvider, typeName: string, fields: ReadonlyMap<string, CelValue>): Result {
  try {
    const known = constructWellKnownMessage(typeName, fields);
    if (known !== undefined) return known;
    const made = provider.construct?.(typeName, fields);
    return made === undefined ? new Failure(`unknown type '${typeName}'`) : made;
  } catch (error) {
    return failureOf(error);
  }
}

/** Unwraps an optional entry; undefined if it has no value. */
function unwrapped(value: Result, optional: boolean, key: CelValue): Result | undefined {
  if (!optional || value instanceof Failure) return value;
  if (value instanceof CelOptional) return value.value;
  return new Failure(
    `cannot initialize optional entry '${printValue(key)}' from non-optional value ${printValue(value)}`,
  );
}
