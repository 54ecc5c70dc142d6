/**
 * The Deployment kind: replicas of a pod, updated by creating ReplicaSets.
 */

import { childPath, type FieldError, forbidden, invalid, notSupported, required } from '../../../meta/field-error.js';
import { dumpIntOrString } from '../../../meta/int-or-string.js';
import type { DraftObject } from '../../../meta/object.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import { scaleSubresource } from '../../autoscaling/v1/scale.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type DeploymentKind,
  type DeploymentObject,
  type DeploymentSpec,
  type DeploymentStrategy,
  deploymentBase,
  type RollingUpdateDeployment,
} from '../../generated/apps-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, containerColumns, nameColumn, selectorColumn, textColumn } from '../../shared/common-columns.js';
import { nonNegative, nonNegativeFields } from '../../shared/field-rules.js';
import { podNameWarnings, statusSubresource } from '../../shared/strategies.js';
import { annotationInteger, annotationText, integerProblem, setAnnotationInteger } from './annotation-field.js';
import {
  amountOf,
  atMost,
  collisionProblems,
  countOrPercentProblems,
  overHundredProblems,
  replicaTemplateProblems,
  selectorProblems,
  selectorUpdateProblems,
  templateWarnings,
} from './workload.js';

export interface Deployment extends DeploymentObject {}

/** The revision of a rollback request. Status updates do not change it. */
const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

export const Deployment: DeploymentKind<Deployment> = defineBuiltIn({
  ...deploymentBase,
  names: { shortNames: ['deploy'], categories: ['all'] },
  fieldAnnotations: [ROLLBACK_TO],
  strategy: {
    write: {
      separateStatus: true,
      // prepareForUpdate increases it; status updates do not.
      generation: () => false,
      warnings: (object, live, context) => [
        ...podNameWarnings(object, live),
        ...templateWarnings(object, live, context),
      ],
    },
    decode: { decodeError: decodeProblem, defaults },
    create: {
      prepare: (draft, { features }) => dropDisabledTemplateFields(draft.spec.template, undefined, features),
      validate: (object, context) => specProblems(object, { context }),
    },
    update: {
      prepare: prepareForUpdate,
      validate: (next, live, context) => [
        ...specProblems(next, { context, live: live.spec }),
        ...selectorUpdateProblems(next.spec, live.spec),
      ],
    },
  },
  subresources: {
    scale: scaleSubresource(),
    status: statusSubresource({ metadata: ['labels'], prepare: prepareStatus, validate: statusProblems }),
  },
  columns: [
    nameColumn,
    textColumn('Ready', 'The number of ready pods and of desired pods.', (object) => {
      const { spec, status } = object;
      return `${status.readyReplicas ?? 0}/${spec.replicas}`;
    }),
    textColumn(
      'Up-to-date',
      'The number of pods with the current template.',
      (object) => object.status.updatedReplicas ?? 0,
    ),
    textColumn('Available', 'The number of available pods.', (object) => object.status.availableReplicas ?? 0),
    ageColumn,
    ...containerColumns<Deployment>((object) => object.spec.template.spec),
    selectorColumn((object) => object.spec.selector),
  ],
});

function decodeProblem(draft: Deployment): string | undefined {
  const text = annotationText(draft, ROLLBACK_TO) ?? '';
  const why = text === '' ? undefined : integerProblem(text);
  return why === undefined ? undefined : `failed to parse annotation[${ROLLBACK_TO}]=${text} as int64: ${why}`;
}

function rollbackOf(object: Deployment): bigint | undefined {
  return annotationInteger(object, ROLLBACK_TO);
}

function defaults(draft: DraftObject & Deployment): void {
  const { spec } = draft;
  setAnnotationInteger(draft, ROLLBACK_TO, rollbackOf(draft));
  podTemplateDefaults(spec.template);
  const { strategy } = spec;
  if (strategy.type === 'RollingUpdate') strategy.rollingUpdate ??= { maxUnavailable: '25%', maxSurge: '25%' };
}

function prepareForUpdate(draft: DraftObject & Deployment, live: Deployment, { features }: HookContext): void {
  dropDisabledTemplateFields(draft.spec.template, live.spec.template, features);
  const before = live.metadata;
  // Annotations count as a change, because they are copied to the ReplicaSets.
  if (deepEqual(draft['spec'], live['spec']) && deepEqual(draft.metadata.annotations ?? {}, before.annotations ?? {})) {
    return;
  }
  draft.metadata.generation = (before.generation ?? 0) + 1;
}

function specProblems(
  object: Deployment,
  options: { readonly context: HookContext; readonly live?: DeploymentSpec },
): FieldError[] {
  const { spec } = object;
  const rollback = rollbackOf(object) ?? 0n;
  const { minReadySeconds = 0, progressDeadlineSeconds } = spec;
  const problems = [
    ...nonNegative('spec.replicas', spec.replicas),
    ...selectorProblems('spec.selector', spec.selector, 'deployment'),
    ...replicaTemplateProblems('spec', spec, options),
    ...strategyProblems('spec.strategy', spec.strategy),
    ...nonNegative('spec.minReadySeconds', minReadySeconds),
    ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
    ...(rollback < 0n ? [invalid('spec.rollback.version', rollback, 'must be greater than or equal to 0')] : []),
    ...nonNegative('spec.progressDeadlineSeconds', progressDeadlineSeconds),
  ];
  if (progressDeadlineSeconds <= minReadySeconds) {
    const detail = 'must be greater than minReadySeconds';
    problems.push(invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, detail));
  }
  return problems;
}

function strategyProblems(path: string, strategy: DeploymentStrategy): FieldError[] {
  const rolling = childPath(path, 'rollingUpdate');
  switch (strategy.type) {
    case 'Recreate':
      if (strategy.rollingUpdate === undefined) return [];
      return [forbidden(rolling, "may not be specified when strategy `type` is 'Recreate'")];
    case 'RollingUpdate':
      if (strategy.rollingUpdate === undefined) {
        return [required(rolling, 'this should be defaulted and never be nil')];
      }
      return rollingUpdateProblems(rolling, strategy.rollingUpdate);
    default:
      return [notSupported(path, dumpStrategy(strategy), ['Recreate', 'RollingUpdate'])];
  }
}

function rollingUpdateProblems(path: string, { maxUnavailable, maxSurge }: RollingUpdateDeployment): FieldError[] {
  const unavailable = childPath(path, 'maxUnavailable');
  const problems = [
    ...countOrPercentProblems(unavailable, maxUnavailable),
    ...countOrPercentProblems(childPath(path, 'maxSurge'), maxSurge),
  ];
  if (amountOf(maxUnavailable) === 0 && amountOf(maxSurge) === 0) {
    problems.push(invalid(unavailable, dumpIntOrString(maxUnavailable), 'may not be 0 when `maxSurge` is 0'));
  }
  return [...problems, ...overHundredProblems(unavailable, maxUnavailable)];
}

function dumpStrategy({ type: name, rollingUpdate }: { readonly type: string; readonly rollingUpdate?: unknown }) {
  // Go prints pointers as addresses.
  const address = rollingUpdate === undefined ? 'nil' : '0xc000000000';
  return verbatim(
    `apps.DeploymentStrategy{Type:${quote(name)}, RollingUpdate:(*apps.RollingUpdateDeployment)(${address})}`,
  );
}

const TERMINATING = 'DeploymentReplicaSetTerminatingReplicas';

function prepareStatus(draft: DraftObject & Deployment, live: Deployment, { features }: HookContext): void {
  setAnnotationInteger(draft, ROLLBACK_TO, rollbackOf(live));
  if (features.enabled(TERMINATING) || live.status.terminatingReplicas !== undefined) return;
  delete draft.status.terminatingReplicas;
}

function statusProblems(next: Deployment, live: Deployment): readonly FieldError[] {
  const { status } = next;
  const { readyReplicas = 0, availableReplicas = 0 } = status;
  const problems = [
    ...nonNegativeFields('status', status, [
      'observedGeneration',
      'replicas',
      'updatedReplicas',
      'readyReplicas',
      'availableReplicas',
      'unavailableReplicas',
      'terminatingReplicas',
      'collisionCount',
    ]),
    ...atMost(status, status.replicas ?? 0, ['updatedReplicas', 'readyReplicas', 'availableReplicas']),
  ];
  if (availableReplicas > readyReplicas) {
    problems.push(invalid('status.availableReplicas', availableReplicas, 'cannot be greater than readyReplicas'));
  }
  return [...problems, ...collisionProblems(status.collisionCount, live.status.collisionCount)];
}
