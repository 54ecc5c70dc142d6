import { childPath, type FieldError, invalid, notSupported, required } from '../../../meta/field-error.js';
import { dumpIntOrString } from '../../../meta/int-or-string.js';
import { labelSelectorFrom, labelSelectorObjectErrors, printLabelSelector } from '../../../meta/labels.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { deepEqual } from '../../../util/json.js';
import {
  dropDisabledTemplateFields,
  podTemplateDefaults,
  podTemplateProblems,
} from '../../core/v1/pod-spec/pod-template.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type DaemonSetBody,
  type DaemonSetBodyInput,
  type DaemonSetSpec,
  type DaemonSetUpdateStrategy,
  daemonSetBody,
  type RollingUpdateDaemonSet,
} from '../../generated/apps-v1.js';
import type { Kind, MetadataErrors, WriteContext } from '../../kind.js';
import {
  ageColumn,
  containerColumns,
  countColumn,
  NONE,
  nameColumn,
  selectorColumn,
  textColumn,
} from '../../shared/common-columns.js';
import { goSyntaxLabelSelector } from '../../shared/go-syntax.js';
import { nonNegative } from '../../shared/number-rules.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import { annotationInteger, annotationText, integerProblem, setAnnotationInteger } from './annotation-field.js';
import {
  amountOf,
  collisionProblems,
  countOrPercentProblems,
  isEmptySelector,
  isReadable,
  lastingPodProblems,
  mismatchProblems,
  nonNegativeFields,
  overHundredProblems,
  type Selecting,
  selectorUpdateProblems,
  templateRules,
  templateWarnings,
} from './workload.js';

export interface DaemonSet extends ObjectBase, DaemonSetBody {}
export interface DaemonSetInput extends InputBase, DaemonSetBodyInput {}

/** Counts the templates a DaemonSet has had. It is the server's own, whatever a client writes there. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

export const DaemonSet: Kind<DaemonSet, DaemonSetInput, 'Namespaced', 'status'> = defineBuiltIn({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  scope: 'Namespaced',
  names: { shortNames: ['ds'], categories: ['all'] },
  fieldAnnotations: [TEMPLATE_GENERATION],
  body: daemonSetBody,
  strategy: {
    write: { separateStatus: true, generation: specGeneration, warnings: templateWarnings },
    update: { metadata: 'placed', prepare: prepareForUpdate, validate: validateUpdate },
    decode: { problem: unreadable, defaults },
    create: {
      prepare: (draft, { features }) => {
        dropDisabledTemplateFields(daemonSetOf(draft).spec.template, undefined, features);
        const generation = templateGeneration(draft);
        setTemplateGeneration(draft, generation < 1n ? 1n : generation);
      },
      validate: (object, context) => specProblems(daemonSetOf(object).spec, { context }),
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
      'How many nodes need a pod of it.',
      (object) => daemonSetOf(object).status.desiredNumberScheduled,
    ),
    countColumn(
      'Current',
      'How many of these nodes have one.',
      (object) => daemonSetOf(object).status.currentNumberScheduled,
    ),
    countColumn(
      'Ready',
      'How many of these nodes have one that is ready.',
      (object) => daemonSetOf(object).status.numberReady,
    ),
    countColumn(
      'Up-to-date',
      'How many nodes have one from the newest template.',
      (object) => daemonSetOf(object).status.updatedNumberScheduled ?? 0,
    ),
    countColumn(
      'Available',
      'How many of these nodes have had one ready long enough.',
      (object) => daemonSetOf(object).status.numberAvailable ?? 0,
    ),
    textColumn('Node Selector', 'The labels of the nodes that get a pod.', (object) => {
      const { nodeSelector = {} } = daemonSetOf(object).spec.template.spec;
      return printLabelSelector(labelSelectorFrom(nodeSelector)) || NONE;
    }),
    ageColumn,
    ...containerColumns((object) => daemonSetOf(object).spec.template.spec),
    selectorColumn((object) => daemonSetOf(object).spec.selector),
  ],
});

function daemonSetOf(object: ApiObject | DraftObject): DaemonSet {
  return object as unknown as DaemonSet;
}

function defaults(draft: DraftObject): void {
  const { spec } = daemonSetOf(draft);
  setTemplateGeneration(draft, templateGeneration(draft));
  podTemplateDefaults(spec.template);
  const { updateStrategy } = spec;
  if (updateStrategy.type === 'RollingUpdate') updateStrategy.rollingUpdate ??= { maxUnavailable: 1, maxSurge: 0 };
}

function unreadable(draft: DraftObject): string | undefined {
  const text = annotationText(draft, TEMPLATE_GENERATION);
  return text === undefined ? undefined : integerProblem(text);
}

function templateGeneration(object: ApiObject | DraftObject): bigint {
  return annotationInteger(object, TEMPLATE_GENERATION) ?? 0n;
}

function setTemplateGeneration(draft: DraftObject, generation: bigint): void {
  setAnnotationInteger(draft, TEMPLATE_GENERATION, generation);
}

function prepareForUpdate(draft: DraftObject, live: ApiObject, { features }: WriteContext): void {
  dropDisabledTemplateFields(daemonSetOf(draft).spec.template, daemonSetOf(live).spec.template, features);
  const changed = !deepEqual(daemonSetOf(draft).spec.template, daemonSetOf(live).spec.template);
  setTemplateGeneration(draft, templateGeneration(live) + (changed ? 1n : 0n));
}

/** An update is judged as an object and once more as a change. */
function validateUpdate(
  next: ApiObject,
  live: ApiObject,
  context: WriteContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const { spec } = daemonSetOf(next);
  const problems = specProblems(spec, { context, live: daemonSetOf(live).spec });
  return [
    ...metadata.forCreate(),
    ...problems,
    ...metadata.forUpdate(),
    ...problems,
    ...selectorUpdateProblems(spec, daemonSetOf(live).spec),
  ];
}

function specProblems(
  spec: DaemonSetSpec,
  about: { readonly context: WriteContext; readonly live?: DaemonSetSpec },
): FieldError[] {
  return [
    ...selectionProblems(spec),
    ...podTemplateProblems('spec.template', spec.template, templateRules(about)),
    ...lastingPodProblems('spec.template', spec.template, 'DaemonSet'),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...strategyProblems('spec.updateStrategy', spec.updateStrategy),
    ...nonNegative('spec.revisionHistoryLimit', spec.revisionHistoryLimit),
  ];
}

/** Unlike other workloads, one without a selector is only told that its labels do not match. */
function selectionProblems(spec: Selecting): FieldError[] {
  const { selector } = spec;
  const problems = selector === undefined ? [] : labelSelectorObjectErrors(selector, 'spec.selector');
  if (isReadable(selector)) problems.push(...mismatchProblems('spec', spec));
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

function rollingUpdateProblems(path: string, { maxUnavailable, maxSurge }: RollingUpdateDaemonSet): FieldError[] {
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
  // What is behind a pointer does not show; its address does, and means nothing.
  const address = rollingUpdate === undefined ? 'nil' : '0xc000000000';
  return verbatim(
    `apps.DaemonSetUpdateStrategy{Type:${quote(name)}, RollingUpdate:(*apps.RollingUpdateDaemonSet)(${address})}`,
  );
}

function statusProblems(next: ApiObject, live: ApiObject): readonly FieldError[] {
  const { status } = daemonSetOf(next);
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
    ...collisionProblems(status.collisionCount, daemonSetOf(live).status.collisionCount),
  ];
}
