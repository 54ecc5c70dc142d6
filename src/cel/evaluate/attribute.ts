/**
 * Attributes: a variable or a computed value with the steps taken into it (`self.spec.ports[0]`). They are built while
 * an expression is planned, step by step, and turned into one closure when it is known that no step follows.
 *
 * The distinction matters for cost: the steps cost one each, and the attribute as a whole one more — but not where it is
 * a branch of a conditional or a key of another attribute.
 */
import { Failure, failureOf, MissingVariable, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { printValue } from '../library/print-value.js';
import { formatDouble, intOfDouble } from '../numbers.js';
import { referenceClass, typeNameOf } from '../runtime-type.js';
import { CelList, CelMap, CelObject, CelOptional, CelUint, type CelValue } from '../values.js';
import { type Frame, missingVariable, type Step } from './frame.js';

export interface Attribute {
  add(qualifier: Qualifier): void;
  /** Without the cost of the attribute itself. No steps are added any more. */
  resolve(): Step;
  /** Conditionals as such cost nothing. */
  readonly free: boolean;
}

/** A variable that is known by its name, or whatever else a closure gives. */
export class ValueAttribute implements Attribute {
  readonly free = false;
  readonly #value: Step;
  readonly #qualifiers: Qualifier[] = [];

  constructor(value: Step) {
    this.#value = value;
  }

  add(qualifier: Qualifier): void {
    this.#qualifiers.push(qualifier);
  }

  resolve(): Step {
    const value = this.#value;
    const qualifiers = this.#qualifiers;
    const [first] = qualifiers;
    if (first === undefined) return value;
    if (qualifiers.length === 1 && !first.optional) {
      return (frame) => {
        const start = value(frame);
        if (start instanceof Failure) return start;
        return start instanceof CelOptional ? walk(frame, start, qualifiers) : first.qualify(frame, start);
      };
    }
    return (frame) => {
      const start = value(frame);
      return start instanceof Failure ? start : walk(frame, start, qualifiers);
    };
  }
}

/** From the first optional on, what is not there ends the walk without a failure, and the result is an optional. */
function walk(frame: Frame, start: CelValue, qualifiers: readonly Qualifier[]): Result {
  let value = start;
  let optional = false;
  if (start instanceof CelOptional) {
    if (start.value === undefined) return start;
    value = start.value;
    optional = true;
  }
  for (const qualifier of qualifiers) {
    optional ||= qualifier.optional;
    const next = optional ? qualifier.qualifyIfPresent(frame, value) : qualifier.qualify(frame, value);
    if (next === undefined) return CelOptional.NONE;
    if (next instanceof Failure) return next;
    value = next;
  }
  return optional ? new CelOptional(value) : value;
}

/** `condition ? a : b`; steps behind it are steps into both. */
export class ConditionalAttribute implements Attribute {
  readonly free = true;
  readonly #condition: Step;
  readonly #branches: readonly [Attribute, Attribute];

  constructor(condition: Step, branches: readonly [Attribute, Attribute]) {
    this.#condition = condition;
    this.#branches = branches;
  }

  add(qualifier: Qualifier): void {
    for (const branch of this.#branches) branch.add(qualifier);
  }

  resolve(): Step {
    const condition = this.#condition;
    const yes = this.#branches[0].resolve();
    const no = this.#branches[1].resolve();
    return (frame) => {
      const holds = condition(frame);
      if (holds === true) return yes(frame);
      if (holds === false) return no(frame);
      return holds instanceof Failure ? holds : NO_SUCH_OVERLOAD;
    };
  }
}

/** How a name is looked up; undefined when nothing has it. Names of types count only as they are, without steps. */
export type Lookup = (name: string, isWhole: boolean) => (frame: Frame) => Result | undefined;

/**
 * A name in an expression whose types nobody knows: `a.b.c` may be a variable of that name, a field of `a.b`, or a field
 * of a field of `a`. The longest name that is there wins.
 */
export class UncheckedAttribute implements Attribute {
  readonly free = false;
  readonly #lookup: Lookup;
  /** Names may be meant relative to the container: all are tried in order. */
  readonly #meanings: { readonly names: readonly string[]; readonly qualifiers: Qualifier[] }[];

  constructor(names: readonly string[], lookup: Lookup) {
    this.#lookup = lookup;
    this.#meanings = [{ names, qualifiers: [] }];
  }

  add(qualifier: Qualifier): void {
    const [longest] = this.#meanings;
    const field = qualifier.constant;
    const isName = longest !== undefined && longest.qualifiers.length === 0 && typeof field === 'string';
    for (const meaning of this.#meanings) meaning.qualifiers.push(qualifier);
    if (isName) this.#meanings.unshift({ names: longest.names.map((name) => `${name}.${field}`), qualifiers: [] });
  }

  resolve(): Step {
    const meanings = this.#meanings.map(({ names, qualifiers }) => {
      const lookups = names.map((name) => this.#lookup(name, qualifiers.length === 0));
      const absent = missingVariable(names);
      return (frame: Frame): Result => {
        for (const lookup of lookups) {
          const value = lookup(frame);
          if (value instanceof Failure) return value;
          if (value !== undefined) return qualifiers.length === 0 ? value : walk(frame, value, qualifiers);
        }
        return absent;
      };
    });
    return (frame) => {
      let failure: Result = NO_SUCH_OVERLOAD;
      for (const [index, meaning] of meanings.entries()) {
        const result = meaning(frame);
        if (!(result instanceof MissingVariable)) return result;
        if (index === 0) failure = result;
      }
      return failure;
    };
  }
}

export interface Qualifier {
  /** Written with `?`: what is not there makes an optional without a value instead of a failure. */
  readonly optional: boolean;
  /** The value inside; charges one in any case. */
  qualify(frame: Frame, value: CelValue): Result;
  /** Undefined when it is not there; charges one only when it is. */
  qualifyIfPresent(frame: Frame, value: CelValue): Result | undefined;
  /** Known when the expression is planned. */
  readonly constant?: CelValue;
}

export function constantQualifier(key: CelValue, optional: boolean): Qualifier {
  return {
    optional,
    constant: key,
    qualify(frame, value) {
      frame.charge(1);
      return inside(value, key);
    },
    qualifyIfPresent(frame, value) {
      return chargeIfPresent(frame, insideIfPresent(value, key));
    },
  };
}

/** The key is computed. What it costs is charged before the step itself. */
export function computedQualifier(key: Step, optional: boolean): Qualifier {
  return {
    optional,
    qualify(frame, value) {
      const index = key(frame);
      const result = index instanceof Failure ? index : (refusedKey(index) ?? inside(value, index));
      frame.charge(1);
      return result;
    },
    qualifyIfPresent(frame, value) {
      const index = key(frame);
      if (index instanceof Failure) return index;
      return chargeIfPresent(frame, refusedKey(index) ?? insideIfPresent(value, index));
    },
  };
}

/** The last step of `has(a.field)`. */
export function presenceQualifier(field: string): Qualifier {
  return {
    optional: false,
    constant: field,
    qualify(frame, value) {
      const result = isPresent(value, field);
      frame.charge(1);
      return result;
    },
    qualifyIfPresent(frame, value) {
      return chargeIfPresent(frame, insideIfPresent(value, field));
    },
  };
}

function chargeIfPresent(frame: Frame, result: Result | undefined): Result | undefined {
  if (result !== undefined && !(result instanceof Failure)) frame.charge(1);
  return result;
}

/** Only numbers, texts and bools are keys. */
export function refusedKey(key: CelValue): Failure | undefined {
  if (typeof key !== 'object' || key instanceof CelUint) return undefined;
  return new Failure(`invalid qualifier type: ${referenceClass(key)}`);
}

function inside(value: CelValue, key: CelValue): Result {
  const found = insideIfPresent(value, key);
  return found === undefined ? missing(value, key) : found;
}

function missing(value: CelValue, key: CelValue): Failure {
  return new Failure(`${value instanceof CelList ? 'index out of bounds' : 'no such key'}: ${printValue(key)}`);
}

function insideIfPresent(value: CelValue, key: CelValue): Result | undefined {
  try {
    if (value instanceof CelObject) return typeof key === 'string' ? value.get(key) : NO_SUCH_OVERLOAD;
    if (value instanceof CelMap) return value.get(key);
    if (value instanceof CelList) {
      const index = indexOf(key);
      if (index instanceof Failure) return index;
      return index >= 0 && index < value.size ? value.at(index) : undefined;
    }
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

function isPresent(value: CelValue, field: string): boolean | Failure {
  if (value instanceof CelObject) {
    try {
      return value.has(field);
    } catch (error) {
      return failureOf(error);
    }
  }
  const found = insideIfPresent(value, field);
  return found instanceof Failure ? found : found !== undefined;
}

/** Whole numbers of all types are indexes. */
function indexOf(key: CelValue): number | Failure {
  if (typeof key === 'bigint') return Number(key);
  if (key instanceof CelUint) {
    return BigInt.asIntN(64, key.value) === key.value
      ? Number(key.value)
      : new Failure(`unsupported index value ${key.value} in list`);
  }
  if (typeof key !== 'number') return new Failure(`unsupported index type '${typeNameOf(key)}' in list`);
  const int = intOfDouble(key);
  return int !== undefined && Number(int) === key
    ? Number(int)
    : new Failure(`unsupported index value ${formatDouble(key)} in list`);
}
