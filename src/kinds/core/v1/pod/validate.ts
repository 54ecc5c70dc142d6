/**
 * Validation of pods and of pod updates. An update may change images, lower the deadline, add tolerations and remove
 * scheduling gates. Other changes of the spec are rejected with a diff in the message.
 */

import { childPath, type FieldError, forbidden, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { copySentEmpty } from '../../../../schema/empty-values.js';
import { verbatim } from '../../../../text/go/go-text.js';
import { append } from '../../../../util/arrays.js';
import { deepEqual, own } from '../../../../util/json.js';
import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  PodSchedulingGate,
  PodSpec,
} from '../../../generated/core-v1.js';
import type { HookContext, MetadataErrors } from '../../../kind.js';
import { validateTolerationsUpdate } from '../../../shared/tolerations.js';
import { mirrorKey, podAnnotationsProblems, podAnnotationsUpdateProblems } from '../pod-spec/annotations.js';
import { tokenVolumesProblems } from '../pod-spec/projection-rules.js';
import { podSpecProblems } from '../pod-spec/validate.js';
import { imagesWhitespaceProblems } from '../pod-spec/validate-containers.js';
import { diffText, goSyntaxText } from './diff/diff.js';
import { internalSpec } from './diff/internal-spec.js';
import type { Pod } from './pod.js';

/** Validates an update at the main endpoint. */
export function podUpdateProblems(
  pod: Pod,
  before: Pod,
  context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  return [
    ...metadata.forCreate(),
    ...podProblems(pod, context, before),
    ...annotationsUpdateProblems(pod, before, context),
    ...specUpdateProblems(pod.spec, before.spec),
  ];
}

/** Validates the change of annotations, and the annotations once more, as the reference server does. */
export function annotationsUpdateProblems(pod: Pod, before: Pod, { dialect }: HookContext): FieldError[] {
  const annotations = pod.metadata.annotations ?? {};
  const live = before.metadata.annotations ?? {};
  const path = 'metadata.annotations';
  return [
    ...podAnnotationsUpdateProblems(path, annotations, { live, dialect }),
    ...podAnnotationsProblems(path, annotations, { spec: pod.spec, dialect }),
  ];
}

function specUpdateProblems(spec: PodSpec, live: PodSpec): FieldError[] {
  const problems: FieldError[] = [];
  // 1. The number of containers must not change; otherwise nothing else is reported.
  for (const field of ['containers', 'initContainers'] as const) {
    const [next, before] = [spec[field] ?? [], live[field] ?? []];
    const path = `spec.${field}`;
    if (next.length !== before.length) {
      return [...problems, forbidden(path, 'pod updates may not add or remove containers')];
    }
    append(problems, imagesProblems(path, next));
  }
  // 2. Validate the fields that may change.
  const deadline = deadlineProblems(spec.activeDeadlineSeconds, live.activeDeadlineSeconds);
  append(problems, deadline.problems);
  if (deadline.isFinal) return problems;
  problems.push(
    ...validateTolerationsUpdate('spec.tolerations', spec.tolerations ?? [], live.tolerations ?? []),
    ...gatesProblems('spec.schedulingGates', spec.schedulingGates ?? [], live.schedulingGates ?? []),
  );
  if (deepEqual(spec, live)) return problems;
  // 3. After those fields are reset to their live values, the specs must be equal.
  const munged = withLiveParts(spec, live);
  if ((live.schedulingGates ?? []).length > 0) append(problems, gatedProblems(munged, live));
  if (!deepEqual(munged, live)) problems.push(immutableSpecError(munged, live));
  return problems;
}

const CHANGEABLE = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];

function immutableSpecError(munged: PodSpec, live: PodSpec): FieldError {
  const difference = diffText('PodSpec', internalSpec(live), internalSpec(munged));
  return forbidden('spec', `pod updates may not change fields other than ${CHANGEABLE.join(',')}\n${difference}`);
}

function imagesProblems(path: string, containers: readonly Container[]): FieldError[] {
  return containers.flatMap(({ image = '' }, index) => {
    const at = childPath(keyPath(path, index), 'image');
    if (image === '') return [required(at)];
    return image.trim() === image ? [] : [invalid(at, image, 'must not have leading or trailing whitespace')];
  });
}

const MAX_SECONDS = 2 ** 31 - 1;

/** `isFinal` is true if the reference server stops validation at this error. */
function deadlineProblems(
  next: number | undefined,
  before: number | undefined,
): { readonly problems: FieldError[]; readonly isFinal: boolean } {
  const path = 'spec.activeDeadlineSeconds';
  if (next === undefined) {
    if (before === undefined) return { problems: [], isFinal: false };
    const detail = 'must not update from a positive integer to nil value';
    return { problems: [invalid(path, undefined, detail)], isFinal: false };
  }
  if (next < 0 || next > MAX_SECONDS) {
    return { problems: [invalid(path, next, `must be between 0 and ${MAX_SECONDS}, inclusive`)], isFinal: true };
  }
  if (before === undefined || next <= before) return { problems: [], isFinal: false };
  return { problems: [invalid(path, next, 'must be less than or equal to previous value')], isFinal: true };
}

function gatesProblems(
  path: string,
  gates: readonly PodSchedulingGate[],
  live: readonly PodSchedulingGate[],
): FieldError[] {
  const existing = new Set(live.map(({ name }) => name));
  // Of several gates with the same name the last index is reported.
  const added = new Map(gates.map(({ name }, index) => [name, index]));
  return [...added].flatMap(([name, index]) => {
    if (existing.has(name)) return [];
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [forbidden(childPath(keyPath(path, index), 'name'), detail)];
  });
}

type MutableSpec = { -readonly [Field in keyof PodSpec]: PodSpec[Field] };

function withLiveParts(spec: PodSpec, live: PodSpec): MutableSpec {
  const munged: MutableSpec = copyOf(spec);
  for (const field of ['containers', 'initContainers'] as const) {
    const containers = spec[field]?.map(copyOf);
    if (containers !== undefined) munged[field] = containers;
    for (const [index, container] of (containers ?? []).entries()) restore(container, live[field]?.[index], 'image');
  }
  restore(munged, live, 'activeDeadlineSeconds');
  restore(munged, live, 'schedulingGates');
  restore(munged, live, 'tolerations');
  if (live.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1) {
    munged.terminationGracePeriodSeconds = live.terminationGracePeriodSeconds;
  }
  return munged;
}

/** A shallow copy that remembers what the client sent. */
function copyOf<Part extends object>(part: Part): Part {
  const copy = { ...part };
  copySentEmpty(part, copy);
  return copy;
}

/** Sets a field to its live value, or deletes it if the live object lacks it. */
export function restore<Part extends object, Field extends keyof Part>(
  part: Part,
  live: Part | undefined,
  field: Field,
): void {
  const value = live?.[field];
  if (value === undefined) delete part[field];
  else part[field] = value as Part[Field];
}

/** The node selector and node affinity of a pod with scheduling gates may become stricter. Changes `munged` in place. */
function gatedProblems(munged: MutableSpec, live: PodSpec): FieldError[] {
  const problems: FieldError[] = [];
  if (!deepEqual(munged.nodeSelector, live.nodeSelector)) {
    append(problems, gatedSelectorProblems('spec.nodeSelector', munged.nodeSelector ?? {}, live.nodeSelector ?? {}));
    restore(munged, live, 'nodeSelector');
  }
  const [next, before] = [munged.affinity?.nodeAffinity, live.affinity?.nodeAffinity];
  if (deepEqual(next, before)) return problems;
  append(problems, gatedAffinityProblems('spec.affinity.nodeAffinity', next, before));
  const { nodeAffinity: _, ...others } = munged.affinity ?? {};
  const affinity = { ...(before === undefined ? {} : { nodeAffinity: before }), ...others };
  if (live.affinity === undefined && Object.keys(affinity).length === 0) delete munged.affinity;
  else munged.affinity = affinity;
  return problems;
}

type Labels = Readonly<Record<string, string>>;

function gatedSelectorProblems(path: string, next: Labels, live: Labels): FieldError[] {
  if (Object.entries(live).every(([key, value]) => own(next, key) === value)) return [];
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [invalid(path, next, detail)];
}

function gatedAffinityProblems(
  path: string,
  next: NodeAffinity | undefined,
  live: NodeAffinity | undefined,
): FieldError[] {
  // Without required terms in the live object any term may be added.
  const before = termsOf(live);
  if (before.length === 0) return [];
  const at = childPath(path, 'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms');
  const after = termsOf(next);
  if (before.length !== after.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [invalid(at, verbatim(goSyntaxText('[]NodeSelectorTerm', after.length === 0 ? undefined : after)), detail)];
  }
  return before.flatMap((term, index) => {
    const now = after[index];
    if (now === undefined || onlyAdds(now, term)) return [];
    const detail = 'only additions are allowed (no mutations or deletions)';
    return [invalid(keyPath(at, index), verbatim(goSyntaxText('NodeSelectorTerm', now)), detail)];
  });
}

function termsOf(affinity: NodeAffinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** True if requirements are only appended. A term without requirements matches nothing, so it must stay empty. */
function onlyAdds(next: NodeSelectorTerm, live: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  if (lists.every((list) => (live[list] ?? []).length === 0)) {
    return lists.every((list) => (next[list] ?? []).length === 0);
  }
  return lists.every((list) => {
    const before = live[list] ?? [];
    return deepEqual((next[list] ?? []).slice(0, before.length), before);
  });
}

/** Validates a pod, beyond the rules of templates. `live` is absent on create. */
export function podProblems(pod: Pod, { dialect, features, settings }: HookContext, live?: Pod): FieldError[] {
  const { spec, metadata } = pod;
  const podName = metadata.name ?? '';
  const isStatic = Object.hasOwn(metadata.annotations ?? {}, mirrorKey(dialect));
  return [
    ...podAnnotationsProblems('metadata.annotations', metadata.annotations ?? {}, { spec, dialect }),
    ...podSpecProblems('spec', spec, { dialect, features, settings, podName, isStatic, live: live?.spec }),
    ...(spec.serviceAccountName === undefined ? tokenVolumesProblems('spec.volumes', spec.volumes) : []),
    ...imagesWhitespaceProblems('spec.containers', spec.containers),
    ...imagesWhitespaceProblems('spec.initContainers', spec.initContainers),
  ];
}
