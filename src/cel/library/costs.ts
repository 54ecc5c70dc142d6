/**
 * Actual costs of extension library calls, computed from argument values and results. Cost limits apply to these
 * numbers, so they equal the reference server's.
 *
 * The library declares no functions: costs are looked up by function name, whichever library declares the function.
 */
import { byteLength } from '../../meta/names.js';
import { fixed, REGEX, TRAVERSAL } from '../cost/range.js';
import { actualSize } from '../evaluate/call-cost.js';
import type { EvaluatedCall, Library } from '../library.js';
import { CelBytes, CelList, CelMap, CelObject, CelOpaque, CelOptional, type CelValue } from '../values.js';
import { CHECK_COST, estimateCall, NOMINAL, selectorCost } from './cost-estimates.js';
import { CelFormat } from './named-format.js';

export const COSTS: Library = { name: 'costs', estimateCost: estimateCall, actualCost: actualCallCost };

/** The cost of a call; undefined if the standard cost applies. */
export function actualCallCost(call: EvaluatedCall): number | undefined {
  return ACTUAL_COSTS.get(call.function)?.(call);
}

type ActualCost = (call: EvaluatedCall) => number | undefined;

/** Unlike in standard costs, an optional value has the size 1. */
function sizeOf(value: CelValue | undefined): number {
  return value instanceof CelOptional ? 1 : actualSize(value);
}

const always =
  (cost: number): ActualCost =>
  () =>
    cost;

/** A cost per character of the first argument. */
const perCharacter =
  (factor: number): ActualCost =>
  ({ args }) =>
    args.length === 0 ? undefined : Math.ceil(sizeOf(args[0]) * factor);

const selector: ActualCost = ({ args }) => (args.length < 2 ? undefined : selectorCost(fixed(sizeOf(args[1]))).max);

const traversal: ActualCost = ({ args: [value] }) => (value === undefined ? 0 : traversalCost(value));

/** Traverses a value; rounds down for each string. The nesting depth is bounded by the JSON depth limit. */
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

const join: ActualCost = ({ args, result }) =>
  args.length === 0 ? undefined : Math.ceil(sizeOf(result) * 2 * TRAVERSAL);

const find: ActualCost = ({ args: [text, regex] }) =>
  text === undefined || regex === undefined ? undefined : matchCost(sizeOf(text), sizeOf(regex));

/** Adds one to the text size, so that matching an empty string is not free. */
function matchCost(textSize: number, regexSize: number): number {
  return Math.ceil((1 + textSize) * TRAVERSAL) * Math.ceil(regexSize * REGEX);
}

const ip: ActualCost = (call) => (call.overload === 'cidr_ip' ? 1 : perCharacter(TRAVERSAL)(call));

const containsIp: ActualCost = ({ overload, args: [range, other] }) => {
  if (range === undefined || other === undefined) return undefined;
  const compared = Math.ceil(2 * sizeOf(range) * TRAVERSAL);
  return overload === 'cidr_contains_ip_string' ? compared + Math.ceil(sizeOf(other) * TRAVERSAL) : compared;
};

const containsCidr: ActualCost = ({ overload, args: [range, other] }) => {
  if (range === undefined || other === undefined) return undefined;
  const size = sizeOf(range);
  const compared = Math.ceil(2 * size * TRAVERSAL) + Math.ceil(size * TRAVERSAL) + 1;
  return overload === 'cidr_contains_cidr_string' ? compared + Math.ceil(sizeOf(other) * TRAVERSAL) : compared;
};

const validate: ActualCost = ({ args: [format, text] }) =>
  format instanceof CelFormat && text !== undefined ? matchCost(sizeOf(text), format.regexSize) : undefined;

/** Opaque library values are compared in one step, except optional values. */
const equality: ActualCost = ({ args: [left, right] }) =>
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

const ACTUAL_COSTS: ReadonlyMap<string, ActualCost> = new Map<string, ActualCost>([
  ...NOMINAL.map((name): [string, ActualCost] => [name, always(1)]),
  ['check', always(CHECK_COST)],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, ActualCost] => [name, traversal]),
  ...[...PARSING, 'lowerAscii', 'upperAscii', 'substring', 'trim'].map((name): [string, ActualCost] => [
    name,
    perCharacter(TRAVERSAL),
  ]),
  ...['replace', 'split', 'ip.isCanonical'].map((name): [string, ActualCost] => [name, perCharacter(2 * TRAVERSAL)]),
  ['join', join],
  ['find', find],
  ['findAll', find],
  ['ip', ip],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  ['validate', validate],
  ['_==_', equality],
]);
