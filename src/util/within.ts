/** Limits how long a promise is awaited. */
import { systemClock } from './clock.js';

/** The value of a promise; undefined if it takes longer in real time. */
export function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve, reject) => {
    const cancel = systemClock.after(Math.max(0, ms), () => resolve(undefined));
    promise.finally(cancel).then(resolve, reject);
  });
}
