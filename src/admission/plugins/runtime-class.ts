/**
 * The RuntimeClass plugin: copies overhead, node selector and tolerations of the RuntimeClass to new pods, and rejects pods
 * with another overhead. These fields are immutable, so updates are not checked.
 */

import type { PodSpec } from '../../kinds/generated/core-v1.js';
import type { RuntimeClass } from '../../kinds/node/v1/runtime-class.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { mergeTolerations } from '../../kinds/shared/tolerations.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import { pathSegmentProblems } from '../../meta/names.js';
import type { DraftObject } from '../../meta/object.js';
import { wasSentEmpty } from '../../schema/empty-values.js';
import { quote } from '../../text/go/go-text.js';
import { copyJson, own } from '../../util/json.js';
import { sortedRecord } from '../../util/order.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { readAmounts } from './pod-amounts.js';
import { type AnyRequest, createdPodSpec, forbiddenError, podPlugin } from './requests.js';

export const runtimeClass = /* @__PURE__ */ podPlugin('RuntimeClass', { mutate, validate });

const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";
const UNFOUNDED = 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead';

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
  const spec = createdPodSpec(request);
  const chosen = spec && classOf(spec, request, view);
  if (spec === undefined || chosen === undefined) return;
  if (chosen.overhead !== undefined) setOverhead(spec, chosen.overhead, request);
  if (chosen.scheduling !== undefined) setScheduling(spec, chosen.scheduling, request);
}

function validate(request: AdmissionRequest, view: ClusterView): void {
  const spec = createdPodSpec(request);
  if (spec === undefined) return;
  const { overhead } = classOf(spec, request, view) ?? {};
  if (overhead === undefined) {
    if (!isEmpty(spec.overhead) || wasSentEmpty(spec, 'overhead')) throw forbiddenError(request, UNFOUNDED);
  } else if (!isSame(spec.overhead, overhead.podFixed)) {
    throw forbiddenError(request, MISMATCH);
  }
}

function classOf(spec: PodSpec, request: AnyRequest, view: ClusterView): RuntimeClass | undefined {
  const name = spec.runtimeClassName;
  if (name === undefined) return undefined;
  const found = view.get({ group: serviceGroup('node'), resource: 'runtimeclasses', namespace: '', name });
  if (found !== undefined) return found as unknown as RuntimeClass;
  // The reference server falls back to an API request, which fails for such names.
  // upstream: plugin/pkg/admission/runtimeclass/admission.go RuntimeClass.prepareObjects
  if (name === '') throw errors.plain('resource name may not be empty');
  const problems = pathSegmentProblems(name);
  if (problems.length > 0) throw errors.plain(`invalid resource name ${quote(name)}: [${problems.join(' ')}]`);
  throw forbiddenError(request, `pod rejected: RuntimeClass ${quote(name)} not found`);
}

function setOverhead(
  spec: PodSpec,
  { podFixed }: NonNullable<RuntimeClass['overhead']>,
  request: AdmissionRequest<DraftObject>,
): void {
  if (!isEmpty(spec.overhead) && !isSame(spec.overhead, podFixed)) throw forbiddenError(request, MISMATCH);
  if (podFixed !== undefined) spec.overhead = copyJson(podFixed);
}

function setScheduling(
  spec: PodSpec,
  { nodeSelector = {}, tolerations = [] }: NonNullable<RuntimeClass['scheduling']>,
  request: AdmissionRequest<DraftObject>,
): void {
  for (const [key, wanted] of Object.entries(nodeSelector)) {
    const given = own(spec.nodeSelector ?? {}, key);
    if (given === undefined || given === wanted) continue;
    throw forbiddenError(
      request,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${wanted}; pod.spec.nodeSelector[${key}] = ${given}`,
    );
  }
  spec.nodeSelector = sortedRecord(Object.entries({ ...spec.nodeSelector, ...nodeSelector }));
  spec.tolerations = mergeTolerations(spec.tolerations ?? [], copyJson(tolerations));
}

function isEmpty(list: ResourceList = {}): boolean {
  return Object.keys(list).length === 0;
}

/** Compares by value; absent and empty are equal. */
function isSame(left: ResourceList | undefined, right: ResourceList | undefined): boolean {
  const [these, those] = [readAmounts(left), readAmounts(right)];
  if (these.size !== those.size) return false;
  return [...these].every(([name, amount]) => those.get(name)?.equals(amount) === true);
}
