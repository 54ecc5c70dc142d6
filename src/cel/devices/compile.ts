/**
 * Device selectors from text: refused when a class or a claim is written, planned when devices are looked for.
 */

import { expressionType } from '../../meta/dialect.js';
import { compile } from '../compile.js';
import { estimateCost } from '../cost/estimate.js';
import type { Environment, Program } from '../engine.js';
import { plan } from '../evaluate/plan.js';
import { BIND } from '../library/bind.js';
import { apiServerEnvironment, storedEnvironment } from '../library/environments.js';
import { QUANTITY_TYPE } from '../library/quantity.js';
import { STRICT_SEMVERS } from '../library/semver.js';
import type { NodeToEstimate, Sizes } from '../library.js';
import { ANY, type CelType, describeType, mapOf, objectType, STRING, type TypeProvider } from '../types.js';
import { CelError } from '../values.js';

const DEVICE_TYPE = objectType(expressionType('DRADevice'));

const MAX_DRIVER = 63;

const MAX_DOMAIN = 63;

const MAX_ID = 32;

const MAX_ATTRIBUTE = 64;

const MAX_ENTRIES = 32;

/** A bool, an int, a text or a version. Which one is known only of a device. */
const ATTRIBUTE: Sized = { type: ANY, max: MAX_ATTRIBUTE };

const FIELDS: Readonly<Record<string, Sized>> = {
  driver: { type: STRING, max: MAX_DRIVER },
  attributes: byDomain(byId(ATTRIBUTE)),
  capacity: byDomain(byId({ type: QUANTITY_TYPE, max: 0 })),
};

const provider: TypeProvider = {
  hasType: (name) => name === DEVICE_TYPE.name,
  fieldType: (typeName, field) => (typeName === DEVICE_TYPE.name ? fieldOf(field)?.type : undefined),
  fieldNames: (typeName) => (typeName === DEVICE_TYPE.name ? Object.keys(FIELDS) : []),
  // Maps are known by the place where they stand, beside objects.
  namedType: (name) => {
    const field = name.startsWith(`${DEVICE_TYPE.name}.`)
      ? fieldOf(name.slice(DEVICE_TYPE.name.length + 1))
      : undefined;
    return field?.values === undefined ? undefined : field.type;
  },
};

/** The sizes of what is reached from `device`. */
const DEVICE_SIZES: Sizes = {
  estimateSize: ({ path: [variable, ...steps] }: NodeToEstimate) => {
    if (variable !== 'device') return undefined;
    let node: Sized | undefined = { type: DEVICE_TYPE, max: 0 };
    for (const step of steps) {
      node = stepInto(node, step);
      if (node === undefined) return undefined;
    }
    return { min: 0, max: node.max };
  },
};

let forNew: Environment | undefined;

let forStored: Environment | undefined;

/** The most that a selector may cost, by estimate when it is written and in truth when it runs. */
export const MAX_SELECTOR_COST = 1_000_000;

export type CompiledSelector =
  | {
      readonly program: Program;
      /** The most that it may cost. */
      readonly maxCost: number;
      readonly problem?: undefined;
    }
  /** What is wrong, in words for whoever wrote it; `internal` when it was found too late to be put down to the text. */
  | { readonly problem: string; readonly internal: boolean };

/**
 * A selector that costs too much is no mistake here; whoever accepts it compares `maxCost`.
 *
 * @example
 * compileDeviceSelector('device.driver == "gpu.example.com"').problem // undefined
 * compileDeviceSelector('1 + 1').problem // 'must evaluate to bool or the unknown type, not int'
 */
export function compileDeviceSelector(text: string, options: { readonly stored?: boolean } = {}): CompiledSelector {
  const environment = deviceEnvironment(options);
  const compiled = compile(text, environment);
  if (compiled.checked === undefined) return { problem: `compilation failed: ${compiled.text}`, internal: false };
  const { checked } = compiled;
  const { kind } = checked.resultType;
  if (kind !== 'bool' && kind !== 'any') {
    const found = describeType(checked.resultType);
    return { problem: `must evaluate to bool or the unknown type, not ${found}`, internal: false };
  }
  try {
    return { program: plan(checked, environment), maxCost: estimateCost(checked, environment, DEVICE_SIZES).max };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { problem: `program instantiation failed: ${error.message}`, internal: true };
  }
}

/** The most characters, entries: what estimates of costs go by. Nothing is known of quantities. */
interface Sized {
  readonly type: CelType;
  readonly max: number;
  readonly keys?: Sized;
  readonly values?: Sized;
}

function byId(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_ID }, values };
}

function byDomain(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_DOMAIN }, values };
}

function fieldOf(name: string): Sized | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

function stepInto(node: Sized, step: string): Sized | undefined {
  if (step === '@items' || step === '@values') return node.values;
  if (step === '@keys') return node.keys;
  if (node.type === DEVICE_TYPE) return fieldOf(step);
  // Attributes are all of one size, whatever they are called; of capacities nothing is said.
  return node.values === ATTRIBUTE ? ATTRIBUTE : undefined;
}

/** For expressions that a client sends, or for those that were accepted before. */
function deviceEnvironment({ stored = false }: { readonly stored?: boolean } = {}): Environment {
  const added = { libraries: [BIND, STRICT_SEMVERS], variables: { device: DEVICE_TYPE }, provider };
  if (stored) {
    forStored ??= storedEnvironment().extend(added);
    return forStored;
  }
  forNew ??= apiServerEnvironment().extend(added);
  return forNew;
}
