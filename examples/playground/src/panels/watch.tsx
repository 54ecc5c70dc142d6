/**
 * The watch panel: the events of all watches of the page. A click on an event shows what it changed.
 */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { refKey, refText } from '../session/refs.js';
import { useSession } from '../session/session.js';
import type { StreamEntry } from '../session/types.js';
import { Switch } from '../ui/switch.js';
import { changedFields, diffLines, withoutServerFields } from '../yaml/diff.js';
import { shortText } from '../yaml/paths.js';
import type { Panel, PanelProps } from './panel.js';

/** Kinds that are hidden by default. */
const FREQUENT_KINDS = new Set(['Event', 'Lease', 'EndpointSlice', 'Endpoints']);

function WatchPanel({ session }: PanelProps) {
  const stream = useSession(session, (state) => state.stream);
  const selected = useSession(session, (state) => state.selected);
  const [showsNoise, setShowsNoise] = useState(false);
  const [onlySelected, setOnlySelected] = useState(false);
  const [open, setOpen] = useState<number>();
  const list = useRef<HTMLOListElement>(null);
  const isAtEnd = useRef(true);
  const shown = useMemo(() => {
    const key = selected === undefined ? undefined : refKey(selected);
    return stream
      .filter(({ ref }) => (onlySelected ? refKey(ref) === key : showsNoise || !FREQUENT_KINDS.has(ref.kind)))
      .slice(-300);
  }, [stream, selected, showsNoise, onlySelected]);

  // Follow the newest event, unless the user has scrolled back.
  useEffect(() => {
    if (isAtEnd.current) list.current?.scrollTo({ top: list.current.scrollHeight });
  }, [shown]);

  return (
    <div class="stream">
      <div class="tools">
        <Switch label="Events and endpoints" isOn={showsNoise} set={setShowsNoise} />
        <Switch label="Only the selected object" isOn={onlySelected} set={setOnlySelected} />
        <span class="spacer" />
        <button type="button" class="small" onClick={() => session.clearStream()}>
          Clear
        </button>
      </div>
      <ol
        class="rows"
        ref={list}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight > scrollHeight - 24;
        }}
      >
        {shown.map((entry) => (
          <Row
            key={entry.id}
            entry={entry}
            isOpen={open === entry.id}
            toggle={() => {
              setOpen(open === entry.id ? undefined : entry.id);
              if (entry.type !== 'DELETED') session.select(entry.ref);
            }}
          />
        ))}
        {shown.length === 0 && <li class="empty">No events yet. Apply an object to see its events here.</li>}
      </ol>
    </div>
  );
}

interface RowProps {
  readonly entry: StreamEntry;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function Row({ entry, isOpen, toggle }: RowProps) {
  const { type, at, ref, object, previous } = entry;
  return (
    <li class={`row ${type.toLowerCase()}`}>
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <time>{new Date(at).toISOString().slice(11, 23)}</time>
        <b class="type">{type}</b>
        <span class="what">{refText(ref)}</span>
        <span class="version">{object.metadata.resourceVersion}</span>
        <span class="summary">{summary(entry)}</span>
      </button>
      {isOpen && <DiffView before={previous} after={type === 'DELETED' ? undefined : object} />}
    </li>
  );
}

function summary({ type, object, previous }: StreamEntry): string {
  if (type !== 'MODIFIED' || previous === undefined) return '';
  const [first, ...more] = changedFields(previous, object);
  if (first === undefined) return 'owners';
  const text = `${first.path} ${shortText(first.before)} → ${shortText(first.after)}`;
  return more.length === 0 ? text : `${text}, and ${more.length} more`;
}

export function DiffView({ before, after }: { readonly before: unknown; readonly after: unknown }) {
  const lines = useMemo(() => diffLines(withoutServerFields(before), withoutServerFields(after)), [before, after]);
  return (
    <pre class="diff">
      {lines.map((line, index) =>
        line === 'gap' ? (
          <div key={String(index)} class="gap">
            ⋯
          </div>
        ) : (
          <div key={String(index)} class={line.sign === '+' ? 'plus' : line.sign === '-' ? 'minus' : ''}>
            {`${line.sign} ${line.text}`}
          </div>
        ),
      )}
    </pre>
  );
}

export const watchPanel: Panel = { id: 'watch', title: 'Watch', Panel: WatchPanel };
