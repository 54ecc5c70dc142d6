/**
 * Waits for clients that a fake clock does not know: remote ones, other processes, other libraries.
 */
import { systemClock } from '../util/clock.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';
import { within } from '../util/within.js';
import type { TestCluster } from './test-cluster.js';

export interface EventuallyOptions {
  /** The cluster that advances between two attempts, so that its controllers and deadlines make progress. */
  readonly cluster?: Pick<TestCluster, 'clock'> | undefined;
  /** How far the clock of the cluster advances between two attempts; a second by default. */
  readonly advanceMs?: number | undefined;
  /** How long to try, in real time; 4 seconds by default, which is below the test timeout of most runners. */
  readonly timeoutMs?: number | undefined;
  /** The real time between two attempts; 20 milliseconds by default. */
  readonly intervalMs?: number | undefined;
}

const OPTIONS = [
  'cluster',
  'advanceMs',
  'timeoutMs',
  'intervalMs',
] as const satisfies readonly (keyof EventuallyOptions)[];

/**
 * Calls a function until it neither throws nor returns false, and returns its result. Rejects after the timeout with the last
 * error as its cause.
 *
 * @example
 * const pod = await eventually(() => cluster.api(Pod).get('web'), { cluster, advanceMs: 10_000 });
 */
export async function eventually<Result>(
  check: () => Result | Promise<Result>,
  options: EventuallyOptions = {},
): Promise<Exclude<Result, false>> {
  refuseUnknownOptions('eventually', options, OPTIONS);
  const { cluster, advanceMs = 1_000, timeoutMs = 4_000, intervalMs = 20 } = options;
  for (const [name, value] of Object.entries({ advanceMs, timeoutMs, intervalMs })) {
    if (!(value >= 0)) throw new TypeError(`orchplane: eventually: ${name} is a number of milliseconds, not ${value}`);
  }
  const deadline = systemClock.now() + timeoutMs;
  let attempts = 0;
  let failure: unknown;
  do {
    if (attempts > 0) await pause(intervalMs);
    attempts++;
    const attempt = await within(deadline - systemClock.now(), outcomeOf(check));
    if (attempt === undefined) failure = new Error('the function did not return');
    else if ('error' in attempt) failure = attempt.error;
    else if (attempt.result !== false) return attempt.result as Exclude<Result, false>;
    else failure = new Error('the function returned false');
    await cluster?.clock.advance(advanceMs);
  } while (systemClock.now() < deadline);
  const tries = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  throw new Error(`orchplane: eventually: ${messageOf(failure)} (${tries} in ${timeoutMs} ms)`, { cause: failure });
}

type Attempt<Result> = { readonly result: Result } | { readonly error: unknown };

async function outcomeOf<Result>(check: () => Result | Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { result: await check() };
  } catch (error) {
    return { error };
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void systemClock.after(ms, resolve));
}
