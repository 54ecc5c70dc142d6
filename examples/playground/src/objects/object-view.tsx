/**
 * Shows one object: its health, the owners of its fields, and its YAML coloured by owner.
 */

import type { ApiObject } from 'orchplane';
import { useState } from 'preact/hooks';
import { deleteObject, PAST_IS_READ_ONLY } from '../editor/write.js';
import { refKey } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import { Switch } from '../ui/switch.js';
import { withoutServerFields } from '../yaml/diff.js';
import { toYaml } from '../yaml/lines.js';
import { isMap, valueAt } from '../yaml/paths.js';
import { ageText } from './age.js';
import { healthOf } from './health.js';
import { OwnedYaml } from './owned-yaml.js';

interface ObjectViewProps {
  readonly session: Session;
  readonly openPanel: (id: string) => void;
}

export function ObjectView({ session, openPanel }: ObjectViewProps) {
  const selected = useSession(session, (state) => state.selected);
  const object = useSession(session, (state) =>
    state.selected === undefined ? undefined : (state.past?.objects ?? state.objects).get(refKey(state.selected)),
  );
  if (selected === undefined) {
    return (
      <section class="pane object" aria-label="Object">
        <p class="empty">Select an object to see its health and the owners of its fields.</p>
      </section>
    );
  }
  if (object === undefined) {
    return (
      <section class="pane object" aria-label="Object">
        <p class="empty">{`${selected.kind} ${selected.name} does not exist.`}</p>
      </section>
    );
  }
  return <Known session={session} object={object} openPanel={openPanel} />;
}

function Known({ session, object, openPanel }: ObjectViewProps & { readonly object: ApiObject }) {
  const { kind, apiVersion, metadata } = object;
  const { name, namespace } = metadata;
  const selected = useSession(session, (state) => state.selected);
  const past = useSession(session, (state) => state.past);
  const now = session.cluster.clock.now();
  const [showsAll, setShowsAll] = useState(false);
  return (
    <section class="pane object" aria-label="Object">
      <div class="object-head">
        <div>
          <p class="eyebrow">{`${kind} · ${apiVersion}`}</p>
          <h2 class="object-name">{name}</h2>
          <p class="muted facts">
            {namespace !== undefined && <span>{namespace}</span>}
            <span>{`${ageText(now, metadata.creationTimestamp)} old`}</span>
            <span>{`version ${metadata.resourceVersion}`}</span>
            {metadata.generation !== undefined && <span>{`generation ${metadata.generation}`}</span>}
          </p>
        </div>
        <div class="buttons">
          {kind === 'Pod' && (
            <button type="button" title="Opens its log and a terminal" onClick={() => openPanel('pod')}>
              Logs
            </button>
          )}
          <button
            type="button"
            onClick={() => session.setText(editable(object))}
            title="Open it in the editor, without the fields that the server sets"
          >
            Edit
          </button>
          <button
            type="button"
            class="bad"
            disabled={past !== undefined}
            title={past === undefined ? undefined : PAST_IS_READ_ONLY}
            onClick={() => selected !== undefined && void deleteObject(session, selected)}
          >
            Delete
          </button>
        </div>
      </div>
      <HealthBar object={object} />
      <Conditions object={object} />
      <OwnedYaml session={session} object={object} showsAll={showsAll} />
      <Switch
        label="Show server-managed fields: managedFields, resourceVersion, uid"
        isOn={showsAll}
        set={setShowsAll}
        class="foot"
      />
    </section>
  );
}

function HealthBar({ object }: { readonly object: ApiObject }) {
  const health = healthOf(object);
  if (health === undefined) return null;
  const { tone, text, progress } = health;
  const cells = progress === undefined ? 0 : Math.min(progress.of, 24);
  return (
    <div class={`health ${tone}`} role="status">
      <span class={`dot ${tone}`} />
      <b>{text}</b>
      {progress !== undefined && (
        <span class="cells" aria-hidden="true">
          {Array.from({ length: cells }, (_, index) => (
            <i
              key={String(index)}
              class={index < Math.round((progress.done / Math.max(1, progress.of)) * cells) ? 'on' : ''}
            />
          ))}
        </span>
      )}
    </div>
  );
}

function Conditions({ object }: { readonly object: ApiObject }) {
  const conditions = valueAt(object, 'status.conditions');
  if (!Array.isArray(conditions) || conditions.length === 0) return null;
  return (
    <ul class="conditions">
      {conditions.filter(isMap).map(({ type, status, reason, message }) => (
        <li
          key={String(type)}
          class={`chip ${status === 'True' ? 'on' : 'off'}`}
          title={[reason, message].filter(Boolean).join(': ')}
        >
          {`${type}${status === 'True' ? '' : `: ${status}`}`}
        </li>
      ))}
    </ul>
  );
}

/** The object as a user would write it: without status and without metadata that the server sets. */
function editable(object: ApiObject): string {
  const { status: _, ...rest } = withoutServerFields(object) as ApiObject & { readonly status?: unknown };
  const { name, namespace, labels, annotations } = rest.metadata;
  const metadata = { name, namespace, labels, annotations };
  return toYaml({ ...rest, metadata });
}
