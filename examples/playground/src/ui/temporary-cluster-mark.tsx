/**
 * A mark that is visible while the page shows a fork or a scenario, with a button that returns to the user's own
 * cluster.
 */
import { progressOf } from '../scenarios/progress.js';
import { type Session, useSession } from '../session/session.js';
import { useStore } from '../session/store.js';

export function TemporaryClusterMark({ session }: { readonly session: Session }) {
  const temporary = useSession(session, (state) => state.temporary);
  const progress = progressOf(session);
  const isBusy = useStore(progress.store, (state) => state.isBusy);
  if (temporary === undefined) return null;
  const isFork = temporary.type === 'fork';
  return (
    <div class="temporary-cluster-mark" role="status">
      <span title={temporary.title}>{isFork ? `Fork ${temporary.title}` : `Scenario: ${temporary.title}`}</span>
      <button
        type="button"
        class="small"
        disabled={isBusy}
        title="Returns to your cluster and discards the changes made here"
        onClick={() => void (isFork ? session.returnToKeptCluster() : progress.goBack())}
      >
        {isFork ? 'Leave the fork' : 'Back to my cluster'}
      </button>
    </div>
  );
}
