/**
 * The ReplicationController kind, the predecessor of ReplicaSet.
 */

import { type FieldError, fieldError, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import { labelSelectorFrom, matchesLabels, printLabelSelector } from '../../../meta/labels.js';
import type { ApiObject } from '../../../meta/object.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { replicaStatusProblems } from '../../apps/v1/workload.js';
import { scaleSubresource } from '../../autoscaling/v1/scale.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ReplicationControllerKind,
  type ReplicationControllerObject,
  replicationControllerBase,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, containerColumns, countColumn, nameColumn, selectorColumn } from '../../shared/common-columns.js';
import { nonNegative } from '../../shared/field-rules.js';
import { goSyntaxLabels } from '../../shared/go-syntax.js';
import { podNameWarnings, specGeneration, statusSubresource } from '../../shared/strategies.js';
import {
  dropDisabledTemplateFields,
  podTemplateDefaults,
  podTemplateProblems,
  podTemplateWarnings,
} from './pod-spec/pod-template.js';

export interface ReplicationController extends ReplicationControllerObject {}

export const ReplicationController: ReplicationControllerKind<ReplicationController> = defineBuiltIn({
  ...replicationControllerBase,
  names: { shortNames: ['rc'], categories: ['all'] },
  columns: [
    nameColumn,
    countColumn('Desired', 'The number of desired pods.', (object) => object.spec.replicas),
    countColumn('Current', 'The number of pods that exist.', (object) => object.status.replicas),
    countColumn('Ready', 'The number of ready pods.', (object) => object.status.readyReplicas ?? 0),
    ageColumn,
    ...containerColumns<ReplicationController>((object) => object.spec.template?.spec ?? {}),
    selectorColumn((object) => ({ matchLabels: object.spec.selector ?? {} })),
  ],
  strategy: {
    update: {
      validationOrder: ['create', 'metadata', 'update'],
      prepare: dropDisabledFields,
      validate: (next, live, context) => problemsOf(next, live, { context, isLast: true }),
    },
    write: { separateStatus: true, generation: specGeneration, warnings },
    delete: {
      // For backward compatibility, deletion orphans the pods by default.
      defaultPropagation: 'Orphan',
    },
    decode: { defaults },
    create: {
      prepare: (draft, context) => dropDisabledFields(draft, undefined, context),
      validate: (object, context, live) => problemsOf(object, live, { context, isLast: live === undefined }),
    },
    read: {
      selectableFields: { 'status.replicas': (object) => String(object.status.replicas) },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: {
    // Label defaults apply to status updates too.
    status: statusSubresource({
      prepare: (draft) => labelDefaults(draft),
      validate: ({ status }) => replicaStatusProblems(status),
    }),
    scale: scaleSubresource({ selector: selectorText }),
  },
});

function selectorText(live: ApiObject): string {
  const { spec } = live as ApiObject & ReplicationController;
  return printLabelSelector(labelSelectorFrom(spec.selector ?? {}));
}

/** The selector and the labels default to the labels of the template. */
function defaults(draft: ReplicationController): void {
  const { spec } = draft;
  const { template } = spec;
  if (template === undefined) return;
  const labels = template.metadata?.labels;
  if (labels !== undefined && Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
  labelDefaults(draft);
  podTemplateDefaults(template);
}

function labelDefaults(draft: ReplicationController): void {
  const labels = draft.spec.template?.metadata?.labels;
  if (labels !== undefined && Object.keys(draft.metadata.labels ?? {}).length === 0)
    draft.metadata.labels = { ...labels };
}

function dropDisabledFields(
  draft: ReplicationController,
  live: ReplicationController | undefined,
  { features }: HookContext,
): void {
  const { template } = draft.spec;
  if (template === undefined) return;
  dropDisabledTemplateFields(template, live?.spec.template, features);
}

/** On updates the reference server computes the warnings from the live template. */
function warnings(
  object: ReplicationController,
  live: ReplicationController | undefined,
  context: HookContext,
): string[] {
  if (live !== undefined && live.metadata.generation === object.metadata.generation) return [];
  const { template } = (live ?? object).spec;
  return [
    ...podNameWarnings(object, live),
    ...(template === undefined ? [] : podTemplateWarnings('spec.template', template, context)),
  ];
}

/**
 * Validates the spec. With DeclarativeValidationTakeover, `replicas` and `minReadySeconds` are validated by declarative
 * rules: after all others, and only once on updates, on which this function runs twice (`isLast`).
 */
function problemsOf(
  next: ReplicationController,
  live: ReplicationController | undefined,
  { context, isLast }: { readonly context: HookContext; readonly isLast: boolean },
): FieldError[] {
  const { replicas, minReadySeconds, selector = {} } = next.spec;
  const seconds = nonNegative('spec.minReadySeconds', minReadySeconds);
  const count = nonNegative('spec.replicas', replicas);
  const noSelector = Object.keys(selector).length === 0 ? [required('spec.selector')] : [];
  const template = templateProblems(next, live, context);
  const nonConvertible = isLast && live !== undefined ? nonConvertibleFieldProblems(next, live, context) : [];
  if (!context.features.enabled('DeclarativeValidationTakeover')) {
    return [...seconds, ...noSelector, ...count, ...template, ...nonConvertible];
  }
  return [...noSelector, ...template, ...nonConvertible, ...(isLast ? [...count, ...seconds] : [])];
}

/** Annotations name fields that an old conversion could not represent. Those fields cannot change. */
function nonConvertibleFieldProblems(
  next: ReplicationController,
  live: ReplicationController,
  { dialect }: HookContext,
): FieldError[] {
  const prefix = dialect.subkey('non-convertible', '').slice(0, -1);
  const annotations = live.metadata.annotations ?? {};
  const { selector } = next.spec;
  return Object.keys(annotations)
    .filter((key) => key.startsWith(prefix))
    .sort()
    .flatMap((key) => {
      const [, field, more] = key.split('/');
      if (field === undefined || more !== undefined) return [];
      if (!field.includes('selector')) {
        return [fieldError('notFound', field, { value: annotations[key], detail: 'unknown non-convertible field' })];
      }
      if (deepEqual(selector, live.spec.selector)) return [];
      return [invalid('spec.selector', selector, 'cannot update non-convertible selector')];
    });
}

function templateProblems(
  next: ReplicationController,
  live: ReplicationController | undefined,
  context: HookContext,
): FieldError[] {
  const { template, selector = {} } = next.spec;
  if (template === undefined) return [required('spec.template')];
  const labels = template.metadata?.labels;
  const problems: FieldError[] = [];
  if (!matchesLabels(labelSelectorFrom(selector), labels)) {
    problems.push(
      invalid(
        'spec.template.metadata.labels',
        goSyntaxLabels(template.metadata),
        '`selector` does not match template `labels`',
      ),
    );
  }
  const before = live === undefined ? undefined : live.spec.template?.spec;
  append(problems, podTemplateProblems('spec.template', template, { ...context, live: before }));
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec;
  if (restartPolicy !== 'Always') {
    problems.push(notSupported('spec.template.spec.restartPolicy', restartPolicy, ['Always']));
  }
  if (activeDeadlineSeconds !== undefined) {
    const detail = 'activeDeadlineSeconds in ReplicationController is not Supported';
    problems.push(forbidden('spec.template.spec.activeDeadlineSeconds', detail));
  }
  return problems;
}
