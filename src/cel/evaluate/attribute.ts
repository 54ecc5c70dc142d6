/**
 * Attributes: a variable or a computed value with the steps taken into it (`self.spec.ports[0]`). They are built while
 * an expression is planned, step by step, and turned into one closure when it is known that no step follows.
 *
 * The distinction matters for cost: the steps cost one each, and the attribute as a whole one more — but not where it is
 * a branch of a conditional or a key of another attribute.
 */
import { Failure, MissingVariable, NO_SUCH_OVERLOAD, type Result } from '../failure.js';
import { CelOptional, type CelValue } from '../values.js';
import { type Frame, missingVariable, type Step } from './frame.js';
import type { Qualifier } from './qualifier.js';

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
