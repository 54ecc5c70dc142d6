/**
 * What calls of the libraries have cost, from the values that were there. An evaluation is given up by these numbers,
 * so they are the reference's.
 */
import { byteLength } from '../../meta/names.js';
import { fixed } from '../cost/range.js';
import type { Library, PricedCall } from '../library.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional, type CelValue } from '../values.js';
import { CHECK_COST, estimateCall, NOMINAL, REGEX, selectorCost, TRAVERSAL } from './cost-estimates.js';
import { CelFormat } from './named-format.js';
import { characterCount } from './text.js';

export const COSTS: Library = { name: 'costs', estimate: estimateCall, price: priceCall };

type Price = (call: PricedCall) => number | undefined;

/** Undefined for calls that are priced in the usual way. */
export function priceCall(call: PricedCall): number | undefined {
  return PRICES.get(call.function)?.(call);
}

/** Characters of a text, bytes, items, entries; 1 for what has no size, a failure included. */
function sizeOf(value: CelValue | undefined): number {
  if (typeof value === 'string') return characterCount(value);
  if (value instanceof CelBytes) return value.bytes.length;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof CelObject) return value.fieldNames().length;
  return value instanceof CelOpaque ? (value.size ?? 1) : 1;
}

const always =
  (cost: number): Price =>
  () =>
    cost;

/** So much per character of the first argument. */
const perCharacter =
  (factor: number): Price =>
  ({ args }) =>
    args.length === 0 ? undefined : Math.ceil(sizeOf(args[0]) * factor);

const selector: Price = ({ args }) => (args.length < 2 ? undefined : selectorCost(fixed(sizeOf(args[1]))).max);

const traversal: Price = ({ args: [value] }) => (value === undefined ? 0 : traversalCost(value));

/** A look at everything in a value; rounded down for each text. Values may be deep, but not deeper than JSON may be. */
function traversalCost(value: CelValue): number {
  if (typeof value === 'string') return Math.floor(byteLength(value) * TRAVERSAL);
  if (value instanceof CelBytes) return Math.floor(value.bytes.length * TRAVERSAL);
  let cost = 0;
  if (value instanceof CelList) {
    for (let index = 0; index < value.size; index++) cost += traversalCost(value.at(index));
    return cost;
  }
  if (value instanceof CelMap) {
    for (const key of value.keys()) cost += traversalCost(key) + traversalCost(value.get(key) ?? null);
    return cost;
  }
  if (value instanceof CelObject) {
    for (const name of value.fieldNames()) cost += traversalCost(name) + traversalCost(value.get(name) ?? null);
    return cost;
  }
  return 1;
}

const join: Price = ({ args, result }) => (args.length === 0 ? undefined : Math.ceil(sizeOf(result) * 2 * TRAVERSAL));

const find: Price = ({ args: [text, regex] }) =>
  text === undefined || regex === undefined ? undefined : matchCost(sizeOf(text), sizeOf(regex));

/** Nothing is one character long here, so that a match over nothing is not free. */
function matchCost(textSize: number, regexSize: number): number {
  return Math.ceil((1 + textSize) * TRAVERSAL) * Math.ceil(regexSize * REGEX);
}

const ip: Price = (call) => (call.overload === 'cidr_ip' ? 1 : perCharacter(TRAVERSAL)(call));

const containsIp: Price = ({ overload, args: [range, other] }) => {
  if (range === undefined || other === undefined) return undefined;
  const compared = Math.ceil(2 * sizeOf(range) * TRAVERSAL);
  return overload === 'cidr_contains_ip_string' ? compared + Math.ceil(sizeOf(other) * TRAVERSAL) : compared;
};

const containsCidr: Price = ({ overload, args: [range, other] }) => {
  if (range === undefined || other === undefined) return undefined;
  const size = sizeOf(range);
  const compared = Math.ceil(2 * size * TRAVERSAL) + Math.ceil(size * TRAVERSAL) + 1;
  return overload === 'cidr_contains_cidr_string' ? compared + Math.ceil(sizeOf(other) * TRAVERSAL) : compared;
};

const validate: Price = ({ args: [format, text] }) =>
  format instanceof CelFormat && text !== undefined ? matchCost(sizeOf(text), format.regexSize) : undefined;

/** Values of libraries are compared in one step; optional ones are not theirs. */
const equality: Price = ({ args: [left, right] }) =>
  right !== undefined && left instanceof CelOpaque && !(left instanceof CelOptional) ? 1 : undefined;

const PARSING = [
  'url',
  'jsonpatch.escapeKey',
  'cidr',
  'isIP',
  'isCIDR',
  'quantity',
  'isQuantity',
  'semver',
  'isSemver',
];

const PRICES: ReadonlyMap<string, Price> = new Map<string, Price>([
  ...NOMINAL.map((name): [string, Price] => [name, always(1)]),
  ['check', always(CHECK_COST)],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, Price] => [name, traversal]),
  ...[...PARSING, 'lowerAscii', 'upperAscii', 'substring', 'trim'].map((name): [string, Price] => [
    name,
    perCharacter(TRAVERSAL),
  ]),
  ...['replace', 'split', 'ip.isCanonical'].map((name): [string, Price] => [name, perCharacter(2 * TRAVERSAL)]),
  ['join', join],
  ['find', find],
  ['findAll', find],
  ['ip', ip],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  ['validate', validate],
  ['_==_', equality],
]);
