/**
 * The Binding kind: assigns a pod to a node. Clients create it at `pods/binding`, or at the deprecated `bindings`
 * collection.
 */
import { errors } from '../../../../meta/errors.js';
import { type FieldError, notSupported, printFieldError, required } from '../../../../meta/field-error.js';
import { pathSegmentProblems } from '../../../../meta/names.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import { type Status, SUCCESS } from '../../../../meta/status.js';
import { quote } from '../../../../text/go/go-text.js';
import { sortedRecord } from '../../../../util/order.js';
import { defineBuiltIn } from '../../../define-kind.js';
import { type BindingKind, type BindingObject, bindingBase } from '../../../generated/core-v1.js';
import type { StrategyContext } from '../../../kind.js';
import { failedPrecondition, storageConflictMessage } from '../../../shared/storage-conflict.js';
import { setCondition } from './conditions.js';
import type { Pod } from './pod.js';

export interface Binding extends BindingObject {}

export const Binding: BindingKind<Binding> = defineBuiltIn({
  ...bindingBase,
  verbs: ['create'],
  virtual: { create: (draft, context) => bindPod(draft, context) as unknown as DraftObject },
});

const PODS = { group: '', resource: 'pods' };
const BINDING = { group: '', resource: 'pods/binding' };

/** Assigns the pod to the node, and copies the annotations and labels of the binding to the pod. */
export function bindPod(body: Binding, context: StrategyContext): Status {
  const { target, metadata } = body;
  const name = metadata.name ?? '';
  const requestName = context.request.name ?? name;
  if (requestName !== name) throw errors.badRequest('name in URL does not match name in Binding object');
  const problems = targetProblems(target);
  if (problems.length > 0) {
    const texts = problems.map(printFieldError);
    throw errors.plain(texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`);
  }
  requireName(name);
  const address = { namespace: context.namespace, name, ...PODS };
  const live = context.objects.get(address);
  if (live === undefined) throw errors.notFound(PODS, name);
  checkBindable(live as ApiObject & Pod, metadata, context);
  context.objects.changeParts(address, (draft) => {
    const pod = draft as DraftObject & Pod;
    pod.spec.nodeName = target.name ?? '';
    annotate(draft, metadata.annotations ?? {});
    if (context.features.enabled('PodTopologyLabelsAdmission') && metadata.labels !== undefined) {
      draft.metadata.labels = merged(draft.metadata.labels, metadata.labels);
    }
    setCondition(pod.status, { type: 'PodScheduled', status: 'True', lastTransitionTime: context.now });
  });
  return SUCCESS;
}

/** Validates the name of a binding that is created at the collection, where no path segment was validated. */
function requireName(name: string): void {
  if (name === '') throw errors.badRequest('Name parameter required.');
  const problems = pathSegmentProblems(name);
  if (problems.length > 0) throw errors.badRequest(`Name parameter invalid: ${quote(name)}: ${problems.join(';')}`);
}

function targetProblems({ kind = '', name = '' }: Binding['target']): FieldError[] {
  return [
    ...(kind === '' || kind === 'Node' ? [] : [notSupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(name === '' ? [required('target.name')] : []),
  ];
}

function checkBindable(live: Pod, preconditions: Binding['metadata'], { dryRun }: StrategyContext): void {
  const { metadata, spec } = live;
  const name = metadata.name ?? '';
  const { uid, resourceVersion } = preconditions;
  const why = failedPrecondition({ uid: uid || undefined, resourceVersion: resourceVersion || undefined }, metadata);
  if (why !== undefined) {
    const stored = { resource: PODS, namespace: metadata.namespace ?? '', name, dryRun };
    throw errors.conflict(PODS, name, storageConflictMessage(stored, why));
  }
  const refuse = (why: string) => errors.conflict(BINDING, name, why);
  if (metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node "${spec.nodeName}"`);
  if ((spec.schedulingGates ?? []).length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
}

function annotate(draft: DraftObject, more: Readonly<Record<string, string>>): void {
  if (Object.keys(more).length > 0) draft.metadata.annotations = merged(draft.metadata.annotations, more);
}

/** Merges two maps, sorted by key as on the wire. */
function merged(present: StringMap = {}, more: StringMap): Record<string, string> {
  return sortedRecord([...Object.entries(present), ...Object.entries(more)]);
}

type StringMap = Readonly<Record<string, string>>;
