import { type FieldError, invalid } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { scaleSubresource } from '../../autoscaling/v1/scale.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type ReplicaSetBody,
  type ReplicaSetBodyInput,
  type ReplicaSetSpec,
  replicaSetBody,
} from '../../generated/apps-v1.js';
import type { Kind, MetadataErrors, WriteContext } from '../../kind.js';
import { ageColumn, containerColumns, countColumn, nameColumn, selectorColumn } from '../../shared/common-columns.js';
import { nonNegative } from '../../shared/number-rules.js';
import { podNameWarnings, specGeneration, statusSubresource } from '../../shared/strategies.js';
import {
  atMost,
  nonNegativeFields,
  replicaTemplateProblems,
  selectorProblems,
  selectorUpdateProblems,
  templateWarnings,
} from './workload.js';

export interface ReplicaSet extends ObjectBase, ReplicaSetBody {}
export interface ReplicaSetInput extends InputBase, ReplicaSetBodyInput {}

export const ReplicaSet: Kind<ReplicaSet, ReplicaSetInput, 'Namespaced', 'status' | 'scale'> = defineBuiltIn({
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  scope: 'Namespaced',
  names: { shortNames: ['rs'], categories: ['all'] },
  body: replicaSetBody,
  strategy: {
    write: {
      separateStatus: true,
      generation: specGeneration,
      warnings: (object, live, context) => [
        ...podNameWarnings(object, live),
        ...templateWarnings(object, live, context),
      ],
    },
    update: {
      metadata: 'placed',
      prepare: (draft, live, { features }) =>
        dropDisabledTemplateFields(replicaSetOf(draft).spec.template, replicaSetOf(live).spec.template, features),
      validate: validateUpdate,
    },
    decode: { defaults: (draft) => podTemplateDefaults(replicaSetOf(draft).spec.template) },
    create: {
      prepare: (draft, { features }) =>
        dropDisabledTemplateFields(replicaSetOf(draft).spec.template, undefined, features),
      validate: (object, context) => specProblems(replicaSetOf(object).spec, { context }),
    },
  },
  subresources: {
    scale: scaleSubresource(),
    status: statusSubresource({ prepare: dropGatedStatus, validate: statusProblems }),
  },
  columns: [
    nameColumn,
    countColumn('Desired', 'How many pods are wanted.', (object) => replicaSetOf(object).spec.replicas),
    countColumn('Current', 'How many pods there are.', (object) => replicaSetOf(object).status.replicas),
    countColumn('Ready', 'How many of the pods are ready.', (object) => replicaSetOf(object).status.readyReplicas ?? 0),
    ageColumn,
    ...containerColumns((object) => replicaSetOf(object).spec.template.spec),
    selectorColumn((object) => replicaSetOf(object).spec.selector),
  ],
});

function replicaSetOf(object: ApiObject | DraftObject): ReplicaSet {
  return object as unknown as ReplicaSet;
}

function specProblems(
  spec: ReplicaSetSpec,
  about: { readonly context: WriteContext; readonly live?: ReplicaSetSpec },
): FieldError[] {
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    // The reference server calls it a deployment here.
    ...selectorProblems('spec.selector', spec.selector, 'deployment'),
    ...replicaTemplateProblems('spec', spec, about),
  ];
}

/** An update is judged as an object and once more as a change. */
function validateUpdate(
  next: ApiObject,
  live: ApiObject,
  context: WriteContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const spec = replicaSetOf(next).spec;
  const liveSpec = replicaSetOf(live).spec;
  const problems = specProblems(spec, { context, live: liveSpec });
  return [
    ...metadata.forCreate(),
    ...problems,
    ...metadata.forUpdate(),
    ...problems,
    ...selectorUpdateProblems(spec, liveSpec),
  ];
}

const TERMINATING = 'DeploymentReplicaSetTerminatingReplicas';

function dropGatedStatus(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  if (features.enabled(TERMINATING) || replicaSetOf(live).status.terminatingReplicas !== undefined) return;
  delete replicaSetOf(draft).status.terminatingReplicas;
}

function statusProblems(next: ApiObject): readonly FieldError[] {
  const { status } = replicaSetOf(next);
  const { readyReplicas = 0, availableReplicas = 0 } = status;
  const problems = [
    ...nonNegativeFields('status', status, [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
      'terminatingReplicas',
    ]),
    ...atMost(status, status.replicas, ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']),
  ];
  if (availableReplicas > readyReplicas) {
    problems.push(invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'));
  }
  return problems;
}
