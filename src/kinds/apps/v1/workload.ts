/**
 * Validation rules that the workload kinds share: selectors and templates, replica counts, rolling updates.
 */
import { childPath, type FieldError, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import { dumpIntOrString, type IntOrString, percentOf, percentProblems } from '../../../meta/int-or-string.js';
import { type LabelSelectorObject, labelSelectorObjectErrors, selectsLabels } from '../../../meta/labels.js';
import { deepEqual } from '../../../util/json.js';
import { podTemplateProblems, podTemplateWarnings } from '../../core/v1/pod-spec/pod-template.js';
import type { PodTemplateSpec } from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { nonNegative, nonNegativeFields } from '../../shared/field-rules.js';
import { goSyntaxLabelSelector, goSyntaxLabels } from '../../shared/go-syntax.js';

/**
 * The selector and the template of a workload. The selector is optional: validation runs before its absence is
 * rejected.
 */
export interface SelectorAndTemplate {
  readonly selector?: LabelSelectorObject | undefined;
  readonly template: PodTemplateSpec;
}

/** Requires a selector that is well-formed and does not select everything. */
export function selectorProblems(path: string, selector: LabelSelectorObject | undefined, kind: string): FieldError[] {
  if (selector === undefined) return [required(path)];
  const problems = labelSelectorObjectErrors(selector, path);
  if (isEmptySelector(selector)) {
    problems.push(invalid(path, goSyntaxLabelSelector(selector), `empty selector is invalid for ${kind}`));
  }
  return problems;
}

/** True for a selector without requirements, which selects everything. */
export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** True for an absent or well-formed selector. */
export function isValidSelector(selector: LabelSelectorObject | undefined): boolean {
  return selector === undefined || labelSelectorObjectErrors(selector, '').length === 0;
}

/** Requires that the selector matches the template's labels. An absent selector matches nothing. */
export function mismatchProblems(path: string, { selector, template }: SelectorAndTemplate): FieldError[] {
  const { labels } = template.metadata;
  if (selectsLabels(selector, labels)) return [];
  const detail = '`selector` does not match template `labels`';
  return [invalid(childPath(path, 'template.metadata.labels'), goSyntaxLabels(template.metadata), detail)];
}

/** Validates the template of a ReplicaSet or a Deployment. */
export function replicaTemplateProblems(
  path: string,
  spec: SelectorAndTemplate,
  options: { readonly context: HookContext; readonly live?: SelectorAndTemplate | undefined },
): FieldError[] {
  if (!isValidSelector(spec.selector)) {
    const dump = goSyntaxLabelSelector(spec.selector ?? {});
    return [invalid(childPath(path, 'selector'), dump, 'invalid label selector')];
  }
  const template = childPath(path, 'template');
  return [
    ...mismatchProblems(path, spec),
    ...podTemplateProblems(template, spec.template, templateRules(options)),
    ...terminatingPodProblems(template, spec.template, 'ReplicaSet'),
  ];
}

/** The options of template validation. */
export function templateRules({
  context,
  live,
}: {
  readonly context: HookContext;
  readonly live?: { readonly template: PodTemplateSpec } | undefined;
}) {
  const { dialect, features, settings } = context;
  return { dialect, features, settings, live: live?.template.spec };
}

/** Rejects pods that terminate by themselves: their controller would replace them. */
export function terminatingPodProblems(path: string, { spec }: PodTemplateSpec, kind: string): FieldError[] {
  const { restartPolicy = '', activeDeadlineSeconds } = spec;
  const problems: FieldError[] = [];
  if (restartPolicy !== 'Always') {
    problems.push(notSupported(childPath(path, 'spec.restartPolicy'), restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const detail = `activeDeadlineSeconds in ${kind} is not Supported`;
    problems.push(forbidden(childPath(path, 'spec.activeDeadlineSeconds'), detail));
  }
  return problems;
}

/** The selector is immutable; a changed one would orphan the existing pods. */
export function selectorUpdateProblems(next: SelectorAndTemplate, live: SelectorAndTemplate): FieldError[] {
  if (deepEqual(next.selector, live.selector)) return [];
  const dump = next.selector === undefined ? undefined : goSyntaxLabelSelector(next.selector);
  return [invalid('spec.selector', dump, 'field is immutable')];
}

/** Requires a non-negative number or a percentage. */
export function countOrPercentProblems(path: string, value: IntOrString): FieldError[] {
  if (typeof value === 'number') return nonNegative(path, value);
  return percentProblems(value).map((detail) => invalid(path, dumpIntOrString(value), detail));
}

/** Rejects percentages above 100. */
export function overHundredProblems(path: string, value: IntOrString): FieldError[] {
  const percent = percentOf(value);
  if (percent === undefined || percent <= 100) return [];
  return [invalid(path, dumpIntOrString(value), 'must not be greater than 100%')];
}

/** The number of a count or a percentage; 0 for a text without one. */
export function amountOf(value: IntOrString): number {
  if (typeof value === 'number') return value;
  return percentOf(value) ?? (/^[+-]?[0-9]+$/.test(value) ? Number(value) : 0);
}

/** `status.collisionCount` never decreases. */
export function collisionProblems(next: number | undefined, live: number | undefined): FieldError[] {
  if (live === undefined || (next !== undefined && next >= live)) return [];
  return [invalid('status.collisionCount', next ?? 0, 'cannot be decremented')];
}

/** Rejects status counts above the number of replicas. */
export function atMost<Key extends string>(
  values: { readonly [Name in Key]?: number | undefined },
  limit: number,
  names: readonly Key[],
): FieldError[] {
  return names.flatMap((name) => {
    const value = values[name] ?? 0;
    return value <= limit ? [] : [invalid(`status.${name}`, value, 'cannot be greater than status.replicas')];
  });
}

/** Validates the status of a ReplicaSet or a ReplicationController. */
export function replicaStatusProblems(status: {
  readonly replicas: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
}): FieldError[] {
  const { replicas, readyReplicas = 0, availableReplicas = 0 } = status;
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'] as const;
  return [
    ...nonNegativeFields('status', status, ['replicas', ...parts, 'observedGeneration', 'terminatingReplicas']),
    ...atMost(status, replicas, parts),
    ...(availableReplicas > readyReplicas
      ? [invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas')]
      : []),
  ];
}

interface Workload {
  readonly metadata: { readonly generation?: number };
  readonly spec: { readonly template: PodTemplateSpec };
}

/** Warnings about the pod template of a new workload or of one whose spec changed. */
export function templateWarnings(object: Workload, live: Workload | undefined, context: HookContext): string[] {
  if (live !== undefined && live.metadata.generation === object.metadata.generation) return [];
  return podTemplateWarnings('spec.template', object.spec.template, context);
}
