/**
 * The ReplicaSet kind: a number of identical pods.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { scaleSubresource } from '../../autoscaling/v1/scale.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ReplicaSetKind,
  type ReplicaSetObject,
  type ReplicaSetSpec,
  replicaSetBase,
} from '../../generated/apps-v1.js';
import type { HookContext, MetadataErrors } from '../../kind.js';
import { ageColumn, containerColumns, countColumn, nameColumn, selectorColumn } from '../../shared/common-columns.js';
import { nonNegative } from '../../shared/field-rules.js';
import { podNameWarnings, specGeneration, statusSubresource } from '../../shared/strategies.js';
import {
  replicaStatusProblems,
  replicaTemplateProblems,
  selectorProblems,
  selectorUpdateProblems,
  templateWarnings,
} from './workload.js';

export interface ReplicaSet extends ReplicaSetObject {}

export const ReplicaSet: ReplicaSetKind<ReplicaSet> = defineBuiltIn({
  ...replicaSetBase,
  names: { shortNames: ['rs'], categories: ['all'] },
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
      metadataValidation: 'inValidate',
      prepare: (draft, live, { features }) =>
        dropDisabledTemplateFields(draft.spec.template, live.spec.template, features),
      validate: validateUpdate,
    },
    decode: { defaults: (draft) => podTemplateDefaults(draft.spec.template) },
    create: {
      prepare: (draft, { features }) => dropDisabledTemplateFields(draft.spec.template, undefined, features),
      validate: (object, context) => specProblems(object.spec, { context }),
    },
  },
  subresources: {
    scale: scaleSubresource(),
    status: statusSubresource({ prepare: dropGatedStatus, validate: ({ status }) => replicaStatusProblems(status) }),
  },
  columns: [
    nameColumn,
    countColumn('Desired', 'The number of desired pods.', (object) => object.spec.replicas),
    countColumn('Current', 'The number of pods that exist.', (object) => object.status.replicas),
    countColumn('Ready', 'The number of ready pods.', (object) => object.status.readyReplicas ?? 0),
    ageColumn,
    ...containerColumns<ReplicaSet>((object) => object.spec.template.spec),
    selectorColumn((object) => object.spec.selector),
  ],
});

function specProblems(
  spec: ReplicaSetSpec,
  options: { readonly context: HookContext; readonly live?: ReplicaSetSpec },
): FieldError[] {
  return [
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    // The reference server's message says "deployment" here.
    ...selectorProblems('spec.selector', spec.selector, 'deployment'),
    ...replicaTemplateProblems('spec', spec, options),
  ];
}

/** The reference server validates an update first as a new object and then as an update. */
function validateUpdate(
  next: ReplicaSet,
  live: ReplicaSet,
  context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const problems = specProblems(next.spec, { context, live: live.spec });
  return [
    ...metadata.forCreate(),
    ...problems,
    ...metadata.forUpdate(),
    ...problems,
    ...selectorUpdateProblems(next.spec, live.spec),
  ];
}

const TERMINATING = 'DeploymentReplicaSetTerminatingReplicas';

function dropGatedStatus(draft: ReplicaSet, live: ReplicaSet, { features }: HookContext): void {
  if (features.enabled(TERMINATING) || live.status.terminatingReplicas !== undefined) return;
  delete draft.status.terminatingReplicas;
}
