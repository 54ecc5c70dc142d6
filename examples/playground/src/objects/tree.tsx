/**
 * All objects by namespace and kind, kept current by watches. Objects that every cluster has are hidden by default.
 */

import type { ApiObject, ServedKind } from 'orchplane';
import { useMemo, useState } from 'preact/hooks';
import { NODES } from '../session/make-cluster.js';
import { refKey, refOf, sameRef } from '../session/refs.js';
import { ADMINISTRATOR, type Session, useSession } from '../session/session.js';
import type { ObjectRef } from '../session/types.js';
import { Switch } from '../ui/switch.js';
import { healthOf } from './health.js';

interface Branch {
  readonly title: string;
  readonly kinds: readonly { readonly kind: string; readonly objects: readonly ApiObject[] }[];
  readonly count: number;
}

/** The heading of cluster-scoped objects. */
const CLUSTER = 'Cluster';

export function Tree({ session }: { readonly session: Session }) {
  const present = useSession(session, (state) => state.objects);
  const past = useSession(session, (state) => state.past);
  const kinds = useSession(session, (state) => state.kinds);
  const selected = useSession(session, (state) => state.selected);
  const user = useSession(session, (state) => state.user.user);
  const [filter, setFilter] = useState('');
  const [showsAll, setShowsAll] = useState(false);
  const objects = past?.objects ?? present;
  const branches = useMemo(() => branchesOf(objects, kinds, filter, showsAll), [objects, kinds, filter, showsAll]);
  return (
    <section class="pane tree" aria-label="Objects">
      <div class="bar">
        <h2>Objects</h2>
        <input
          class="filter"
          type="search"
          placeholder="Filter"
          aria-label="Filter objects"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <Switch
          label="All"
          isOn={showsAll}
          set={setShowsAll}
          title="Roles, priority levels and other objects that every cluster has"
        />
      </div>
      {past !== undefined && (
        <div class="tree-note past" role="status">
          <span>{`As of version ${past.resourceVersion}`}</span>
          <button type="button" class="small" onClick={() => session.showPast(undefined)}>
            Back to the present
          </button>
        </div>
      )}
      {user !== ADMINISTRATOR.user && (
        <p class="tree-note">
          {`The page itself reads as ${ADMINISTRATOR.user}; your requests are sent as `}
          <b>{user}</b>.
        </p>
      )}
      <div class="scroll">
        {branches.map((branch) => (
          <BranchView key={branch.title} branch={branch} selected={selected} select={(ref) => session.select(ref)} />
        ))}
        {branches.length === 0 && (
          <p class="empty">
            {filter === '' ? 'No objects yet. Apply the manifest on the left.' : 'No object matches.'}
          </p>
        )}
      </div>
    </section>
  );
}

interface BranchProps {
  readonly branch: Branch;
  readonly selected: ObjectRef | undefined;
  readonly select: (ref: ObjectRef) => void;
}

function BranchView({ branch: { title, kinds, count }, selected, select }: BranchProps) {
  return (
    <details open class="branch">
      <summary>
        <span>{title}</span> <span class="count">{count}</span>
      </summary>
      {kinds.map(({ kind, objects }) => (
        // Events are numerous and shown in other places, so they are collapsed.
        <details key={kind} class="kind" open={kind !== 'Event'}>
          <summary>
            {kind} <span class="count">{objects.length}</span>
          </summary>
          <ul>
            {objects.map((object) => (
              <Leaf
                key={refKey(refOf(object))}
                object={object}
                isSelected={sameRef(refOf(object), selected)}
                select={select}
              />
            ))}
          </ul>
        </details>
      ))}
    </details>
  );
}

interface LeafProps {
  readonly object: ApiObject;
  readonly isSelected: boolean;
  readonly select: (ref: ObjectRef) => void;
}

function Leaf({ object, isSelected, select }: LeafProps) {
  const health = healthOf(object);
  return (
    <li>
      <button
        type="button"
        class="leaf"
        aria-current={isSelected}
        title={health === undefined ? undefined : health.text}
        onClick={() => select(refOf(object))}
      >
        <span class={`dot ${health?.tone ?? 'quiet'}`} />
        <span class="name">{object.metadata.name}</span>
        {health?.progress !== undefined && <span class="tally">{`${health.progress.done}/${health.progress.of}`}</span>}
        {health !== undefined && health.progress === undefined && <span class="tally">{health.text}</span>}
      </button>
    </li>
  );
}

function branchesOf(
  objects: ReadonlyMap<string, ApiObject>,
  kinds: readonly ServedKind[],
  filter: string,
  showsAll: boolean,
): readonly Branch[] {
  const order = new Map(kinds.map(({ gvk }, index) => [gvk.kind, index]));
  const places = new Map<string, Map<string, ApiObject[]>>();
  const wanted = filter.toLowerCase();
  for (const object of objects.values()) {
    if (!showsAll && isSystemObject(object)) continue;
    const { namespace, name } = object.metadata;
    if (!`${object.kind} ${name} ${namespace ?? ''}`.toLowerCase().includes(wanted)) continue;
    const place = namespace ?? CLUSTER;
    const there = places.get(place) ?? new Map<string, ApiObject[]>();
    places.set(place, there);
    there.set(object.kind, [...(there.get(object.kind) ?? []), object]);
  }
  return [...places]
    .sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
    .map(([title, byKind]) => ({
      title,
      count: [...byKind.values()].reduce((sum, { length }) => sum + length, 0),
      kinds: [...byKind]
        .sort(([a], [b]) => kindRank(a, order) - kindRank(b, order))
        .map(([kind, items]) => ({
          kind,
          objects: items.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
        })),
    }));
}

/** The kinds that are listed first. */
const FIRST = [
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'ReplicaSet',
  'Pod',
  'Service',
  'ConfigMap',
  'Secret',
];

function kindRank(kind: string, order: ReadonlyMap<string, number>): number {
  const first = FIRST.indexOf(kind);
  if (first >= 0) return first;
  return kind === 'Event' ? 10_000 : 100 + (order.get(kind) ?? 1_000);
}

/** Sorts places: the default namespace first, then other namespaces, then the cluster and its system namespaces. */
function rankOf(place: string): number {
  if (place === 'default') return 0;
  if (place.startsWith('kube-')) return 3;
  return place === CLUSTER ? 2 : 1;
}

const SYSTEM_KINDS = new Set([
  'FlowSchema',
  'PriorityLevelConfiguration',
  'PriorityClass',
  'APIService',
  'IPAddress',
  'ServiceCIDR',
  'ControllerRevision',
  'Lease',
]);
const SYSTEM_NAMES = /^(system:|kube-|kubernetes$|default$|admin$|edit$|view$|cluster-admin$|extension-apiserver)/;

/** Whether an object exists in every new cluster, or is an Event about such an object. */
export function isSystemObject({ kind, metadata, ...rest }: Pick<ApiObject, 'kind' | 'metadata'>): boolean {
  const { name, namespace = '' } = metadata;
  if ('involvedObject' in rest) {
    const about = rest.involvedObject as ApiObject['metadata'] & { readonly kind: string };
    return isSystemObject({ kind: about.kind, metadata: about });
  }
  if (SYSTEM_KINDS.has(kind) || (namespace.startsWith('kube-') && kind !== 'Pod')) return true;
  if (kind === 'Pod') return namespace === 'kube-system' && name === 'metrics-server';
  if (kind === 'Node') return NODES.some((node) => node === name);
  if (kind === 'Namespace') return name.startsWith('kube-') || name === 'default';
  if (/^(Cluster)?Role(Binding)?$/.test(kind)) return SYSTEM_NAMES.test(name);
  return /^(ServiceAccount|Service|Endpoints|EndpointSlice|ConfigMap)$/.test(kind) && SYSTEM_NAMES.test(name);
}
