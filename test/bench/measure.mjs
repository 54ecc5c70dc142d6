/**
 * Timing: the library and the baseline loop run in alternating rounds, so that other load on the machine affects both.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * One side of a comparison.
 *
 * @template State
 * @typedef {object} Contender
 * @property {number} count The number of operations of one run.
 * @property {() => State | Promise<State>} prepare Creates the input of the run; not timed.
 * @property {(state: State) => unknown} run The timed part; may return a promise.
 * @property {boolean} [keepsGarbage] Skips the garbage collection before a round, which discards compiled code.
 * @property {(state: State, result: unknown) => void | Promise<void>} check Throws if the run has a wrong result; not timed.
 */

/**
 * @typedef {object} Figures
 * @property {number} median Wall-clock time of the median round.
 * @property {number} best Wall-clock time of the best round.
 * @property {number} [onCore] CPU time of this thread in the best round; absent if the system does not provide it.
 */

/** Times both contenders and returns the operations per second of each as {@link Figures}. */
export async function compare({ ours, bare }, { rounds, warmups }) {
  const samples = { ours: [], bare: [] };
  for (let round = -warmups; round < rounds; round++) {
    const sample = { ours: await rateOf(ours), bare: await rateOf(bare) };
    if (round < 0) continue;
    samples.ours.push(sample.ours);
    samples.bare.push(sample.bare);
  }
  return { ours: summary(samples.ours), bare: summary(samples.bare) };
}

async function rateOf(contender) {
  const state = await contender.prepare();
  if (contender.keepsGarbage !== true) globalThis.gc?.();
  const coreStart = coreNanoseconds();
  const start = process.hrtime.bigint();
  const running = contender.run(state);
  const result = running instanceof Promise ? await running : running;
  const wall = Number(process.hrtime.bigint() - start);
  const core = coreNanoseconds() - coreStart;
  await contender.check(state, result);
  const { count } = contender;
  return { wall: (count * 1e9) / wall, core: (count * 1e9) / core };
}

function summary(rates) {
  const wall = rates.map((rate) => rate.wall);
  const core = rates.map((rate) => rate.core).filter((rate) => Number.isFinite(rate));
  return { median: median(wall), best: Math.max(...wall), ...(core.length === 0 ? {} : { onCore: Math.max(...core) }) };
}

const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * The CPU time of the main thread; NaN if the system does not provide it. It excludes the time of other processes on the
 * same cores, so it is steadier than wall-clock time.
 */
function coreNanoseconds() {
  // The system updates the figure when the thread leaves its core.
  Atomics.wait(pause, 0, 0, 0.1);
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]);
  } catch {
    // Only Linux provides the figure.
    return Number.NaN;
  }
}

export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Fails the whole benchmark because a run has a wrong result. */
export function verify(condition, what) {
  if (!condition) throw new Error(`the benchmark measured something else: ${what}`);
}
