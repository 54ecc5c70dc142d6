/**
 * The strip below the editor: what the server would do with the text, or the errors in it.
 */
import { refKey } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import { changedFields } from '../yaml/diff.js';
import { shortText } from '../yaml/paths.js';
import type { CheckResult, DryRunResult } from './check.js';

interface CheckSummaryProps {
  readonly session: Session;
  readonly findings: CheckResult;
  readonly text: string;
  readonly goTo: (at: number) => void;
}

export function CheckSummary({ session, findings, text, goTo }: CheckSummaryProps) {
  const { diagnostics, dryRuns } = findings;
  const past = useSession(session, (state) => state.past);
  const problems = diagnostics.filter(({ severity }) => severity === 'error');
  if (past !== undefined) {
    return (
      <div class="findings warn" role="status">
        <span class="dot" />
        <p>
          {`You are viewing version ${past.resourceVersion}. `}
          Validation and writes are disabled until you go back to the present, or fork.
        </p>
        <button type="button" class="small" onClick={() => session.showPast(undefined)}>
          Back to the present
        </button>
      </div>
    );
  }
  if (text.trim() === '')
    return <div class="findings quiet">Errors, and what an apply would change, appear here as you type.</div>;
  if (problems.length > 0) {
    return (
      <div class="findings bad" role="status">
        <span class="dot" />
        <ul>
          {problems.slice(0, 4).map(({ from, message }) => (
            <li key={`${from}${message}`}>
              <button type="button" class="link" onClick={() => goTo(from)}>
                <b>{`line ${text.slice(0, from).split('\n').length}`}</b> {message}
              </button>
            </li>
          ))}
          {problems.length > 4 && <li class="muted">{`and ${problems.length - 4} more`}</li>}
        </ul>
      </div>
    );
  }
  return (
    <div class={`findings ${dryRuns.some(({ outcome }) => outcome === 'conflict') ? 'warn' : 'good'}`} role="status">
      <span class="dot" />
      <ul>
        {dryRuns.slice(0, 5).map((dryRun) => (
          <li key={`${dryRun.document.from}`}>
            <PlannedWrite session={session} dryRun={dryRun} />
          </li>
        ))}
        {dryRuns.length > 5 && <li class="muted">{`and ${dryRuns.length - 5} more`}</li>}
      </ul>
    </div>
  );
}

function PlannedWrite({
  session,
  dryRun: { document, outcome, object, status },
}: {
  readonly session: Session;
  readonly dryRun: DryRunResult;
}) {
  const { apiVersion = '', kind = '', name = '', namespace } = document;
  const title = <b>{`${kind} ${name}`}</b>;
  if (outcome === 'conflict') {
    const count = status?.details?.causes?.length ?? 0;
    return (
      <>
        {title} {`would conflict: another manager owns ${count === 1 ? 'a field' : `${count} fields`}`}
      </>
    );
  }
  const served = session.kindOf(apiVersion, kind);
  const scope = served?.namespaced === true ? { namespace: namespace ?? session.state.namespace } : {};
  const live = session.state.objects.get(refKey({ apiVersion, kind, name, ...scope }));
  if (live === undefined) return <>{title} would be created</>;
  const changes = changedFields(live, object).filter(({ path }) => !path.startsWith('.status'));
  if (changes.length === 0) return <>{title} is like this already</>;
  const [first] = changes;
  return (
    <>
      {title} would change{' '}
      {first !== undefined && <code>{`${first.path} ${shortText(first.before)} → ${shortText(first.after)}`}</code>}
      {changes.length > 1 && <span class="muted">{` and ${changes.length - 1} more`}</span>}
    </>
  );
}
