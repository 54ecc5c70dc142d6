/**
 * Explains an apply conflict: the owner of each field, its current and new value, and three buttons that resolve the
 * conflict: take over the fields, remove them from the text, or write the current values into the text.
 */
import type { EditorView } from '@codemirror/view';
import { refText } from '../session/refs.js';
import type { Session } from '../session/session.js';
import type { Conflict } from '../session/types.js';
import { ManagerChip } from '../ui/manager-chip.js';
import { shortText, valueAt } from '../yaml/paths.js';
import { documentsOf } from './documents.js';
import { findPath } from './outline.js';
import type { Action } from './write.js';

interface CardProps {
  readonly session: Session;
  readonly conflict: Conflict;
  readonly view: EditorView | undefined;
  readonly run: (action: Action, options?: { readonly force?: boolean }) => void;
}

interface Row {
  readonly field: string;
  readonly owners: readonly string[];
  readonly now: unknown;
  readonly wanted: string;
}

export function ConflictCard({ session, conflict, view, run }: CardProps) {
  const rows = rowsOf(session, conflict, view);
  const owners = [...new Set(rows.flatMap((row) => row.owners))];
  const others = owners.map((owner) => `“${owner}”`).join(' and ');
  const change = (how: 'leave' | 'adopt'): void => {
    if (view === undefined) return;
    edit(view, conflict, rows, how);
    run('apply', { force: false });
  };
  return (
    <section class="conflict" aria-label="Conflict" role="alert">
      <header>
        <h3>{`Another manager owns ${rows.length === 1 ? 'a field' : 'fields'}`}</h3>
        <button
          type="button"
          class="icon"
          aria-label="Close"
          onClick={() => session.store.set({ conflict: undefined })}
        >
          ×
        </button>
      </header>
      <p>
        <ManagerChip name={conflict.manager} />{' '}
        {`tried to change ${rows.length === 1 ? 'a field' : 'fields'} of ${refText(conflict.ref)}. `}
        The server rejected the request, and nothing has changed.
      </p>
      <table>
        <thead>
          <tr>
            <th>Field</th>
            <th>Now</th>
            <th>You want</th>
            <th>Owner</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ field, now, wanted, owners: names }) => (
            <tr key={field}>
              <td>
                <code>{field}</code>
              </td>
              <td>
                <code>{shortText(now)}</code>
              </td>
              <td>
                <code>{wanted}</code>
              </td>
              <td>
                {names.map((name) => (
                  <ManagerChip key={name} name={name} />
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="ways">
        <button type="button" onClick={() => run('apply', { force: true })}>
          <b>Take over</b>
          <span>{`Force: apply your value and take the ownership from ${others}.`}</span>
        </button>
        <button type="button" onClick={() => change('leave')}>
          <b>Remove from manifest</b>
          <span>{`Remove the field from your manifest. It stays with ${others}.`}</span>
        </button>
        <button type="button" onClick={() => change('adopt')}>
          <b>Share</b>
          <span>Write the current value into your manifest. Both managers own the field.</span>
        </button>
      </div>
    </section>
  );
}

function rowsOf(session: Session, conflict: Conflict, view: EditorView | undefined): readonly Row[] {
  const object = session.objectOf(conflict.ref);
  const root = view === undefined ? undefined : rootOf(view, conflict);
  const byField = new Map<string, string[]>();
  for (const { field = '', message = '' } of conflict.causes) {
    const owner = /conflict with "((?:[^"\\]|\\.)*)"/.exec(message)?.[1] ?? message;
    byField.set(field, [...(byField.get(field) ?? []), owner]);
  }
  return [...byField].map(([field, owners]) => {
    const { node, isComplete } = root === undefined ? { node: undefined, isComplete: false } : findPath(root, field);
    const wanted =
      !isComplete || node === undefined ? '' : (view?.state.sliceDoc(node.from, node.to).replaceAll(/\s+/g, ' ') ?? '');
    return {
      field,
      owners,
      now: valueAt(object, field),
      wanted: wanted.length > 60 ? `${wanted.slice(0, 57)}…` : wanted,
    };
  });
}

function rootOf(view: EditorView, { ref }: Conflict) {
  return documentsOf(view.state).find(({ kind, name }) => kind === ref.kind && name === ref.name)?.root;
}

/** Edits one field after the other, because each edit moves the rest of the text. */
function edit(view: EditorView, conflict: Conflict, rows: readonly Row[], how: 'leave' | 'adopt'): void {
  for (const { field, now } of rows) {
    const root = rootOf(view, conflict);
    const found = root === undefined ? undefined : findPath(root, field);
    if (found === undefined || !found.isComplete) continue;
    const { entry, node } = found;
    if (how === 'adopt' && node !== undefined) {
      view.dispatch({ changes: { from: node.from, to: node.to, insert: JSON.stringify(now) } });
    } else if (entry !== undefined) {
      const first = view.state.doc.lineAt(entry.at.from);
      const last = view.state.doc.lineAt(entry.at.to);
      const lead = view.state.sliceDoc(first.from, entry.at.from);
      // When the first key after a dash is removed, the item's next line moves up to the dash.
      const isFirst = lead.includes('-');
      const from = isFirst ? entry.at.from : first.from;
      const next = Math.min(last.to + 1 + (isFirst ? lead.length : 0), view.state.doc.length);
      view.dispatch({ changes: { from, to: next } });
    }
  }
}
