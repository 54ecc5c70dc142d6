/**
 * A pod's priority is that of its class, and there is at most one default class. spec: PriorityClass
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf, refuse } from './requests.js';

const PRIORITY_CLASSES = { group: serviceGroup('scheduling'), resource: 'priorityclasses' };

export const priority: AdmissionPlugin = Object.freeze({
  name: 'Priority',
  looksAt: kindsOf(['', 'pods'], [PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource]),
  isBuiltIn: true,
  mutate,
  validate,
});

interface PodSpec {
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
}

interface PriorityClass {
  readonly metadata: { readonly name: string };
  readonly value: number;
  readonly globalDefault?: boolean;
  readonly preemptionPolicy?: string;
}

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  if (!isFor(request, '', 'pods') || request.object === undefined) return;
  const spec = request.object['spec'] as PodSpec;
  if (request.operation === 'UPDATE') keepFromLive(spec, request.oldObject?.['spec'] as PodSpec | undefined);
  if (request.operation === 'CREATE') takeFromClass(spec, request, view);
}

/** A client that sends the pod again without what was computed means the same pod. */
function keepFromLive(spec: PodSpec, live: PodSpec | undefined): void {
  if (live === undefined) return;
  if (spec.priority === undefined && live.priority !== undefined) spec.priority = live.priority;
  if (spec.preemptionPolicy === undefined && live.preemptionPolicy !== undefined) {
    spec.preemptionPolicy = live.preemptionPolicy;
  }
}

function takeFromClass(spec: PodSpec, request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const chosen = spec.priorityClassName ? named(spec.priorityClassName, request, view) : defaultClass(view);
  if (chosen !== undefined && !spec.priorityClassName) spec.priorityClassName = chosen.metadata.name;
  const value = chosen?.value ?? 0;
  const policy = chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

function named(name: string, request: AdmissionRequest<DraftObject>, view: ClusterView): PriorityClass {
  const found = view.get({ ...PRIORITY_CLASSES, namespace: '', name });
  if (found === undefined) throw refuse(request, `no PriorityClass with name ${name} was found`);
  return asClass(found);
}

/** Every pod asks, and classes hardly ever change. */
const defaults = new WeakMap<ClusterView, { readonly changes: number; readonly found: PriorityClass | undefined }>();

function defaultClass(view: ClusterView): PriorityClass | undefined {
  const changes = view.changes(PRIORITY_CLASSES);
  let known = defaults.get(view);
  if (known?.changes !== changes) {
    known = { changes, found: findDefaultClass(view) };
    defaults.set(view, known);
  }
  return known.found;
}

/** The lowest of the defaults, should there be several. */
function findDefaultClass(view: ClusterView): PriorityClass | undefined {
  let best: PriorityClass | undefined;
  for (const object of view.list(PRIORITY_CLASSES)) {
    const candidate = asClass(object);
    if (candidate.globalDefault === true && (best === undefined || candidate.value < best.value)) best = candidate;
  }
  return best;
}

function validate(request: AdmissionRequest, view: ClusterView): void {
  if (!isFor(request, PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource) || request.object === undefined) return;
  const next = asClass(request.object);
  if (next.globalDefault !== true) return;
  const other = defaultClass(view);
  if (other === undefined || (request.operation === 'UPDATE' && other.metadata.name === next.metadata.name)) return;
  throw refuse(
    request,
    `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
  );
}

function asClass(object: ApiObject): PriorityClass {
  return object as unknown as PriorityClass;
}
