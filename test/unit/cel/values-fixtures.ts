/** The variables, sizes and value formats of the cases in values-cases.jsonl and costs-cases.jsonl. */
import { estimateCost } from '../../../src/cel/cost/estimate.js';
import { ArrayList, itemsOf, jsonValue } from '../../../src/cel/evaluate/views.js';
import { compile, plan } from '../../../src/cel/index.js';
import {
  AUTHORIZER_TYPE,
  type AuthorizationCheck,
  authorizerValue,
  type CelAuthorizer,
  RESOURCE_CHECK_TYPE,
  resourceAuthorizerValue,
} from '../../../src/cel/library/authorizer.js';
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '../../../src/cel/library/environments.js';
import { CelCidr, CelIp } from '../../../src/cel/library/ip-addresses.js';
import { CelFormat } from '../../../src/cel/library/named-format.js';
import { CelQuantity } from '../../../src/cel/library/quantity.js';
import { CelSemver } from '../../../src/cel/library/semver.js';
import { JSON_PATCHES } from '../../../src/cel/library/strings.js';
import { CelUrl } from '../../../src/cel/library/url.js';
import type { SizeEstimate, SizeEstimator } from '../../../src/cel/library.js';
import { DYN, INT, listOf, STRING, typeName } from '../../../src/cel/types.js';
import {
  CelBytes,
  CelDuration,
  CelError,
  CelList,
  CelMap,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelTypeValue,
  CelUint,
  type CelValue,
} from '../../../src/cel/values.js';
import { printIp } from '../../../src/meta/ip.js';
import { quote } from '../../../src/text/go/go-text.js';

export type ValueCase = readonly [
  expression: string,
  environment: 'new' | 'stored',
  kind: 'issues' | 'program' | 'error' | 'value',
  text: string,
  estimate?: readonly [string, string],
  cost?: number,
];

/** All results of an expression. */
export function resultOf([expression, name]: ValueCase): ValueCase {
  const environment = ENVIRONMENTS[name]();
  const compiled = compile(expression, environment);
  if (compiled.checked === undefined) return [expression, name, 'issues', compiled.text];
  const { min, max } = estimateCost(compiled.checked, environment, SIZES);
  const estimate: [string, string] = [printBound(min), printBound(max)];
  try {
    const outcome = plan(compiled.checked, environment).evaluate(VARIABLES, { costLimit: 1e8 });
    if (outcome.error !== undefined) return [expression, name, 'error', outcome.error.message, estimate, outcome.cost];
    return [expression, name, 'value', show(outcome.value), estimate, outcome.cost];
  } catch (error) {
    if (error instanceof CelError) return [expression, name, 'program', error.message, estimate];
    throw error;
  }
}

/** Numbers beyond the precision of a double, as a fraction of 2^64. */
export function printBound(number: number): string {
  return number > 2 ** 53 ? `${Number((number / 2 ** 64).toPrecision(6))}T` : String(number);
}

/** Allows the verb get; fails for the name boom. The reason contains the check. */
const authorizer: CelAuthorizer = {
  authorize: (question) => {
    const { verb, serviceAccount: account } = question;
    const who = account === undefined ? 'alice' : `system:serviceaccount:${account.namespace}:${account.name}`;
    const reason = [who, verb, question.type === 'resource', ...parts(question)].join(' ');
    if (question.type === 'resource' && question.name === 'boom') {
      return { allowed: false, reason, error: 'it went boom' };
    }
    return { allowed: verb === 'get', reason };
  },
};

function parts(question: AuthorizationCheck): string[] {
  if (question.type === 'path') return [question.path, '', '', '', '', ''];
  const { group, resource, subresource, namespace, name } = question;
  return ['', group, resource, subresource, namespace, name];
}

const MORE = {
  libraries: [JSON_PATCHES],
  variables: {
    s: STRING,
    short: STRING,
    l: listOf(STRING),
    n: listOf(INT),
    x: DYN,
    authorizer: AUTHORIZER_TYPE,
    'authorizer.requestResource': RESOURCE_CHECK_TYPE,
  },
};

const ENVIRONMENTS = {
  new: () => newExpressionsEnvironment().extend(MORE),
  stored: () => storedExpressionsEnvironment().extend(MORE),
};

const REQUEST = { group: 'apps', resource: 'deployments', subresource: 'scale', namespace: 'default', name: 'web' };
const VARIABLES: ReadonlyMap<string, CelValue> = new Map<string, CelValue>([
  ['s', 'Hello, Wörld 😀'],
  ['short', 'abc'],
  ['l', new ArrayList(['b', 'a', 'c', 'dé'])],
  ['n', new ArrayList([3n, 1n, 2n])],
  ['x', jsonValue({ a: 1, s: 'txt', l: [1, 'b', { k: 'vv' }] })],
  ['authorizer', authorizerValue(authorizer)],
  ['authorizer.requestResource', resourceAuthorizerValue(authorizer, REQUEST)],
]);

const KNOWN: Readonly<Record<string, SizeEstimate>> = {
  s: { min: 0, max: 100 },
  short: { min: 2, max: 5 },
  l: { min: 1, max: 50 },
  'l.@items': { min: 0, max: 10 },
  n: { min: 0, max: 7 },
};
const SIZES: SizeEstimator = { estimateSize: ({ path }) => KNOWN[path.join('.')] };

/** Formats a value unambiguously. Map entries are sorted by text. */
function show(value: CelValue): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'number') return `d${showDouble(value)}`;
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelBytes) return `b${quote(new TextDecoder().decode(value.bytes))}`;
  if (value instanceof CelTypeValue) return `type ${typeName(value.type)}`;
  if (value instanceof CelTimestamp) return `t${value.nanos}`;
  if (value instanceof CelDuration) return `dur${value.nanos}`;
  if (value instanceof CelList) return `[${itemsOf(value).map(show).join(', ')}]`;
  if (value instanceof CelMap) {
    const entries = [...value.keys()].map((key) => `${show(key)}: ${show(value.get(key) ?? null)}`);
    return `{[${entries.sort().join(' ')}]}`;
  }
  return value instanceof CelOpaque ? showOpaque(value) : 'unknown';
}

function showOpaque(value: CelOpaque): string {
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : `some(${show(value.value)})`;
  if (value instanceof CelQuantity) return `q${value.quantity}`;
  if (value instanceof CelUrl) return `u${quote(value.text)}`;
  if (value instanceof CelIp) return `ip${printIp(value.ip)}`;
  if (value instanceof CelCidr) return `cidr${printIp(value.cidr.address)}/${value.cidr.prefix}`;
  if (value instanceof CelFormat) return `f${value.name}`;
  if (!(value instanceof CelSemver)) return `? ${value.type.name}`;
  const { major, minor, patch, prerelease, build } = value.version;
  const suffix = `${prerelease.length > 0 ? '-' : ''}${prerelease.join('.')}${build.length > 0 ? '+' : ''}${build.join('.')}`;
  return `v${major}.${minor}.${patch}${suffix}`;
}

function showDouble(value: number): string {
  if (Object.is(value, -0)) return '-0e+00';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return value.toExponential().replace(/e([+-])([0-9])$/, 'e$10$2');
}
