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

export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)} …` : text;
}

const MOST_SHOWN = 300;
