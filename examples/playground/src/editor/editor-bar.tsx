/**
 * The bar above the editor: the namespace, the force switch, and the actions.
 */

import { type Session, useSession } from '../session/session.js';
import { Menu } from '../ui/menu.js';
import { Switch } from '../ui/switch.js';
import { type Action, PAST_IS_READ_ONLY } from './write.js';

interface BarProps {
  readonly session: Session;
  readonly run: (action: Action) => void;
}

export function EditorBar({ session, run }: BarProps) {
  const namespace = useSession(session, (state) => state.namespace);
  const objects = useSession(session, (state) => state.objects);
  const force = useSession(session, (state) => state.force);
  const isPast = useSession(session, (state) => state.past !== undefined);
  const names = [...objects.values()]
    .filter(({ kind, apiVersion }) => kind === 'Namespace' && apiVersion === 'v1')
    .map(({ metadata }) => metadata.name);
  const known = names.includes(namespace) ? names : [namespace, ...names];
  return (
    <div class="bar">
      <h2>Manifest</h2>
      <label class="field labelled" title="The namespace of documents that do not name one">
        <span>Namespace</span>
        <select value={namespace} onChange={(event) => session.store.set({ namespace: event.currentTarget.value })}>
          {known.sort().map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <span class="spacer" />
      <Switch
        label="Force"
        isOn={force}
        set={(isOn) => session.store.set({ force: isOn })}
        title="Take over fields that other managers own"
      />
      <div class="split">
        <button
          type="button"
          class="primary"
          disabled={isPast}
          onClick={() => run('apply')}
          title={isPast ? PAST_IS_READ_ONLY : 'Server-side apply (Ctrl or ⌘ and Enter)'}
        >
          Apply
        </button>
        <Menu
          label="More actions"
          isDisabled={isPast}
          items={[
            { label: 'Create', hint: 'POST: the object must not exist', run: () => run('create') },
            { label: 'Replace', hint: 'PUT: the whole object', run: () => run('replace') },
            { label: 'Delete', hint: 'DELETE: every object in the text', run: () => run('delete'), tone: 'bad' },
          ]}
        />
      </div>
    </div>
  );
}
