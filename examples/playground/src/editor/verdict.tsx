/**
 * The strip below the editor: what the server would do with the text, or the errors in it.
 */
import { refKey } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import { changedFields } from '../yaml/diff.js';
import { shortText } from '../yaml/paths.js';
import type { Findings, Rehearsal } from './check.js';

interface VerdictProps {
  readonly session: Session;
  readonly findings: Findings;
  readonly text: string;
  readonly goTo: (at: number) => void;
}

export function Verdict({ session, findings, text, goTo }: VerdictProps) {
  const { diagnostics, rehearsals } = findings;
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
    <div class={`findings ${rehearsals.some(({ outcome }) => outcome === 'conflict') ? 'warn' : 'good'}`} role="status">
      <span class="dot" />
      <ul>
        {rehearsals.slice(0, 5).map((rehearsal) => (
          <li key={`${rehearsal.document.from}`}>
            <Planned session={session} rehearsal={rehearsal} />
          </li>
        ))}
        {rehearsals.length > 5 && <li class="muted">{`and ${rehearsals.length - 5} more`}</li>}
      </ul>
    </div>
  );
}

function Planned({
  session,
  rehearsal: { document, outcome, object, status },
}: {
  readonly session: Session;
  readonly rehearsal: Rehearsal;
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
  const place = served?.namespaced === true ? { namespace: namespace ?? session.state.namespace } : {};
  const live = session.state.objects.get(refKey({ apiVersion, kind, name, ...place }));
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
