/**
 * The YAML of an object with a coloured bar at each line that has an owner. Pointing at a line shows its owners;
 * pointing at a manager highlights the manager's lines.
 */
import type { ApiObject, FieldOwner, Ownership } from 'orchplane';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { refOf } from '../session/refs.js';
import type { Session } from '../session/session.js';
import { managerColour } from '../ui/manager-chip.js';
import { withoutServerFields } from '../yaml/diff.js';
import { type YamlLine, yamlLines } from '../yaml/lines.js';
import { ageText } from './age.js';

interface Props {
  readonly session: Session;
  readonly object: ApiObject;
  readonly showsAll: boolean;
}

/** Longer objects are cut, to keep the page fast. */
const MAX_LINES = 1_500;

export function OwnedYaml({ session, object, showsAll }: Props) {
  const ownership = useOwnership(session, object);
  const [pointed, setPointed] = useState<string>();
  const lines = useMemo(() => yamlLines(showsAll ? object : withoutServerFields(object)), [object, showsAll]);
  const owners = useMemo(() => lines.map((line) => ownersOf(ownership, line)), [lines, ownership]);
  const managers = [...new Map((ownership?.managers ?? []).map((owner) => [labelOf(owner), owner])).values()];
  return (
    <>
      {managers.length > 0 && (
        <ul class="legend" aria-label="Managers of this object">
          {managers.map((owner) => (
            <li key={labelOf(owner)}>
              <button
                type="button"
                class="chip manager"
                style={{ '--m': `var(--m${managerColour(owner.manager)})` }}
                aria-pressed={pointed === labelOf(owner)}
                title={ownerText(owner, session)}
                onMouseEnter={() => setPointed(labelOf(owner))}
                onMouseLeave={() => setPointed(undefined)}
                onFocus={() => setPointed(labelOf(owner))}
                onBlur={() => setPointed(undefined)}
              >
                {owner.manager}
                <small>
                  {owner.subresource === undefined ? owner.operation : `${owner.operation} of ${owner.subresource}`}
                </small>
              </button>
            </li>
          ))}
        </ul>
      )}
      <section
        class={`owned-yaml ${pointed === undefined ? '' : 'pointing'}`}
        aria-label="YAML with owners"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to do so without a mouse too
        tabIndex={0}
      >
        {lines.slice(0, MAX_LINES).map((line, index) => (
          <LineView
            key={`${line.path}#${index}`}
            line={line}
            owners={owners[index] ?? []}
            isPointed={pointed !== undefined && (owners[index] ?? []).some((owner) => labelOf(owner) === pointed)}
            session={session}
          />
        ))}
      </section>
    </>
  );
}

interface LineProps {
  readonly line: YamlLine;
  readonly owners: readonly FieldOwner[];
  readonly isPointed: boolean;
  readonly session: Session;
}

function LineView({ line, owners, isPointed, session }: LineProps) {
  const { indent, dashes, key, value, valueType } = line;
  const title = owners.length === 0 ? undefined : owners.map((owner) => ownerText(owner, session)).join('\n');
  return (
    <div
      class={`line ${isPointed ? 'pointed' : ''} ${owners.length > 0 ? 'owned' : ''}`}
      title={title}
      style={owners[0] === undefined ? undefined : { '--m': `var(--m${managerColour(owners[0].manager)})` }}
      data-path={line.path}
    >
      <span class="bars" aria-hidden="true">
        {owners.map((owner) => (
          <i key={labelOf(owner)} style={{ background: `var(--m${managerColour(owner.manager)})` }} />
        ))}
      </span>
      <span class="code">
        {' '.repeat(indent)}
        {dashes !== '' && <span class="dash">{dashes}</span>}
        {key !== undefined && <span class="key">{key}</span>}
        {key !== undefined && <span class="colon">:</span>}
        {value !== undefined && (
          <span class={`value ${valueType ?? ''}`}>{`${key === undefined ? '' : ' '}${value}`}</span>
        )}
      </span>
      {owners.length > 0 && (
        <span class="visually-hidden">{`, owned by ${owners.map(({ manager }) => manager).join(' and ')}`}</span>
      )}
    </div>
  );
}

/** The ownership of the fields, requested again whenever the object changes. */
function useOwnership(session: Session, object: ApiObject): Ownership | undefined {
  const [known, setKnown] = useState<{ readonly object: ApiObject; readonly ownership: Ownership | undefined }>();
  useEffect(() => {
    let isWanted = true;
    const ref = refOf(object);
    const served = session.kindOf(ref.apiVersion, ref.kind);
    const api =
      served === undefined
        ? undefined
        : (session.state.past?.cluster ?? session.cluster).api(
            served.kind,
            ...(ref.namespace === undefined ? [] : [ref.namespace]),
          );
    void api?.explain(ref.name).then(
      (ownership) => isWanted && setKnown({ object, ownership }),
      () => isWanted && setKnown({ object, ownership: undefined }), // the object is deleted or in the past: no owners to show
    );
    return () => {
      isWanted = false;
    };
  }, [session, object]);
  return known?.object.metadata.uid === object.metadata.uid ? known.ownership : undefined;
}

/** A map whose fields have separate owners has no owner of its own. */
function ownersOf(ownership: Ownership | undefined, { keyedPath, value }: YamlLine): readonly FieldOwner[] {
  if (ownership === undefined || value === undefined) return [];
  // An item without a key belongs to the owner of the list.
  return ownership.ownersOf(keyedPath.replace(/\[\d+\].*$/, ''));
}

function labelOf({ manager, operation, subresource = '' }: FieldOwner): string {
  return `${manager} ${operation} ${subresource}`;
}

function ownerText({ manager, operation, subresource, since }: FieldOwner, session: Session): string {
  const how = subresource === undefined ? operation : `${operation} of ${subresource}`;
  const age = since === undefined ? '' : `, ${ageText(session.cluster.clock.now(), since)} ago (${since})`;
  return `${manager}: ${how}${age}`;
}
