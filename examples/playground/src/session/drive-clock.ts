/**
 * Moves the clock of a cluster with the machine's: as fast, faster, or not at all.
 */
import type { TestCluster } from 'orchplane/testing';

const TICK_MS = 50;
/** A page in the background is called rarely; it does not make up for hours at once. */
const LONGEST_STEP_MS = 1_000;

/** Returns what stops it. `speedNow` is asked at each step, `afterStep` called when everything is at rest again. */
export function driveClock(cluster: TestCluster, speedNow: () => number, afterStep: () => void): () => void {
  let isOn = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = performance.now();
  const step = async (): Promise<void> => {
    const now = performance.now();
    const elapsed = Math.min(now - last, LONGEST_STEP_MS);
    last = now;
    // By nothing while time stands still: what is due at this moment is done nevertheless.
    await cluster.clock.advance(Math.round(elapsed * speedNow()));
    if (!isOn) return;
    afterStep();
    timer = setTimeout(() => void step(), TICK_MS);
  };
  timer = setTimeout(() => void step(), 0);
  return () => {
    isOn = false;
    clearTimeout(timer);
  };
}
