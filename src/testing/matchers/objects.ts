/**
 * Matchers for API objects and for StatusErrors.
 */
import { conditionOf, conditionsOf, printCondition, whyNotReady } from '../../client/until.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject, OwnerReference } from '../../meta/object.js';
import type { StatusReason } from '../../meta/status.js';
import { isRecord } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import {
  ignoreRejection,
  isPromiseLike,
  type MatcherResult,
  nameOf,
  objectOf,
  printValue,
  resultOf,
} from './result.js';

export function toBeReady(received: unknown): MatcherResult {
  const why = whyNotReady(objectOf('toBeReady', received));
  const problems = why === undefined ? [] : [why];
  return resultOf(problems, `${nameOf(received)} is not ready:`, `${nameOf(received)} is ready, and should not be`);
}

/** The expected properties of a condition; omitted properties match any value. */
export interface ExpectedCondition {
  readonly status?: 'True' | 'False' | 'Unknown' | undefined;
  readonly reason?: string | RegExp | undefined;
  readonly message?: string | RegExp | undefined;
}

export function toHaveCondition(
  received: unknown,
  type: string,
  expected: 'True' | 'False' | 'Unknown' | ExpectedCondition = 'True',
): MatcherResult {
  objectOf('toHaveCondition', received);
  const wanted = expectedCondition(type, expected);
  const condition = conditionOf(received, type);
  const what = CONDITION_PARTS;
  const problems =
    condition === undefined
      ? [`it has ${conditionsOf(received).map(printCondition).join(', ') || 'no conditions at all'}`]
      : what
          .filter((part) => wanted[part] !== undefined && !isText(wanted[part], condition[part]))
          .map((part) => `${part}: expected ${showText(wanted[part])}, got ${printValue(condition[part])}`);
  const details = what.filter((part) => wanted[part] !== undefined).map((part) => `${part} ${showText(wanted[part])}`);
  const named = `condition ${type}${details.length === 0 ? '' : ` with ${details.join(', ')}`}`;
  return resultOf(
    problems,
    `${nameOf(received)} does not have the ${named}:`,
    `${nameOf(received)} has the ${named}, and should not`,
  );
}

const CONDITION_PARTS = ['status', 'reason', 'message'] as const satisfies readonly (keyof ExpectedCondition)[];

/** Throws TypeError for invalid arguments, which would otherwise match any condition. */
function expectedCondition(type: unknown, expected: unknown): ExpectedCondition {
  if (typeof type !== 'string' || type === '')
    throw new TypeError(
      `orchplane: toHaveCondition takes the type of a condition, such as "Ready", not ${printValue(type)}`,
    );
  if (typeof expected === 'string') return { status: expected as ExpectedCondition['status'] };
  if (!isRecord(expected) || expected instanceof RegExp) {
    const shown = expected instanceof RegExp ? String(expected) : printValue(expected);
    throw new TypeError(
      `orchplane: toHaveCondition takes a status ("True", "False", "Unknown") or an object with status, reason, message, not ${shown}`,
    );
  }
  refuseUnknownOptions('toHaveCondition', expected, CONDITION_PARTS);
  return expected;
}

export interface OwnedOptions {
  /** Whether the owner is the controller of the object. */
  readonly controller?: boolean | undefined;
}

export function toBeOwnedBy(received: unknown, owner: object, options: OwnedOptions = {}): MatcherResult {
  objectOf('toBeOwnedBy', received);
  ignoreRejection(owner);
  const { kind, metadata } = (isRecord(owner) ? owner : {}) as Partial<ApiObject>;
  if (metadata?.uid === undefined)
    throw new TypeError(`orchplane: toBeOwnedBy takes the owner as it came from the server, not ${printValue(owner)}`);
  const owners = ownersOf(received);
  const found = owners.find(({ uid }) => uid === metadata.uid);
  const problems: string[] = [];
  if (found === undefined) {
    const sameName = owners.some((each) => each.name === metadata.name && each.kind === kind);
    problems.push(
      owners.length === 0 ? 'it has no owners' : `its owners are ${owners.map(printOwner).join(', ')}`,
      ...(sameName ? [`that is another object of this name: the uid of this one is ${metadata.uid}`] : []),
    );
  } else if (options.controller !== undefined && (found.controller ?? false) !== options.controller) {
    problems.push(options.controller ? 'it is an owner, but not the controller' : 'it is the controller');
  }
  return resultOf(
    problems,
    `${nameOf(received)} is not owned by ${nameOf(owner)}:`,
    `${nameOf(received)} is owned by ${nameOf(owner)}, and should not be`,
  );
}

export function toBeStatusError(received: unknown, reason?: StatusReason, message?: string | RegExp): MatcherResult {
  if (isPromiseLike(received)) {
    ignoreRejection(received);
    throw new TypeError(`orchplane: toBeStatusError looks at an error, not at ${printValue(received)}`);
  }
  const problems: string[] = [];
  if (!StatusError.is(received)) {
    problems.push(
      received instanceof Error ? `it is ${received.name}: ${received.message}` : `it is ${printValue(received)}`,
    );
  } else {
    const said = `it is ${received.reason ?? 'of no reason'} (${received.code}): ${received.message}`;
    if (reason !== undefined && received.reason !== reason) problems.push(said);
    else if (message !== undefined && !contains(message, received.message)) problems.push(said);
  }
  const wanted = `a StatusError${reason === undefined ? '' : ` ${reason}`}${message === undefined ? '' : ` that says ${showText(message)}`}`;
  return resultOf(problems, `expected ${wanted}:`, `expected anything but ${wanted}`);
}

function ownersOf(object: unknown): readonly OwnerReference[] {
  return isRecord(object) ? ((object as Partial<ApiObject>).metadata?.ownerReferences ?? []) : [];
}

function printOwner({ kind, name, uid }: OwnerReference): string {
  return `${kind} ${name} (${uid})`;
}

function isText(wanted: string | RegExp | undefined, text: string | undefined): boolean {
  if (wanted === undefined) return true;
  if (text === undefined) return false;
  return typeof wanted === 'string' ? text === wanted : text.search(wanted) >= 0;
}

function contains(wanted: string | RegExp, text: string): boolean {
  return typeof wanted === 'string' ? text.includes(wanted) : text.search(wanted) >= 0;
}

function showText(text: string | RegExp | undefined): string {
  return typeof text === 'string' ? JSON.stringify(text) : String(text);
}
