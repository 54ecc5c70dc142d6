/**
 * Compiles device selectors (DeviceClass, ResourceClaim). Selectors may use everything API server expressions may, plus
 * `cel.bind`, semantic versions and the variable `device`. spec: DeviceClass
 */

import { expressionType } from '../../meta/dialect.js';
import { compile } from '../compile.js';
import { estimateCost } from '../cost/estimate.js';
import type { Environment, Program } from '../engine.js';
import { plan } from '../evaluate/plan.js';
import { BIND } from '../library/bind.js';
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '../library/environments.js';
import { QUANTITY_TYPE } from '../library/quantity.js';
import { STRICT_SEMVERS } from '../library/semver.js';
import type { NodeToEstimate, SizeEstimator } from '../library.js';
import { ANY, type CelType, describeType, mapOf, objectType, STRING, type TypeProvider } from '../types.js';
import { CelError } from '../values.js';

/** The cost limit of a selector, both for the estimate at validation and at run time. */
export const MAX_SELECTOR_COST = 1_000_000;

export type CompiledSelector =
  | {
      readonly program: Program;
      /** The estimated maximum cost. */
      readonly maxCost: number;
      readonly problem?: undefined;
    }
  /** The error message for the author; `internal` if the error is not attributable to the expression text. */
  | { readonly problem: string; readonly internal: boolean };

/**
 * Compiles a selector. The caller compares `maxCost` with the limit.
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

let forNew: Environment | undefined;

let forStored: Environment | undefined;

/** The environment for expressions in a request, or for stored expressions. */
function deviceEnvironment({ stored = false }: { readonly stored?: boolean } = {}): Environment {
  const added = { libraries: [BIND, STRICT_SEMVERS], variables: { device: DEVICE_TYPE }, provider };
  if (stored) {
    forStored ??= storedExpressionsEnvironment().extend(added);
    return forStored;
  }
  forNew ??= newExpressionsEnvironment().extend(added);
  return forNew;
}

const DEVICE_TYPE = objectType(expressionType('DRADevice'));

const MAX_DRIVER = 63;

const MAX_DOMAIN = 63;

const MAX_ID = 32;

const MAX_ATTRIBUTE = 64;

const MAX_ENTRIES = 32;

/** Type and maximum size (characters or entries) of a field, for cost estimates. Quantities have no size. */
interface Sized {
  readonly type: CelType;
  readonly max: number;
  readonly keys?: Sized;
  readonly values?: Sized;
}

/** A bool, int, string or version; the type is known only at run time. */
const ATTRIBUTE: Sized = { type: ANY, max: MAX_ATTRIBUTE };

const FIELDS: Readonly<Record<string, Sized>> = {
  driver: { type: STRING, max: MAX_DRIVER },
  attributes: byDomain(byId(ATTRIBUTE)),
  capacity: byDomain(byId({ type: QUANTITY_TYPE, max: 0 })),
};

function byId(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_ID }, values };
}

function byDomain(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_DOMAIN }, values };
}

function fieldOf(name: string): Sized | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

const provider: TypeProvider = {
  hasType: (name) => name === DEVICE_TYPE.name,
  fieldType: (typeName, field) => (typeName === DEVICE_TYPE.name ? fieldOf(field)?.type : undefined),
  fieldNames: (typeName) => (typeName === DEVICE_TYPE.name ? Object.keys(FIELDS) : []),
  // Map fields have type names derived from their path.
  namedType: (name) => {
    const field = name.startsWith(`${DEVICE_TYPE.name}.`)
      ? fieldOf(name.slice(DEVICE_TYPE.name.length + 1))
      : undefined;
    return field?.values === undefined ? undefined : field.type;
  },
};

/** Size estimates of everything reachable from `device`. */
const DEVICE_SIZES: SizeEstimator = {
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

function stepInto(node: Sized, step: string): Sized | undefined {
  if (step === '@items' || step === '@values') return node.values;
  if (step === '@keys') return node.keys;
  if (node.type === DEVICE_TYPE) return fieldOf(step);
  // All attributes have the same maximum size; capacities have none.
  return node.values === ATTRIBUTE ? ATTRIBUTE : undefined;
}
