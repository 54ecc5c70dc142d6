/**
 * What a matcher answers, in the form that jest and vitest agree on.
 */
import { isRecord } from '../../util/json.js';

export interface MatcherResult {
  readonly pass: boolean;
  /** Why it does not pass; where it passes: why `.not` does not. */
  readonly message: () => string;
  /** Shown as a diff by runners that can. */
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** `problems`: what is wrong, in a line each; none: it passes. `contrary` is what `.not` says then. */
export function resultOf(
  problems: readonly string[],
  head: string,
  contrary: string,
  sides: Pick<MatcherResult, 'actual' | 'expected'> = {},
): MatcherResult {
  if (problems.length === 0) return { pass: true, message: () => contrary };
  return { pass: false, message: () => [head, ...problems.map((problem) => `  ${problem}`)].join('\n'), ...sides };
}

/** `Pod default/web`. */
export function nameOf(object: unknown): string {
  if (!isRecord(object)) return object === undefined ? 'undefined' : String(object);
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name, namespace } = metadata as { readonly name?: string; readonly namespace?: string };
  const kind = typeof object['kind'] === 'string' ? object['kind'] : 'object';
  return [kind, [namespace, name].filter((part) => part !== undefined).join('/')]
    .filter((part) => part !== '')
    .join(' ');
}

/**
 * What is received, if it is an object at all. Throws TypeError otherwise, also for `.not`, which anything else would pass:
 * a promise that nobody awaited above all.
 */
export function objectOf(where: string, received: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(received) && !isPromiseLike(received) && !(received instanceof Error)) return received;
  ignoreRejection(received);
  throw new TypeError(`orchplane: ${where} looks at an object, not at ${printValue(received)}`);
}

/** Also one of another realm. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** The refusal of a promise that is not looked at would end the process, before anybody reads what was wrong. */
export function ignoreRejection(received: unknown): void {
  if (received instanceof Promise) received.catch(() => undefined);
}

export function printValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (isPromiseLike(value)) return 'a promise, which has to be awaited first';
  // A cluster, a log, a client: what is inside says nothing to who mistook it for something else.
  if (isRecord(value) && Object.values(value).some((part) => typeof part === 'function')) {
    return `an object with ${Object.keys(value).slice(0, MOST_NAMES).join(', ')}, …`;
  }
  const text = jsonText(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text;
}

const MOST_SHOWN = 300;
const MOST_NAMES = 5;

/** JSON has integers of any size, and its writer none of ours: they go through it as marked texts. */
function jsonText(value: unknown): string {
  const mark = (_key: string, part: unknown): unknown => (typeof part === 'bigint' ? `\0${part}` : part);
  return JSON.stringify(value, mark)?.replace(/"\\u0000(-?\d+)"/g, '$1') ?? String(value);
}
