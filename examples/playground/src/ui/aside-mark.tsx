/**
 * A mark that is visible while the page shows a fork or a scenario, with a button that returns to the user's own
 * cluster.
 */
import { progressOf } from '../scenarios/progress.js';
import { type Session, useSession } from '../session/session.js';
import { useStore } from '../session/store.js';

export function AsideMark({ session }: { readonly session: Session }) {
  const aside = useSession(session, (state) => state.aside);
  const progress = progressOf(session);
  const isBusy = useStore(progress.store, (state) => state.isBusy);
  if (aside === undefined) return null;
  const isFork = aside.type === 'fork';
  return (
    <div class="aside-mark" role="status">
      <span title={aside.title}>{isFork ? `Fork ${aside.title}` : `Scenario: ${aside.title}`}</span>
      <button
        type="button"
        class="small"
        disabled={isBusy}
        title="Returns to your cluster and discards the changes made here"
        onClick={() => void (isFork ? session.comeBack() : progress.goBack())}
      >
        {isFork ? 'Leave the fork' : 'Back to my cluster'}
      </button>
    </div>
  );
}
