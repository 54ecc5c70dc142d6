/**
 * One page at a time, where the browser has locks. They end with the page.
 */
import { JournalError } from '../storage/journal/types.js';

export type Unlock = () => void;

/** Rejects with JournalError when another page, or another cluster of this one, has the name. */
export function lockName(name: string): Promise<Unlock> {
  const locks = typeof navigator === 'undefined' ? undefined : navigator.locks;
  if (locks === undefined) return Promise.resolve(() => undefined);
  return new Promise((resolve, reject) => {
    const held = locks.request(name, { ifAvailable: true }, (lock) => {
      if (lock === null)
        throw new JournalError(`orchplane: the journal "${name}" is in use by another page or cluster`);
      return new Promise<void>((release) => resolve(release));
    });
    held.catch(reject);
  });
}
