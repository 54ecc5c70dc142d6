/**
 * Restores the initial FlowSchemas and priority levels: one minute after one is deleted or has another spec. An
 * annotation lets users keep changes of suggested objects. Objects that are no longer suggested are deleted. The
 * reference server polls every minute; this reconciler schedules a repair one minute after it finds a difference.
 */
import type { Dialect } from '../../../meta/dialect.js';
import type { GroupResource } from '../../../meta/gvk.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import type { ReconcilerHost, ServerReconciler } from '../../reconciler.js';
import { RepairTimer } from '../../shared/repair-timer.js';
import { isMandatory, PRODUCER, updateAnnotation } from './bootstrap.js';

const REPAIR_DELAY_MS = 60_000;

/** The initial objects of a kind. */
export interface Bootstrap {
  readonly resource: GroupResource;
  specs(dialect: Dialect): readonly (readonly [name: string, spec: object])[];
}

/** The reconciler of the initial objects of a kind. */
export function bootstrapReconciler(server: ReconcilerHost, { resource, specs }: Bootstrap): ServerReconciler {
  let wanted: ReadonlyMap<string, object> | undefined;
  let seen = -1;
  const timer = new RepairTimer(server, REPAIR_DELAY_MS);

  const repairs = (): readonly (() => void)[] => {
    const present = new Map(server.objects.list(resource).map((object) => [object.metadata.name, object]));
    // A cluster under construction has none yet; it gets them as initial objects.
    if (present.size === 0 && seen === -1) return [];
    const annotation = updateAnnotation(server.dialect);
    wanted ??= new Map(specs(server.dialect));
    const should = wanted;
    const missing = [...should].filter(([name]) => !present.has(name));
    const changes = [...present].flatMap(([name, object]) => {
      const spec = should.get(name);
      if (spec !== undefined) return revision({ object, spec, annotation }, server);
      const isLeftOver = parseBool(object.metadata.annotations?.[annotation]) === true;
      return isLeftOver ? [() => server.remove(object)] : [];
    });
    const creations = missing.map(([name, spec]) => () => {
      server.create({ metadata: { name, annotations: { [annotation]: 'true' } }, spec }, PRODUCER);
    });
    return [...creations, ...changes];
  };

  return {
    reconcile() {
      if (!timer.isDue && server.lastChange(resource) === seen) return;
      // Older releases have other field names, so the specs cannot be compared there.
      if (!isServedInV1(server, resource)) return;
      timer.settle(repairs());
      seen = server.lastChange(resource);
    },
  };
}

function isServedInV1({ installedKinds, dialect }: ReconcilerHost, { group, resource }: GroupResource): boolean {
  const served = dialect.group(group);
  return installedKinds().some(({ gvr }) => gvr.resource === resource && gvr.group === served && gvr.version === 'v1');
}

function revision(
  target: { readonly object: ApiObject; readonly spec: object; readonly annotation: string },
  server: ReconcilerHost,
): readonly (() => void)[] {
  const { object, spec, annotation } = target;
  const { name, annotations, generation } = object.metadata;
  const said = parseBool(annotations?.[annotation]);
  // Without the annotation, an unchanged object (generation 1) may be updated.
  const isKept = isMandatory(name) || (said ?? generation === 1);
  const isOther = isKept && !deepEqual(object['spec'], spec);
  if (!isOther && said === isKept) return [];
  const change = (draft: DraftObject): void => {
    if (isOther) draft['spec'] = spec;
    if (said !== isKept) draft.metadata.annotations = { ...draft.metadata.annotations, [annotation]: String(isKept) };
  };
  return [() => server.update(object, change, PRODUCER)];
}

const TRUE = ['1', 't', 'T', 'TRUE', 'true', 'True'];
const FALSE = ['0', 'f', 'F', 'FALSE', 'false', 'False'];

/** Parses as Go's strconv.ParseBool; undefined for other texts. */
function parseBool(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (TRUE.includes(text)) return true;
  return FALSE.includes(text) ? false : undefined;
}
