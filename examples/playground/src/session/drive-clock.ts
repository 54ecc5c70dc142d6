/**
 * Advances a cluster's clock with real time: at the same speed, faster, or not at all.
 */
import type { TestCluster } from 'orchplane/testing';

const TICK_MS = 50;
/** Browsers throttle timers of background pages; this limit prevents the cluster's clock from jumping by hours. */
const MAX_STEP_MS = 1_000;

/**
 * Returns a function that stops it. `speedNow` is called before each step, `afterStep` after each, when the cluster is
 * settled.
 */
export function driveClock(cluster: TestCluster, speedNow: () => number, afterStep: () => void): () => void {
  let isOn = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = performance.now();
  const step = async (): Promise<void> => {
    const now = performance.now();
    const elapsed = Math.min(now - last, MAX_STEP_MS);
    last = now;
    // While the clock is stopped this advances by zero, which still runs the work that is due.
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
