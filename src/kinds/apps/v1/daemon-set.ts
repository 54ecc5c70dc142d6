/**
 * The DaemonSet kind: one pod per matching node.
 */

import { childPath, type FieldError, invalid, notSupported, required } from '../../../meta/field-error.js';
import { dumpIntOrString } from '../../../meta/int-or-string.js';
import { labelSelectorFrom, labelSelectorObjectErrors, printLabelSelector } from '../../../meta/labels.js';
import type { DraftObject } from '../../../meta/object.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import {
  dropDisabledTemplateFields,
  podTemplateDefaults,
  podTemplateProblems,
} from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type DaemonSetKind,
  type DaemonSetObject,
  type DaemonSetSpec,
  type DaemonSetUpdateStrategy,
  daemonSetBase,
  type RollingUpdateDaemonSet,
} from '../../generated/apps-v1.js';
import type { HookContext, MetadataErrors } from '../../kind.js';
import {
  ageColumn,
  containerColumns,
  countColumn,
  NONE,
  nameColumn,
  selectorColumn,
  textColumn,
} from '../../shared/common-columns.js';
import { nonNegative, nonNegativeFields } from '../../shared/field-rules.js';
import { goSyntaxLabelSelector } from '../../shared/go-syntax.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { annotationInteger, annotationText, integerProblem, setAnnotationInteger } from './annotation-field.js';
import {
  amountOf,
  collisionProblems,
  countOrPercentProblems,
  isEmptySelector,
  isValidSelector,
  mismatchProblems,
  overHundredProblems,
  type SelectorAndTemplate,
  selectorUpdateProblems,
  templateRules,
  templateWarnings,
  terminatingPodProblems,
} from './workload.js';

export interface DaemonSet extends DaemonSetObject {}

/** The generation of the template. The server sets it and ignores values of clients. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const DaemonSet: DaemonSetKind<DaemonSet> = defineBuiltIn({
  ...daemonSetBase,
  names: { shortNames: ['ds'], categories: ['all'] },
  fieldAnnotations: [TEMPLATE_GENERATION],
  strategy: {
    write: { separateStatus: true, generation: specGeneration, warnings: templateWarnings },
    update: { metadataValidation: 'inValidate', prepare: prepareForUpdate, validate: validateUpdate },
    decode: { decodeError: decodeProblem, defaults },
    create: {
      prepare: (draft, { features }) => {
        dropDisabledTemplateFields(draft.spec.template, undefined, features);
        const generation = templateGeneration(draft);
        setTemplateGeneration(draft, generation < 1n ? 1n : generation);
      },
      validate: (object, context) => specProblems(object.spec, { context }),
    },
  },
  subresources: {
    status: statusSubresource({
      prepare: (draft, live) => setTemplateGeneration(draft, templateGeneration(live)),
      validate: statusProblems,
    }),
  },
  columns: [
    nameColumn,
    countColumn(
      'Desired',
      'The number of nodes that should run a pod.',
      (object) => object.status.desiredNumberScheduled,
    ),
    countColumn(
      'Current',
      'The number of these nodes that have a pod.',
      (object) => object.status.currentNumberScheduled,
    ),
    countColumn('Ready', 'The number of these nodes that have a ready pod.', (object) => object.status.numberReady),
    countColumn(
      'Up-to-date',
      'The number of nodes that have a pod with the current template.',
      (object) => object.status.updatedNumberScheduled ?? 0,
    ),
    countColumn(
      'Available',
      'The number of these nodes that have an available pod.',
      (object) => object.status.numberAvailable ?? 0,
    ),
    textColumn('Node Selector', 'The label selector of the nodes that run its pods.', (object) => {
      const { nodeSelector = {} } = object.spec.template.spec;
      return printLabelSelector(labelSelectorFrom(nodeSelector)) || NONE;
    }),
    ageColumn,
    ...containerColumns<DaemonSet>((object) => object.spec.template.spec),
    selectorColumn((object) => object.spec.selector),
  ],
});

function defaults(draft: DraftObject & DaemonSet): void {
  const { spec } = draft;
  setTemplateGeneration(draft, templateGeneration(draft));
  podTemplateDefaults(spec.template);
  const { updateStrategy } = spec;
  const isRolling = updateStrategy.type === 'RollingUpdate';
  if (isRolling) updateStrategy.rollingUpdate ??= { maxSurge: 0 };
  if (updateStrategy.rollingUpdate !== undefined) updateStrategy.rollingUpdate.maxUnavailable ??= isRolling ? 1 : 0;
}

function decodeProblem(draft: DaemonSet): string | undefined {
  const text = annotationText(draft, TEMPLATE_GENERATION);
  return text === undefined ? undefined : integerProblem(text);
}

function templateGeneration(object: DaemonSet | DraftObject): bigint {
  return annotationInteger(object, TEMPLATE_GENERATION) ?? 0n;
}

function setTemplateGeneration(draft: DraftObject, generation: bigint): void {
  setAnnotationInteger(draft, TEMPLATE_GENERATION, generation);
}

function prepareForUpdate(draft: DraftObject & DaemonSet, live: DaemonSet, { features }: HookContext): void {
  dropDisabledTemplateFields(draft.spec.template, live.spec.template, features);
  const changed = !deepEqual(draft.spec.template, live.spec.template);
  setTemplateGeneration(draft, templateGeneration(live) + (changed ? 1n : 0n));
}

/** The reference server validates an update first as a new object and then as an update. */
function validateUpdate(
  next: DaemonSet,
  live: DaemonSet,
  context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const { spec } = next;
  const problems = specProblems(spec, { context, live: live.spec });
  return [
    ...metadata.forCreate(),
    ...problems,
    ...metadata.forUpdate(),
    ...problems,
    ...selectorUpdateProblems(spec, live.spec),
  ];
}

function specProblems(
  spec: DaemonSetSpec,
  options: { readonly context: HookContext; readonly live?: DaemonSetSpec },
): FieldError[] {
  return [
    ...selectionProblems(spec),
    ...podTemplateProblems('spec.template', spec.template, templateRules(options)),
    ...terminatingPodProblems('spec.template', spec.template, 'DaemonSet'),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...strategyProblems('spec.updateStrategy', spec.updateStrategy),
    ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
  ];
}

/** Unlike in other workloads, an absent selector is reported only as a mismatch with the labels. */
function selectionProblems(spec: SelectorAndTemplate): FieldError[] {
  const { selector } = spec;
  const problems = selector === undefined ? [] : labelSelectorObjectErrors(selector, 'spec.selector');
  if (isValidSelector(selector)) append(problems, mismatchProblems('spec', spec));
  if (selector !== undefined && isEmptySelector(selector)) {
    problems.push(invalid('spec.selector', goSyntaxLabelSelector(selector), 'empty selector is invalid for daemonset'));
  }
  return problems;
}

function strategyProblems(path: string, strategy: DaemonSetUpdateStrategy): FieldError[] {
  switch (strategy.type) {
    case 'OnDelete':
      return [];
    case 'RollingUpdate':
      if (strategy.rollingUpdate === undefined) return [required(childPath(path, 'rollingUpdate'))];
      return rollingUpdateProblems(childPath(path, 'rollingUpdate'), strategy.rollingUpdate);
    default:
      return [notSupported(path, dumpStrategy(strategy), ['RollingUpdate', 'OnDelete'])];
  }
}

function rollingUpdateProblems(path: string, { maxUnavailable = 0, maxSurge }: RollingUpdateDaemonSet): FieldError[] {
  const unavailablePath = childPath(path, 'maxUnavailable');
  const surgePath = childPath(path, 'maxSurge');
  const problems = [
    ...countOrPercentProblems(unavailablePath, maxUnavailable),
    ...countOrPercentProblems(surgePath, maxSurge),
    ...overHundredProblems(unavailablePath, maxUnavailable),
    ...overHundredProblems(surgePath, maxSurge),
  ];
  const unavailable = amountOf(maxUnavailable) !== 0;
  const surge = amountOf(maxSurge) !== 0;
  if (unavailable && surge) {
    problems.push(invalid(surgePath, dumpIntOrString(maxSurge), 'may not be set when maxUnavailable is non-zero'));
  }
  if (!unavailable && !surge) problems.push(required(unavailablePath, 'cannot be 0 when maxSurge is 0'));
  return problems;
}

function dumpStrategy({ type: name, rollingUpdate }: { readonly type: string; readonly rollingUpdate?: unknown }) {
  // Go prints pointers as addresses.
  const address = rollingUpdate === undefined ? 'nil' : '0xc000000000';
  return verbatim(
    `apps.DaemonSetUpdateStrategy{Type:${quote(name)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(${address})}`,
  );
}

function statusProblems(next: DaemonSet, live: DaemonSet): readonly FieldError[] {
  const { status } = next;
  return [
    ...nonNegativeFields('status', status, [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]),
    ...collisionProblems(status.collisionCount, live.status.collisionCount),
  ];
}
