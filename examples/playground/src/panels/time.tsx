/**
 * The time panel: a slider through the revisions of the cluster. The tree and the object view show the selected
 * revision.
 */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { refKey, refText } from '../session/refs.js';
import { type Session, useSession } from '../session/session.js';
import type { ObjectRef } from '../session/types.js';
import {
  type Change,
  changesOf,
  forkAt,
  leaveFork,
  originOf,
  pastAt,
  type RevisionSpan,
  restoreTo,
  spanOf,
  timeAt,
} from '../time/past.js';
import { changedFields, diffLines, withoutServerFields } from '../yaml/diff.js';
import type { Panel, PanelProps } from './panel.js';

function TimePanel({ session }: PanelProps) {
  const cluster = useSession(session, (state) => state.cluster);
  // Render again whenever an object changes.
  useSession(session, (state) => state.objects);
  const past = useSession(session, (state) => state.past);
  const selected = useSession(session, (state) => state.selected);
  // Computed at each render: writes make the span longer, a restore makes it shorter.
  const span = spanOf(cluster);
  const version = past === undefined ? span.last : Math.min(Number(past.resourceVersion), span.last);

  // Closing the panel returns to the present.
  useEffect(() => () => session.showPast(undefined), [session]);

  const go = (to: number): void => {
    const within = Math.min(Math.max(to, span.first), span.last);
    session.showPast(within >= span.last ? undefined : pastAt(cluster, within));
  };

  return (
    <div class="time">
      <Slider span={span} version={version} go={go} time={timeAt(cluster, version)} />
      <Actions session={session} version={version} isPast={past !== undefined} go={() => go(span.last)} />
      <p class="time-hint muted">
        <b>Restore</b> undoes all later changes in this cluster. <b>Fork</b> starts a second cluster from this version
        and keeps this one unchanged.
        {past === undefined && ' Move the slider, or select a version below, to view the past.'}
      </p>
      {selected === undefined ? (
        <p class="empty">Select an object to see its history.</p>
      ) : (
        <ObjectInTime key={refKey(selected)} session={session} selected={selected} version={version} go={go} />
      )}
    </div>
  );
}

interface SliderProps {
  readonly span: RevisionSpan;
  readonly version: number;
  readonly time: number;
  readonly go: (version: number) => void;
}

function Slider({ span, version, time, go }: SliderProps) {
  const at = new Date(time).toISOString();
  return (
    <div class="time-slider">
      <button
        type="button"
        class="icon"
        aria-label="Previous version"
        disabled={version <= span.first}
        onClick={() => go(version - 1)}
      >
        ‹
      </button>
      <input
        type="range"
        id="time-slider"
        aria-label="resourceVersion"
        aria-valuetext={`version ${version}, ${at.slice(11, 19)}`}
        min={span.first}
        max={span.last}
        value={version}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="icon"
        aria-label="Next version"
        disabled={version >= span.last}
        onClick={() => go(version + 1)}
      >
        ›
      </button>
      <output for="time-slider">
        <b>{version}</b> <span class="muted">{`of ${span.last} · ${at.slice(11, 19)}`}</span>
      </output>
    </div>
  );
}

interface ActionsProps {
  readonly session: Session;
  readonly version: number;
  readonly isPast: boolean;
  readonly go: () => void;
}

function Actions({ session, version, isPast, go }: ActionsProps) {
  const origin = originOf(session);
  return (
    <div class="tools">
      <button type="button" class="small" disabled={!isPast} onClick={go}>
        Back to the present
      </button>
      <button
        type="button"
        class="small"
        id="time-restore"
        disabled={!isPast}
        title="Undoes all later changes"
        onClick={() => {
          restoreTo(session, version);
          session.notify('good', `The cluster is restored to version ${version}`);
        }}
      >
        Restore to here
      </button>
      <button
        type="button"
        class="small"
        id="time-fork"
        disabled={!isPast}
        title="Starts another cluster from this version; this one is kept"
        onClick={() => {
          forkAt(session, version);
          session.notify('good', `This is a fork of version ${version}`);
        }}
      >
        Fork here
      </button>
      {origin !== undefined && (
        <button type="button" class="small" id="time-leave" onClick={() => void leaveFork(session)}>
          Leave the fork
        </button>
      )}
      <span class="spacer" />
      {isPast && <span class="chip off">you see the past</span>}
    </div>
  );
}

interface ObjectProps {
  readonly session: Session;
  readonly selected: ObjectRef;
  readonly version: number;
  readonly go: (version: number) => void;
}

function ObjectInTime({ session, selected, version, go }: ObjectProps) {
  const cluster = useSession(session, (state) => state.cluster);
  const objects = useSession(session, (state) => state.objects);
  const past = useSession(session, (state) => state.past);
  const [compares, setCompares] = useState<'before' | 'present'>('before');
  const present = objects.get(refKey(selected));
  const changes = useMemo(() => knownChanges(session, selected), [cluster, present, session, selected]);
  const current = changes.findLast((change) => change.version <= version);
  const shown = past === undefined ? present : past.objects.get(refKey(selected));
  const [before, after] = compares === 'present' ? [shown, present] : [current?.previous, current?.object];
  return (
    <div class="time-object">
      <ol class="rows time-changes" aria-label={`Changes of ${refText(selected)}`}>
        {changes.map((change) => (
          <li key={change.version} class={`row ${change.type.toLowerCase()}`}>
            <button type="button" aria-current={change === current} onClick={() => go(change.version)}>
              <span class="version">{change.version}</span>
              <b class="type">{change.type}</b>
              <span class="what">{change.manager ?? ''}</span>
              <span class="summary">{summaryOf(change)}</span>
            </button>
          </li>
        ))}
      </ol>
      <div class="time-diff">
        <div class="tools">
          <b>{refText(selected)}</b>
          <span class="spacer" />
          <button
            type="button"
            class="small"
            aria-pressed={compares === 'before'}
            onClick={() => setCompares('before')}
          >
            What changed here
          </button>
          <button
            type="button"
            class="small"
            aria-pressed={compares === 'present'}
            onClick={() => setCompares('present')}
          >
            Compare with the present
          </button>
        </div>
        <Difference before={before} after={after} />
      </div>
    </div>
  );
}

function Difference({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = diffLines(withoutServerFields(before ?? {}), withoutServerFields(after ?? {}));
  if (!lines.some((line) => line !== 'gap' && line.sign !== ' ')) return <p class="empty">No difference.</p>;
  return (
    <pre class="diff">
      {lines.map((line, index) =>
        line === 'gap' ? (
          <div class="gap" key={String(index)}>
            ⋯
          </div>
        ) : (
          <div class={line.sign === '+' ? 'plus' : line.sign === '-' ? 'minus' : ''} key={String(index)}>
            {`${line.sign} ${line.text}`}
          </div>
        ),
      )}
    </pre>
  );
}

/** The changes of an object; empty if its kind is no longer served. */
function knownChanges(session: Session, ref: ObjectRef): readonly Change[] {
  return session.kindOf(ref.apiVersion, ref.kind) === undefined ? [] : changesOf(session.cluster, ref);
}

function summaryOf({ type, object, previous }: Change): string {
  if (type !== 'MODIFIED') return '';
  const fields = changedFields(previous, object).map(({ path }) => path);
  return fields.length > 4 ? `${fields.slice(0, 4).join(', ')}, …` : fields.join(', ');
}

export const timePanel: Panel = { id: 'time', title: 'Time', Panel: TimePanel };
