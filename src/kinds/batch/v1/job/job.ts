/**
 * The Job kind: runs pods until a number of them succeeds.
 */

import { type FieldError, invalid, keyPath, required } from '../../../../meta/field-error.js';
import { labelSelectorObjectErrors, selectsLabels } from '../../../../meta/labels.js';
import { dnsLabelProblems } from '../../../../meta/names.js';
import { humanDuration, timeToMs } from '../../../../text/time/time.js';
import { own, setOwn } from '../../../../util/json.js';
import type { CellContext } from '../../../columns.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn } from '../../../define-kind.js';
import { type JobCondition, type JobKind, type JobObject, type JobSpec, jobBase } from '../../../generated/batch-v1.js';
import type { HookContext, MetadataErrors } from '../../../kind.js';
import { ageColumn, containerColumns, nameColumn, selectorColumn, textColumn } from '../../../shared/common-columns.js';
import { goSyntaxLabelSelector } from '../../../shared/go-syntax.js';
import { podNameWarnings, specGeneration, statusSubresource } from '../../../shared/strategies.js';
import { jobSpecProblems, jobSpecUpdateProblems, jobSpecWarnings } from './validate.js';
import { jobStatusProblems } from './validate-status.js';

export interface Job extends JobObject {}

/** The warning of a delete without a propagation policy. */
const ORPHANS =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

export const Job: JobKind<Job> = defineBuiltIn({
  ...jobBase,
  names: { categories: ['all'] },
  strategy: {
    write: { separateStatus: true, generation: specGeneration, warnings, canonicalize: labelLikePods },
    update: {
      metadataValidation: 'inValidate',
      prepare: (draft, live, { features }) =>
        dropDisabledTemplateFields(draft.spec.template, live.spec.template, features),
      validate: validateUpdate,
    },
    delete: {
      // Kept for compatibility: the default is older than the garbage collector.
      defaultPropagation: 'Orphan',
      warnings: ({ orphanDependents, propagationPolicy }) =>
        orphanDependents === undefined && propagationPolicy === undefined ? [ORPHANS] : [],
    },
    decode: { defaults },
    create: {
      prepare: prepareForCreate,
      validate: (object, context) => jobProblems(object, { context, live: undefined }),
    },
    read: {
      selectableFields: { 'status.successful': (object) => String(object.status.succeeded ?? 0) },
      unknownFieldLabel: (field) => `field label "${field}" not supported for Job`,
    },
  },
  subresources: {
    status: statusSubresource({
      validate: (next, live, { features }) => jobStatusProblems(next, live, features.enabled('JobManagedBy')),
    }),
  },
  columns: [
    nameColumn,
    textColumn('Status', 'The state of the job.', statusCell),
    textColumn('Completions', 'The number of succeeded pods and of required completions.', completionsCell),
    textColumn('Duration', 'The run time of the job.', durationCell),
    ageColumn,
    ...containerColumns<Job>((object) => object.spec.template.spec),
    selectorColumn((object) => object.spec.selector),
  ],
});

const BACKOFF_LIMIT = 6;
/** The default when `backoffLimitPerIndex` is set: no limit for the whole Job. */
const NO_BACKOFF_LIMIT = 2 ** 31 - 1;

function defaults(draft: Job): void {
  const { spec } = draft;
  podTemplateDefaults(spec.template);
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? BACKOFF_LIMIT : NO_BACKOFF_LIMIT;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  for (const { onPodConditions = [] } of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of onPodConditions) pattern.status ||= 'True';
  }
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  spec.manualSelector ??= false;
  labelLikePods(draft);
}

function isEmpty(record: object | undefined): boolean {
  return record === undefined || Object.keys(record).length === 0;
}

/** The generated labels of a Job's pods in validation order: the legacy names first. */
function generatedLabels(
  { dialect }: HookContext,
  // The name may still be missing.
  { name = '', uid }: { name?: string; uid: string },
): readonly (readonly [key: string, value: string])[] {
  return [
    ['controller-uid', uid],
    ['job-name', name],
    [dialect.subkey('batch', 'controller-uid'), uid],
    [dialect.subkey('batch', 'job-name'), name],
  ];
}

/** The number of legacy labels. */
const LEGACY = 2;

/** Generates labels and a selector with the Job's uid, so that no two Jobs select the same pods. */
function prepareForCreate(draft: Job, context: HookContext): void {
  const { spec } = draft;
  const { metadata } = spec.template;
  dropDisabledTemplateFields(spec.template, undefined, context.features);
  if (!context.features.enabled('JobManagedBy')) delete spec.managedBy;
  if (spec.manualSelector !== true) {
    const { name = '', uid = '' } = draft.metadata;
    const shared = metadata.labels !== undefined && draft.metadata.labels === metadata.labels;
    // The client's values are kept; validation rejects values that differ.
    metadata.labels = withMissing(metadata.labels, generatedLabels(context, { name, uid }));
    if (shared) draft.metadata.labels = metadata.labels;
    const key = context.dialect.subkey('batch', 'controller-uid');
    const matchLabels = withMissing(spec.selector?.matchLabels, [[key, uid]]);
    spec.selector = spec.selector === undefined ? { matchLabels } : { ...spec.selector, matchLabels };
  }
}

/**
 * Sets the labels of a Job without labels to those of its template. Runs after validation, which covers the template.
 */
function labelLikePods(draft: Job): void {
  const { labels } = draft.spec.template.metadata;
  // Both share one map, so that labels generated for the pods become the Job's too.
  if (labels !== undefined && isEmpty(draft.metadata.labels)) draft.metadata.labels = labels;
}

/** Adds the missing labels; the result is sorted. */
function withMissing(
  labels: Readonly<Record<string, string>> | undefined,
  more: readonly (readonly [key: string, value: string])[],
): Record<string, string> {
  const all: Record<string, string> = { ...labels };
  for (const entry of more) if (!Object.hasOwn(all, entry[0])) all[entry[0]] = entry[1];
  const sorted: Record<string, string> = {};
  for (const key of Object.keys(all).sort()) setOwn(sorted, key, all[key]);
  return sorted;
}

interface JobOptions {
  readonly context: HookContext;
  readonly live: Job | undefined;
}

function jobProblems(object: Job, { context, live }: JobOptions): FieldError[] {
  const { spec } = object;
  return [
    ...generatedSelectorProblems(object, { context, live }),
    ...jobSpecProblems('spec', spec, { context, live: live?.spec.template.spec }),
    // The name may be absent, which other checks report.
    ...indexedNameProblems(object.metadata.name ?? '', spec),
  ];
}

function generatedSelectorProblems(object: Job, { context, live }: JobOptions): FieldError[] {
  const { spec } = object;
  if (spec.manualSelector === true || spec.selector === undefined) return [];
  const generated = generatedLabels(context, object.metadata);
  // Jobs created before the prefixed labels existed do not need them.
  const liveLabels = live && (live.spec.template.metadata.labels ?? {});
  const demanded = liveLabels === undefined || generated.slice(LEGACY).every(([key]) => Object.hasOwn(liveLabels, key));
  const expected = demanded ? generated : generated.slice(0, LEGACY);
  const labels = spec.template.metadata.labels ?? {};
  const problems: FieldError[] = [];
  const selected: Record<string, string> = {};
  for (const [key, value] of expected) {
    selected[key] = value;
    const actual = own(labels, key);
    if (actual === value) continue;
    const path = keyPath('spec.template.metadata.labels', key);
    const detail = `must be '${value}'`;
    problems.push(actual === undefined ? required(path, detail) : invalid(path, labels, detail));
  }
  // Spec validation reports a malformed selector.
  const isReadable = labelSelectorObjectErrors(spec.selector, '').length === 0;
  if (isReadable && !selectsLabels(spec.selector, selected)) {
    problems.push(invalid('spec.selector', goSyntaxLabelSelector(spec.selector), '`selector` not auto-generated'));
  }
  return problems;
}

/** The hostname of an indexed Job's pod is the Job's name and the index. */
function indexedNameProblems(name: string, { completionMode, completions = 0 }: JobSpec): FieldError[] {
  if (completionMode !== 'Indexed' || completions <= 0) return [];
  const host = `${name}-${completions - 1}`;
  if (dnsLabelProblems(host).length === 0) return [];
  return [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`)];
}

/** The reference server validates an update first as a new object and then as an update. */
function validateUpdate(next: Job, live: Job, context: HookContext, metadata: MetadataErrors): readonly FieldError[] {
  return [
    ...metadata.forCreate(),
    ...jobProblems(next, { context, live }),
    ...metadata.forUpdate(),
    ...jobSpecProblems('spec', next.spec, { context, live: live.spec.template.spec }),
    ...jobSpecUpdateProblems(next.spec, live.spec, { started: live.status.startTime !== undefined }),
  ];
}

function warnings(object: Job, live: Job | undefined, context: HookContext): readonly string[] {
  if (live !== undefined && live.metadata.generation === object.metadata.generation) return [];
  return [...podNameWarnings(object, live), ...jobSpecWarnings('spec', object.spec, context)];
}

function statusCell(object: Job): string {
  const { conditions = [] } = object.status;
  // The first condition of a type counts.
  const has = (type: JobCondition['type']) => conditions.find((it) => it.type === type)?.status === 'True';
  if (has('Complete')) return 'Complete';
  if (has('Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const next = (['Suspended', 'FailureTarget'] as const).find(has);
  return next ?? 'Running';
}

function completionsCell(object: Job): string {
  const { spec, status } = object;
  const succeeded = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const { parallelism = 0 } = spec;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell(object: Job, { nowMs }: CellContext): string {
  const { startTime, completionTime } = object.status;
  if (startTime === undefined) return '';
  const end = completionTime === undefined ? nowMs : timeToMs(completionTime);
  return humanDuration(end - timeToMs(startTime));
}
