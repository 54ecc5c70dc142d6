/**
 * Planned nodes and attributes. An attribute is a variable or computed value with qualifiers (`self.spec.ports[0]`);
 * the planner adds qualifiers one by one and resolves the attribute to one closure at the end.
 *
 * The distinction matters for cost: each qualifier costs one and the attribute as a whole one more, unless it is a
 * branch of a conditional or a key of another attribute.
 */
import { Failure, failureOf, MissingVariable, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { printValue } from '../library/print-value.js';
import { formatDouble, intOfDouble } from '../numbers.js';
import { goTypeName, typeNameOf } from '../runtime-type.js';
import { CelList, CelMap, CelObject, CelOptional, CelUint, type CelValue } from '../values.js';
import { COST_OF_VARIABLE } from './call-cost.js';
import { type Frame, missingVariable, type Step } from './frame.js';

/** The planned form of a node: a constant, an attribute or another step. */
export type Planned =
  | { readonly kind: 'constant'; readonly value: CelValue }
  | {
      readonly kind: 'attribute';
      readonly attribute: Attribute;
      /** Whether this is a `has()` test. */
      readonly presence: boolean;
    }
  | { readonly kind: 'step'; readonly step: Step };

export function constant(value: CelValue): Planned {
  return { kind: 'constant', value };
}

export function step(run: Step): Planned {
  return { kind: 'step', step: run };
}

export function attribute(of: Attribute, presence = false): Planned {
  return { kind: 'attribute', attribute: of, presence };
}

/** Returns an attribute to which qualifiers can be added. */
export function attributeOf(planned: Planned): Attribute {
  return planned.kind === 'attribute' ? planned.attribute : new ValueAttribute(stepOf(planned));
}

/** Returns a closure that evaluates the node and charges its cost. */
export function stepOf(planned: Planned): Step {
  switch (planned.kind) {
    case 'constant': {
      const { value } = planned;
      return () => value;
    }
    case 'step':
      return planned.step;
    case 'attribute':
      return attributeStep(planned.attribute, planned.presence);
  }
}

function attributeStep(of: Attribute, presence: boolean): Step {
  const resolve = of.resolve();
  // Presence tests cost only their qualifiers.
  const cost = (of.free ? 0 : COST_OF_VARIABLE) - (presence ? COST_OF_VARIABLE : 0);
  if (presence) {
    return (frame) => {
      const result = resolve(frame);
      frame.charge(cost);
      return result instanceof CelOptional ? result.value !== undefined : result;
    };
  }
  if (cost === 0) return resolve;
  return (frame) => {
    const result = resolve(frame);
    frame.charge(cost);
    return result;
  };
}

export interface Attribute {
  add(qualifier: Qualifier): void;
  /** Returns the closure, which does not charge the attribute itself. No qualifiers may be added afterwards. */
  resolve(): Step;
  /** Whether the attribute itself is free of cost; true for conditionals. */
  readonly free: boolean;
}

/** A resolved variable or any computed value. */
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

/**
 * Applies the qualifiers. After the first optional value or qualifier, an absent value ends the walk without failure
 * and the result is an optional.
 */
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

/** `condition ? a : b`; qualifiers apply to both branches. */
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

/** Looks up a name; undefined if it is undeclared. Type names match only without qualifiers (`isWhole`). */
export type Lookup = (name: string, isWhole: boolean) => (frame: Frame) => Result | undefined;

/**
 * A name in an unchecked expression: `a.b.c` may be a variable with that name, a field of `a.b`, or a nested field of
 * `a`. The longest existing name wins.
 */
export class UncheckedAttribute implements Attribute {
  readonly free = false;
  readonly #lookup: Lookup;
  /** Candidate names relative to the container, in lookup order. */
  readonly #interpretations: { readonly names: readonly string[]; readonly qualifiers: Qualifier[] }[];

  constructor(names: readonly string[], lookup: Lookup) {
    this.#lookup = lookup;
    this.#interpretations = [{ names, qualifiers: [] }];
  }

  add(qualifier: Qualifier): void {
    const [longest] = this.#interpretations;
    const field = qualifier.constant;
    const isName = longest !== undefined && longest.qualifiers.length === 0 && typeof field === 'string';
    for (const interpretation of this.#interpretations) interpretation.qualifiers.push(qualifier);
    if (isName)
      this.#interpretations.unshift({ names: longest.names.map((name) => `${name}.${field}`), qualifiers: [] });
  }

  resolve(): Step {
    const interpretations = this.#interpretations.map(({ names, qualifiers }) => {
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
      for (const [index, interpretation] of interpretations.entries()) {
        const result = interpretation(frame);
        if (!(result instanceof MissingVariable)) return result;
        if (index === 0) failure = result;
      }
      return failure;
    };
  }
}

/** A step into a value: `.field`, `[key]`, `.?field`, `[?key]`, or the presence test of `has()`. Each costs one. */
export interface Qualifier {
  /** Written with `?`: an absent value yields an empty optional instead of a failure. */
  readonly optional: boolean;
  /** Returns the qualified value; always charges one. */
  qualify(frame: Frame, value: CelValue): Result;
  /** Returns undefined if the value is absent; charges one only if it is present. */
  qualifyIfPresent(frame: Frame, value: CelValue): Result | undefined;
  /** The key if it is known at plan time. */
  readonly constant?: CelValue;
}

export function constantQualifier(key: CelValue, optional: boolean): Qualifier {
  return {
    optional,
    constant: key,
    qualify(frame, value) {
      frame.charge(1);
      return valueAt(value, key);
    },
    qualifyIfPresent(frame, value) {
      return chargeIfPresent(frame, valueIfPresent(value, key));
    },
  };
}

/** A qualifier with a computed key. The key's cost is charged first. */
export function computedQualifier(key: Step, optional: boolean): Qualifier {
  return {
    optional,
    qualify(frame, value) {
      const index = key(frame);
      const result = index instanceof Failure ? index : (invalidKeyFailure(index) ?? valueAt(value, index));
      frame.charge(1);
      return result;
    },
    qualifyIfPresent(frame, value) {
      const index = key(frame);
      if (index instanceof Failure) return index;
      return chargeIfPresent(frame, invalidKeyFailure(index) ?? valueIfPresent(value, index));
    },
  };
}

/** The last qualifier of `has(a.field)`. */
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
      return chargeIfPresent(frame, valueIfPresent(value, field));
    },
  };
}

function chargeIfPresent(frame: Frame, result: Result | undefined): Result | undefined {
  if (result !== undefined && !(result instanceof Failure)) frame.charge(1);
  return result;
}

/** Rejects keys other than numbers, strings and bools. */
export function invalidKeyFailure(key: CelValue): Failure | undefined {
  if (typeof key !== 'object' || key instanceof CelUint) return undefined;
  return new Failure(`invalid qualifier type: ${goTypeName(key)}`);
}

function valueAt(value: CelValue, key: CelValue): Result {
  const found = valueIfPresent(value, key);
  return found === undefined ? missing(value, key) : found;
}

function missing(value: CelValue, key: CelValue): Failure {
  return new Failure(`${value instanceof CelList ? 'index out of bounds' : 'no such key'}: ${printValue(key)}`);
}

function valueIfPresent(value: CelValue, key: CelValue): Result | undefined {
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
  const found = valueIfPresent(value, field);
  return found instanceof Failure ? found : found !== undefined;
}

/** Converts a whole number of any type to an index. */
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
