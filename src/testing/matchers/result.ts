/**
 * The result type of matchers, as jest and vitest define it, and helpers for messages.
 */
import { isRecord } from '../../util/json.js';

export interface MatcherResult {
  readonly pass: boolean;
  /** Why the matcher fails or, if it passes, why `.not` fails. */
  readonly message: () => string;
  /** Test runners may show both values as a diff. */
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** The matcher passes if `problems` (one line each) is empty. `contrary` is the message of `.not` in that case. */
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
 * The received value as an object. Throws TypeError for other values, such as a promise that was not awaited, because they
 * would always pass with `.not`.
 */
export function objectOf(where: string, received: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(received) && !isPromiseLike(received) && !(received instanceof Error)) return received;
  ignoreRejection(received);
  throw new TypeError(`orchplane: ${where} looks at an object, not at ${printValue(received)}`);
}

/** Also true for promises of another realm. */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Prevents an unhandled rejection, which would end the process before the error message is shown. */
export function ignoreRejection(received: unknown): void {
  if (received instanceof Promise) received.catch(() => undefined);
}

export function printValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (isPromiseLike(value)) return 'a promise, which has to be awaited first';
  // For a cluster, a log or a client, the member names are more helpful than the content.
  if (isRecord(value) && Object.values(value).some((part) => typeof part === 'function')) {
    return `an object with ${Object.keys(value).slice(0, MOST_NAMES).join(', ')}, …`;
  }
  const text = jsonText(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text;
}

const MOST_SHOWN = 300;
const MOST_NAMES = 5;

/** JSON.stringify rejects bigints, so they are passed as marked strings. */
function jsonText(value: unknown): string {
  const mark = (_key: string, part: unknown): unknown => (typeof part === 'bigint' ? `\0${part}` : part);
  return JSON.stringify(value, mark)?.replace(/"\\u0000(-?\d+)"/g, '$1') ?? String(value);
}
