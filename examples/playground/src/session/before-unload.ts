/**
 * The cluster lives in the page and goes with it. Whoever has made something of it is asked before that happens.
 */
import type { Session } from './session.js';

export function warnBeforeLoss(session: Session): void {
  addEventListener('beforeunload', (event) => {
    if (session.isUnsaved) event.preventDefault();
  });
}
