/**
 * Timing: a contender and a bare loop take turns, round by round, so that whatever else the machine does falls on both.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';

/**
 * One side of a comparison.
 *
 * @template State
 * @typedef {object} Contender
 * @property {number} count How many operations one run carries out.
 * @property {() => State | Promise<State>} prepare Makes what the run works on; not timed.
 * @property {(state: State) => unknown} run The timed part; may return a promise.
 * @property {boolean} [keepsGarbage] Memory is not cleared beforehand: that makes engines forget what they compiled.
 * @property {(state: State, result: unknown) => void | Promise<void>} check Throws when the run did not do its work; not timed.
 */

/**
 * @typedef {object} Figures
 * @property {number} median In the middle round, by the clock on the wall.
 * @property {number} best In the best round, by the clock on the wall.
 * @property {number} [onCore] In the best round, by the time this thread had a core; absent where the system does not tell.
 */

/** Times both contenders and gives the operations per second of each, as {@link Figures}. */
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
 * How long the main thread has been running on a core; NaN where the system does not tell. With neighbours on the same
 * cores this is the steadier clock: the time in which others ran is not in it.
 */
function coreNanoseconds() {
  // The system brings the figure up to date when the thread leaves its core.
  Atomics.wait(pause, 0, 0, 0.1);
  try {
    return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]);
  } catch {
    // Not Linux: the wall clock is all there is.
    return Number.NaN;
  }
}

export function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Fails the whole benchmark: what was measured was not what was meant. */
export function verify(condition, what) {
  if (!condition) throw new Error(`the benchmark measured something else: ${what}`);
}
