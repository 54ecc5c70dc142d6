/**
 * Asks for confirmation before the page is closed, because the cluster exists only in the page. It does not ask if
 * there is nothing to lose.
 */
import type { Session } from './session.js';

export function warnBeforeLoss(session: Session): void {
  addEventListener('beforeunload', (event) => {
    if (session.isUnsaved) event.preventDefault();
  });
}
