/**
 * What the expressions of device selectors may use: all that expressions of the API server may, `cel.bind`, semantic
 * versions, and the variable `device`. spec: DeviceClass
 */
import { expressionType } from '../../meta/dialect.js';
import type { Environment } from '../engine.js';
import { BIND } from '../library/bind.js';
import { apiServerEnvironment, storedEnvironment } from '../library/environments.js';
import { QUANTITY_TYPE } from '../library/quantity.js';
import { STRICT_SEMVERS } from '../library/semver.js';
import type { NodeToEstimate, Sizes } from '../library.js';
import { ANY, type CelType, mapOf, objectType, STRING, type TypeProvider } from '../types.js';

const DEVICE_TYPE = objectType(expressionType('DRADevice'));

/** The most characters, entries: what estimates of costs go by. Nothing is known of quantities. */
interface Sized {
  readonly type: CelType;
  readonly max: number;
  readonly keys?: Sized;
  readonly values?: Sized;
}

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

function byId(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_ID }, values };
}

function byDomain(values: Sized): Sized {
  return { type: mapOf(STRING, values.type), max: MAX_ENTRIES, keys: { type: STRING, max: MAX_DOMAIN }, values };
}

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

function fieldOf(name: string): Sized | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

/** The sizes of what is reached from `device`. */
export const DEVICE_SIZES: Sizes = {
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
  // Attributes are all of one size, whatever they are called; of capacities nothing is said.
  return node.values === ATTRIBUTE ? ATTRIBUTE : undefined;
}

let forNew: Environment | undefined;
let forStored: Environment | undefined;

/** For expressions that a client sends, or for those that were accepted before. */
export function deviceEnvironment({ stored = false }: { readonly stored?: boolean } = {}): Environment {
  const added = { libraries: [BIND, STRICT_SEMVERS], variables: { device: DEVICE_TYPE }, provider };
  if (stored) {
    forStored ??= storedEnvironment().extend(added);
    return forStored;
  }
  forNew ??= apiServerEnvironment().extend(added);
  return forNew;
}
