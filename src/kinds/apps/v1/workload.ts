/**
 * Rules that the workloads of this group share: selectors that fit their templates, counts, rolling updates.
 */
import { childPath, type FieldError, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import { dumpIntOrString, type IntOrString, percentOf, percentProblems } from '../../../meta/int-or-string.js';
import { type LabelSelectorObject, labelSelectorObjectErrors, selectsLabels } from '../../../meta/labels.js';
import type { ApiObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { podTemplateProblems, podTemplateWarnings } from '../../core/v1/pod-spec/pod-template.js';
import type { PodTemplateSpec } from '../../generated/core-v1.js';
import type { WriteContext } from '../../kind.js';
import { goSyntaxLabelSelector, goSyntaxLabels } from '../../shared/go-syntax.js';
import { nonNegative } from '../../shared/number-rules.js';

/** A selector with the pods it must select. Types promise a selector; a client need not have sent one. */
export interface Selecting {
  readonly selector?: LabelSelectorObject | undefined;
  readonly template: PodTemplateSpec;
}

/** Each of these fields, in this order. */
export function nonNegativeFields<Key extends string>(
  path: string,
  values: { readonly [Name in Key]?: number | undefined },
  names: readonly Key[],
): FieldError[] {
  return names.flatMap((name) => nonNegative(childPath(path, name), values[name]));
}

/** The selector is there, is well-formed and does not select everything. */
export function selectorProblems(path: string, selector: LabelSelectorObject | undefined, kind: string): FieldError[] {
  if (selector === undefined) return [required(path)];
  const problems = labelSelectorObjectErrors(selector, path);
  if (isEmptySelector(selector)) {
    problems.push(invalid(path, goSyntaxLabelSelector(selector), `empty selector is invalid for ${kind}`));
  }
  return problems;
}

export function isEmptySelector({ matchLabels = {}, matchExpressions = [] }: LabelSelectorObject): boolean {
  return Object.keys(matchLabels).length + matchExpressions.length === 0;
}

/** False for one that cannot be read at all. */
export function isReadable(selector: LabelSelectorObject | undefined): boolean {
  return selector === undefined || labelSelectorObjectErrors(selector, '').length === 0;
}

/** No selector at all matches nothing. */
export function mismatchProblems(path: string, { selector, template }: Selecting): FieldError[] {
  const { labels } = template.metadata;
  if (selectsLabels(selector, labels)) return [];
  const detail = '`selector` does not match template `labels`';
  return [invalid(childPath(path, 'template.metadata.labels'), goSyntaxLabels(labels), detail)];
}

/** Everything about the template of a ReplicaSet, and of a Deployment, which makes ReplicaSets. */
export function replicaTemplateProblems(
  path: string,
  spec: Selecting,
  about: { readonly context: WriteContext; readonly live?: Selecting | undefined },
): FieldError[] {
  if (!isReadable(spec.selector)) {
    const dump = goSyntaxLabelSelector(spec.selector ?? {});
    return [invalid(childPath(path, 'selector'), dump, 'invalid label selector')];
  }
  const template = childPath(path, 'template');
  return [
    ...mismatchProblems(path, spec),
    ...podTemplateProblems(template, spec.template, templateRules(about)),
    ...lastingPodProblems(template, spec.template, 'ReplicaSet'),
  ];
}

/** What the rules of a template want to know. */
export function templateRules(about: {
  readonly context: WriteContext;
  readonly live?: { readonly template: PodTemplateSpec } | undefined;
}) {
  const { context, live } = about;
  return { dialect: context.dialect, features: context.features, live: live?.template.spec };
}

/** Pods that are replaced when they end have no end of their own. */
export function lastingPodProblems(path: string, { spec }: PodTemplateSpec, kind: string): FieldError[] {
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

/** A selector stays what it was: pods would be lost otherwise. */
export function selectorUpdateProblems(next: Selecting, live: Selecting): FieldError[] {
  if (deepEqual(next.selector, live.selector)) return [];
  const dump = next.selector === undefined ? undefined : goSyntaxLabelSelector(next.selector);
  return [invalid('spec.selector', dump, 'field is immutable')];
}

/** A count that must not be negative, or a percentage. */
export function countOrPercentProblems(path: string, value: IntOrString): FieldError[] {
  if (typeof value === 'number') return nonNegative(path, value);
  return percentProblems(value).map((detail) => invalid(path, dumpIntOrString(value), detail));
}

export function overHundredProblems(path: string, value: IntOrString): FieldError[] {
  const percent = percentOf(value);
  if (percent === undefined || percent <= 100) return [];
  return [invalid(path, dumpIntOrString(value), 'must not be greater than 100%')];
}

/** The number in it, whatever it counts; a text without one counts as none. */
export function amountOf(value: IntOrString): number {
  if (typeof value === 'number') return value;
  return percentOf(value) ?? (/^[+-]?[0-9]+$/.test(value) ? Number(value) : 0);
}

/** Statuses remember how often a name was taken; that never becomes less. */
export function collisionProblems(next: number | undefined, live: number | undefined): FieldError[] {
  const forgotten = next === undefined && live !== undefined;
  const fell = next !== undefined && live !== undefined && next < live;
  if (!forgotten && !fell) return [];
  return [invalid('status.collisionCount', next ?? 0, 'cannot be decremented')];
}

/** Counts that cannot exceed the number of all replicas. */
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

/** What is said about the pods, whenever what is wanted of them may have changed. */
export function templateWarnings(object: ApiObject, live: ApiObject | undefined, context: WriteContext): string[] {
  if (live !== undefined && live.metadata.generation === object.metadata.generation) return [];
  const { template } = (object as unknown as { readonly spec: Selecting }).spec;
  return podTemplateWarnings('spec.template', template, context);
}
