/**
 * Estimated costs of extension library calls, computed from the sizes known before evaluation. Validation rejects
 * expressions based on these numbers, so they equal the reference server's, including its inaccuracies.
 */

import { add, fixed, MAX_UINT64, multiply, multiplyByFactor, REGEX, TRAVERSAL, UNKNOWN } from '../cost/range.js';
import type { CallEstimate, CallToEstimate, NodeToEstimate, SizeEstimate, SizeEstimator } from '../library.js';
import { type CelType, typeParams } from '../types.js';
import {
  AUTHORIZER_TYPE,
  DECISION_TYPE,
  GROUP_CHECK_TYPE,
  PATH_CHECK_TYPE,
  RESOURCE_CHECK_TYPE,
} from './authorizer.js';
import { CIDR_TYPE, IP_TYPE } from './ip-addresses.js';
import { FORMAT_TYPE } from './named-format.js';
import { QUANTITY_TYPE } from './quantity.js';
import { SEMVER_TYPE } from './semver.js';
import { URL_TYPE } from './url.js';

type Estimate = (call: CallToEstimate, sizeOf: (node: NodeToEstimate) => SizeEstimate) => CallEstimate | undefined;

/** Estimates a call; undefined if the standard estimate applies. */
export function estimateCall(call: CallToEstimate, sizes: SizeEstimator): CallEstimate | undefined {
  return ESTIMATES.get(call.function)?.(call, (node) => node.computedSize ?? sizes.estimateSize(node) ?? UNKNOWN);
}

const ONE = fixed(1);

/** Chosen so that two checks fit into the cost limit of an expression. */
export const CHECK_COST = 350_000;

/** A selector is a list of requirements, each of at least two characters and parsed into a list and a struct. */
export function selectorCost(length: SizeEstimate): SizeEstimate {
  const requirements = multiplyByFactor(multiplyByFactor(length, 0.5), 50);
  return add(add(fixed(10), multiplyByFactor(length, TRAVERSAL)), requirements);
}

const always =
  (cost: number): Estimate =>
  () => ({ cost: fixed(cost) });

const selector: Estimate = ({ args: [text, ...more] }, sizeOf) =>
  text === undefined || more.length > 0 ? undefined : { cost: selectorCost(sizeOf(text)) };

/** Traverses every item, and every character of string items; for a string, every character. */
const traversal: Estimate = ({ target }, sizeOf) => {
  if (target === undefined) return undefined;
  const item = itemOf(target);
  if (item === undefined) return { cost: multiplyByFactor(sizeOf(target), TRAVERSAL) };
  const kind = item.type.kind === 'wrapper' ? item.type.of.kind : item.type.kind;
  const each = kind === 'string' || kind === 'bytes' ? add(ONE, multiplyByFactor(sizeOf(item), TRAVERSAL)) : ONE;
  return { cost: multiply(sizeOf(target), each) };
};

const parsedText: Estimate = ({ args: [text, ...more] }, sizeOf) =>
  text === undefined || more.length > 0 ? undefined : changedText(sizeOf(text));

const changedReceiver: Estimate = ({ target }, sizeOf) =>
  target === undefined ? undefined : changedText(sizeOf(target));

/** One traversal; the result is at most as long as the input. */
function changedText(size: SizeEstimate): CallEstimate {
  return { cost: multiplyByFactor(size, TRAVERSAL), resultSize: size };
}

const replace: Estimate = ({ target, args: [sought, replacement] }, sizeOf) => {
  if (target === undefined || sought === undefined || replacement === undefined) return undefined;
  const size = sizeOf(target);
  return {
    cost: multiplyByFactor(size, 2 * TRAVERSAL),
    resultSize: replacedSize(size, sizeOf(sought), sizeOf(replacement)),
  };
};

/**
 * The empty string matches around every character. Otherwise the result is longest if the shortest possible search
 * string is replaced by the longest replacement as often as possible, and shortest in the opposite case.
 */
function replacedSize(size: SizeEstimate, sought: SizeEstimate, replacement: SizeEstimate): SizeEstimate {
  const longest =
    sought.min === 0
      ? { count: size.max < MAX_UINT64 ? size.max + 1 : size.max, kept: size.max }
      : replacement.max <= sought.min
        ? { count: 0, kept: size.max }
        : { count: Math.ceil(size.max / sought.min), kept: 0 };
  const shortest =
    sought.max === 0
      ? { count: size.min < MAX_UINT64 ? size.min + 1 : size.min, kept: size.min }
      : sought.max <= replacement.min
        ? { count: 0, kept: size.min }
        : { count: Math.ceil(size.min / sought.max), kept: 0 };
  return {
    min: saturated(saturated(shortest.count * replacement.min) + shortest.kept),
    max: saturated(saturated(longest.count * replacement.max) + longest.kept),
  };
}

function saturated(number: number): number {
  return Math.min(number, MAX_UINT64);
}

/** At most one part per character, unless the call has a literal limit. */
const split: Estimate = ({ target, args: [, limit] }, sizeOf) => {
  if (target === undefined) return undefined;
  const size = sizeOf(target);
  return { cost: multiplyByFactor(size, 2 * TRAVERSAL), resultSize: { min: 0, max: literalLimit(limit) ?? size.max } };
};

function literalLimit(node: NodeToEstimate | undefined): number | undefined {
  const expr = node?.expr;
  if (expr?.type !== 'literal' || typeof expr.value !== 'bigint') return undefined;
  return Number(BigInt.asUintN(64, expr.value));
}

const join: Estimate = ({ target, args: [separator] }, sizeOf) => {
  if (target === undefined) return undefined;
  const list = sizeOf(target);
  const item = itemOf(target);
  const items = item === undefined ? fixed(0) : multiply(list, sizeOf(item));
  const between = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) };
  const size = separator === undefined ? items : add(items, multiply(sizeOf(separator), between));
  return { cost: multiplyByFactor(size, TRAVERSAL), resultSize: size };
};

const find: Estimate = ({ target, args: [regex] }, sizeOf) => {
  if (target === undefined || regex === undefined) return undefined;
  const size = sizeOf(target);
  // Add one, so that matching an empty string is not free.
  const text = multiplyByFactor(add(size, ONE), TRAVERSAL);
  return { cost: multiply(text, multiplyByFactor(sizeOf(regex), REGEX)), resultSize: { min: 0, max: size.max } };
};

/** A cost per character of the first argument. */
const readText =
  (factor: number): Estimate =>
  ({ args: [text] }, sizeOf) =>
    text === undefined ? undefined : { cost: multiplyByFactor(sizeOf(text), factor) };

/** `ip(string)` parses a string; `cidr.ip()` has no argument. */
const ip: Estimate = (call, sizeOf) => readText(TRAVERSAL)(call, sizeOf) ?? { cost: ONE };

/** Size of an address of either family in bytes. */
const ADDRESS: SizeEstimate = { min: 4, max: 16 };

const containsIp: Estimate = ({ overload, target, args: [other] }, sizeOf) => {
  if (target === undefined || other === undefined) return undefined;
  const compared = multiplyByFactor(add(ADDRESS, ADDRESS), TRAVERSAL);
  const isText = overload === 'cidr_contains_ip_string';
  return { cost: isText ? add(compared, multiplyByFactor(sizeOf(other), TRAVERSAL)) : compared };
};

const containsCidr: Estimate = ({ overload, target, args: [other] }, sizeOf) => {
  if (target === undefined || other === undefined) return undefined;
  const compared = multiplyByFactor(add(ADDRESS, ADDRESS), TRAVERSAL);
  const masked = add(add(compared, multiplyByFactor(ADDRESS, TRAVERSAL)), ONE);
  const isText = overload === 'cidr_contains_cidr_string';
  return { cost: isText ? add(masked, multiplyByFactor(sizeOf(other), TRAVERSAL)) : masked };
};

/** The regular expression length that is charged because the format is not known yet. */
const LONGEST_FORMAT = 128;

const validate: Estimate = ({ target, args: [text] }, sizeOf) =>
  target === undefined || text === undefined
    ? undefined
    : { cost: multiplyByFactor(multiplyByFactor(sizeOf(text), TRAVERSAL), LONGEST_FORMAT * REGEX) };

const SAME_COST_ALWAYS: readonly CelType[] = [
  IP_TYPE,
  CIDR_TYPE,
  QUANTITY_TYPE,
  SEMVER_TYPE,
  AUTHORIZER_TYPE,
  PATH_CHECK_TYPE,
  GROUP_CHECK_TYPE,
  RESOURCE_CHECK_TYPE,
  DECISION_TYPE,
];
const FORMAT_NAME_SIZE = 64;

const equality: Estimate = ({ args: [left, right, ...more] }) => {
  if (left === undefined || right === undefined || more.length > 0) return undefined;
  const isOfBoth = (type: CelType) => isType(left.type, type) && isType(right.type, type);
  if (SAME_COST_ALWAYS.some(isOfBoth)) return { cost: ONE };
  if (isOfBoth(FORMAT_TYPE)) return { cost: multiplyByFactor({ min: 1, max: FORMAT_NAME_SIZE }, TRAVERSAL) };
  // Only the right operand's size counts, and the size estimator is not asked.
  if (isOfBoth(URL_TYPE)) return { cost: multiplyByFactor({ min: 1, max: right.computedSize?.max ?? 1 }, TRAVERSAL) };
  return undefined;
};

/** These types have no parameters, so comparing names is enough. */
function isType(type: CelType, wanted: CelType): boolean {
  return 'name' in type && 'name' in wanted && type.kind === wanted.kind && type.name === wanted.name;
}

/** A node for the items of a list, or generally for the first type parameter. */
function itemOf(node: NodeToEstimate): NodeToEstimate | undefined {
  const [type] = typeParams(node.type);
  if (type === undefined) return undefined;
  const path = node.path.length === 0 ? [] : [...node.path, '@items'];
  return { type, path, expr: undefined, computedSize: undefined };
}

export const NOMINAL: readonly string[] = [
  ...['serviceAccount', 'path', 'group', 'resource', 'subresource', 'namespace', 'name'],
  ...['allowed', 'reason', 'error', 'errored'],
  ...['masked', 'prefixLength', 'family', 'isUnspecified', 'isLoopback'],
  ...['isLinkLocalMulticast', 'isLinkLocalUnicast', 'isGlobalUnicast'],
  ...['sign', 'asInteger', 'isInteger', 'asApproximateFloat', 'isGreaterThan', 'isLessThan', 'compareTo'],
  ...['add', 'sub', 'major', 'minor', 'patch'],
  ...['getScheme', 'getHostname', 'getHost', 'getPort', 'getEscapedPath', 'getQuery'],
  'format.named',
];

const ESTIMATES: ReadonlyMap<string, Estimate> = new Map<string, Estimate>([
  ...NOMINAL.map((name): [string, Estimate] => [name, always(1)]),
  ['check', always(CHECK_COST)],
  ['fieldSelector', selector],
  ['labelSelector', selector],
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, Estimate] => [name, traversal]),
  ['url', parsedText],
  ['jsonpatch.escapeKey', parsedText],
  ...['lowerAscii', 'upperAscii', 'substring', 'trim'].map((name): [string, Estimate] => [name, changedReceiver]),
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map((name): [string, Estimate] => [
    name,
    readText(TRAVERSAL),
  ]),
  ['ip', ip],
  ['ip.isCanonical', readText(2 * TRAVERSAL)],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  ['validate', validate],
  ['_==_', equality],
]);
