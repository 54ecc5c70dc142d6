/**
 * The Priority plugin: sets the priority of pods from their PriorityClass, and allows at most one default class.
 * spec: PriorityClass
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { cacheUntilChanged } from '../idle.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { builtIn, forbiddenError, isRequestFor, kindsOf, podSpecOf } from './requests.js';

const PRIORITY_CLASSES = { group: serviceGroup('scheduling'), resource: 'priorityclasses' };

export const priority = /* @__PURE__ */ builtIn('Priority', {
  handlesKind: kindsOf(['', 'pods'], [PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource]),
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
  const spec = podSpecOf(request);
  if (spec === undefined) return;
  if (request.operation === 'UPDATE') keepLivePriority(spec, request.oldObject?.['spec'] as PodSpec | undefined);
  if (request.operation === 'CREATE') setPriority(spec, request, view);
}

/** An update without the computed fields keeps them. */
function keepLivePriority(spec: PodSpec, live: PodSpec | undefined): void {
  if (live === undefined) return;
  if (spec.priority === undefined && live.priority !== undefined) spec.priority = live.priority;
  if (spec.preemptionPolicy === undefined && live.preemptionPolicy !== undefined) {
    spec.preemptionPolicy = live.preemptionPolicy;
  }
}

function setPriority(spec: PodSpec, request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const chosen = spec.priorityClassName ? classByName(spec.priorityClassName, request, view) : defaultClass(view);
  if (chosen !== undefined && !spec.priorityClassName) spec.priorityClassName = chosen.metadata.name;
  const value = chosen?.value ?? 0;
  const policy = chosen?.preemptionPolicy ?? 'PreemptLowerPriority';
  if (spec.priority !== undefined && spec.priority !== value) {
    throw forbiddenError(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw forbiddenError(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.priority = value;
  spec.preemptionPolicy = policy;
}

function classByName(name: string, request: AdmissionRequest<DraftObject>, view: ClusterView): PriorityClass {
  const found = view.get({ ...PRIORITY_CLASSES, namespace: '', name });
  if (found === undefined) throw forbiddenError(request, `no PriorityClass with name ${name} was found`);
  return asClass(found);
}

/** Of several defaults, the one with the lowest value. Cached, because every pod needs it and classes rarely change. */
const defaultClass = cacheUntilChanged([PRIORITY_CLASSES], (view: ClusterView): PriorityClass | undefined => {
  let best: PriorityClass | undefined;
  for (const object of view.list(PRIORITY_CLASSES)) {
    const candidate = asClass(object);
    if (candidate.globalDefault === true && (best === undefined || candidate.value < best.value)) best = candidate;
  }
  return best;
});

function validate(request: AdmissionRequest, view: ClusterView): void {
  if (!isRequestFor(request, PRIORITY_CLASSES.group, PRIORITY_CLASSES.resource) || request.object === undefined) return;
  const next = asClass(request.object);
  if (next.globalDefault !== true) return;
  const other = defaultClass(view);
  if (other === undefined || (request.operation === 'UPDATE' && other.metadata.name === next.metadata.name)) return;
  throw forbiddenError(
    request,
    `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
  );
}

function asClass(object: ApiObject): PriorityClass {
  return object as unknown as PriorityClass;
}
