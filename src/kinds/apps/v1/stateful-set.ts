/**
 * The StatefulSet kind: pods with stable names and storage.
 */

import { childPath, type FieldError, forbidden, invalid, keyPath, notSupported } from '../../../meta/field-error.js';
import { dumpIntOrString, type IntOrString } from '../../../meta/int-or-string.js';
import { labelErrors } from '../../../meta/labels.js';
import { dnsLabelProblems, maskTrailingDash } from '../../../meta/names.js';
import { quote, verbatim } from '../../../text/go/go-text.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { scaleSubresource } from '../../autoscaling/v1/scale.js';
import { claimSpecDefaults } from '../../core/v1/claim-spec-rules.js';
import { podAnnotationsProblems } from '../../core/v1/pod-spec/annotations.js';
import { dropDisabledTemplateFields, podTemplateDefaults } from '../../core/v1/pod-spec/pod-template.js';
import { claimSpecWarnings } from '../../core/v1/pod-spec/volume-warnings.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type RollingUpdateStatefulSetStrategy,
  type StatefulSetKind,
  type StatefulSetObject,
  type StatefulSetSpec,
  type StatefulSetUpdateStrategy,
  statefulSetBase,
} from '../../generated/apps-v1.js';
import type { HookContext, MetadataErrors, NameValidator } from '../../kind.js';
import { annotationErrors } from '../../shared/annotations.js';
import { ageColumn, containerColumns, nameColumn, textColumn } from '../../shared/common-columns.js';
import { nonNegative, nonNegativeFields } from '../../shared/field-rules.js';
import { goSyntaxLabelSelector } from '../../shared/go-syntax.js';
import { specGeneration, statusSubresource } from '../../shared/strategies.js';
import {
  amountOf,
  atMost,
  collisionProblems,
  countOrPercentProblems,
  isValidSelector,
  mismatchProblems,
  overHundredProblems,
  selectorProblems,
  templateWarnings,
  terminatingPodProblems,
} from './workload.js';

export interface StatefulSet extends StatefulSetObject {}

/** Its pods are named after it, and their names are names of hosts. */
const labelName: NameValidator = (name, prefix) => dnsLabelProblems(prefix ? maskTrailingDash(name) : name);

export const StatefulSet: StatefulSetKind<StatefulSet> = defineBuiltIn({
  ...statefulSetBase,
  names: { shortNames: ['sts'], categories: ['all'] },
  strategy: {
    name: { validate: labelName },
    write: { separateStatus: true, generation: specGeneration, warnings },
    decode: { defaults },
    create: {
      prepare: (draft, context) => dropGatedFields(draft, undefined, context),
      validate: (object, context) => specProblems(object.spec, { context, isNew: true }),
    },
    update: {
      prepare: dropGatedFields,
      validate: (next, live, context) => [
        ...specProblems(next.spec, { context, isNew: false }),
        ...fixedFieldProblems(next.spec, live.spec),
      ],
    },
  },
  subresources: {
    scale: scaleSubresource(),
    status: statusSubresource({ metadataValidation: 'inValidate', validate: statusProblems }),
  },
  columns: [
    nameColumn,
    textColumn('Ready', 'The number of ready pods and of desired pods.', (object) => {
      const { spec, status } = object;
      return `${status.readyReplicas ?? 0}/${spec.replicas}`;
    }),
    ageColumn,
    ...containerColumns<StatefulSet>((object) => object.spec.template.spec),
  ],
});

const MAX_UNAVAILABLE = 'MaxUnavailableStatefulSet';

function defaults(draft: StatefulSet, { features }: HookContext): void {
  const { spec } = draft;
  podTemplateDefaults(spec.template);
  if (spec.volumeClaimTemplates !== undefined) {
    // Overwrites the type that the client sent.
    const claims = spec.volumeClaimTemplates;
    spec.volumeClaimTemplates = claims.map(({ kind: _kind, apiVersion: _apiVersion, ...claim }) => ({
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      ...claim,
    }));
    for (const claim of spec.volumeClaimTemplates) claimSpecDefaults(claim.spec);
  }
  const { updateStrategy } = spec;
  // The partition is defaulted only if the type is absent.
  if (!updateStrategy.type) {
    updateStrategy.type = 'RollingUpdate';
    updateStrategy.rollingUpdate ??= { partition: 0 };
  }
  const { type, rollingUpdate } = updateStrategy;
  if (type === 'RollingUpdate' && rollingUpdate !== undefined && features.enabled(MAX_UNAVAILABLE)) {
    rollingUpdate.maxUnavailable ??= 1;
  }
}

function dropGatedFields(draft: StatefulSet, live: StatefulSet | undefined, { features }: HookContext): void {
  const { spec } = draft;
  dropDisabledTemplateFields(spec.template, live?.spec.template, features);
  const { rollingUpdate } = spec.updateStrategy;
  if (rollingUpdate === undefined || features.enabled(MAX_UNAVAILABLE)) return;
  const before = live?.spec.updateStrategy.rollingUpdate;
  if (before?.maxUnavailable === undefined) delete rollingUpdate.maxUnavailable;
}

function specProblems(
  spec: StatefulSetSpec,
  { context, isNew }: { readonly context: HookContext; readonly isNew: boolean },
): FieldError[] {
  return [
    ...policyProblems(spec),
    ...updateStrategyProblems('spec.updateStrategy', spec.updateStrategy),
    ...retentionProblems(spec),
    ...nonNegative('spec.replicas', spec.replicas),
    ...nonNegative('spec.minReadySeconds', spec.minReadySeconds),
    ...nonNegative('spec.ordinals.start', spec.ordinals?.start),
    // The name is immutable, and older releases accepted any name.
    ...(isNew ? serviceNameProblems(spec.serviceName) : []),
    ...selectorProblems('spec.selector', spec.selector, 'statefulset'),
    ...templateProblems(spec, context),
    ...terminatingPodProblems('spec.template', spec.template, 'StatefulSet'),
  ];
}

function serviceNameProblems(name: string | undefined): FieldError[] {
  return name ? dnsLabelProblems(name).map((detail) => invalid('spec.serviceName', name, detail)) : [];
}

function policyProblems({ podManagementPolicy }: StatefulSetSpec): FieldError[] {
  if (podManagementPolicy === 'OrderedReady' || podManagementPolicy === 'Parallel') return [];
  return [invalid('spec.podManagementPolicy', podManagementPolicy, "must be 'OrderedReady' or 'Parallel'")];
}

function updateStrategyProblems(path: string, strategy: StatefulSetUpdateStrategy): FieldError[] {
  const rolling = childPath(path, 'rollingUpdate');
  const { rollingUpdate } = strategy;
  switch (strategy.type) {
    case 'OnDelete':
      if (rollingUpdate === undefined) return [];
      return [invalid(rolling, dumpRollingUpdate(rollingUpdate), "only allowed for updateStrategy 'RollingUpdate'")];
    case 'RollingUpdate':
      return rollingUpdate === undefined ? [] : rollingUpdateProblems(rolling, rollingUpdate);
    default:
      return [invalid(path, dumpStrategy(strategy), "must be 'RollingUpdate' or 'OnDelete'")];
  }
}

function rollingUpdateProblems(path: string, rollingUpdate: RollingUpdateStatefulSetStrategy): FieldError[] {
  const { partition, maxUnavailable } = rollingUpdate;
  const problems = nonNegative(childPath(path, 'partition'), partition);
  if (maxUnavailable === undefined) return problems;
  const unavailable = childPath(path, 'maxUnavailable');
  append(problems, countOrPercentProblems(unavailable, maxUnavailable));
  if (amountOf(maxUnavailable) === 0) {
    problems.push(invalid(unavailable, dumpIntOrString(maxUnavailable), 'cannot be 0'));
  }
  return [...problems, ...overHundredProblems(unavailable, maxUnavailable)];
}

function retentionProblems({ persistentVolumeClaimRetentionPolicy: policy }: StatefulSetSpec): FieldError[] {
  return (['whenDeleted', 'whenScaled'] as const).flatMap((when) => {
    const value = policy[when];
    if (value === 'Retain' || value === 'Delete') return [];
    return [notSupported(`spec.persistentVolumeClaimRetentionPolicy.${when}`, value, ['Retain', 'Delete'])];
  });
}

/** Does not validate the pod spec: its volumes also come from volumeClaimTemplates. */
function templateProblems(spec: StatefulSetSpec, { dialect }: HookContext): FieldError[] {
  const selector: StatefulSetSpec['selector'] | undefined = spec.selector;
  if (!isValidSelector(selector)) return [invalid('spec.selector', goSyntaxLabelSelector(selector), '')];
  const { metadata, spec: podSpec } = spec.template;
  const { labels = {}, annotations = {} } = metadata;
  // The reference server leaves `metadata` out of these paths.
  const annotationsPath = 'spec.template.annotations';
  return [
    ...mismatchProblems('spec', spec),
    ...labelErrors(labels, 'spec.template.labels'),
    ...annotationErrors(annotations, annotationsPath),
    ...podAnnotationsProblems(annotationsPath, annotations, { spec: podSpec, dialect }),
  ];
}

function warnings(object: StatefulSet, live: StatefulSet | undefined, context: HookContext): string[] {
  const { volumeClaimTemplates = [], revisionHistoryLimit } = object.spec;
  // The reference server omits the field in warnings about a new object, and writes "Spec" in those about an update.
  const claimsAt = (index: number) => {
    const path = keyPath('spec.volumeClaimTemplates', index);
    return live === undefined ? path : childPath(path, 'Spec');
  };
  const all = [
    ...templateWarnings(object, live, context),
    ...volumeClaimTemplates.flatMap(({ spec }, index) => claimSpecWarnings(claimsAt(index), spec)),
  ];
  if (revisionHistoryLimit >= 0) return all;
  return [
    ...all,
    'spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended',
  ];
}

/** The mutable fields, in the order of the message. */
const CHANGEABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

function fixedFieldProblems(next: StatefulSetSpec, live: StatefulSetSpec): FieldError[] {
  const changeable: ReadonlySet<string> = new Set(CHANGEABLE);
  const fixed = (spec: StatefulSetSpec) =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !changeable.has(field)));
  if (deepEqual(fixed(next), fixed(live))) return [];
  const names = CHANGEABLE.map((field) => `'${field}'`);
  const list = `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
  return [forbidden('spec', `updates to statefulset spec for fields other than ${list} are forbidden`)];
}

function statusProblems(
  next: StatefulSet,
  live: StatefulSet,
  _context: HookContext,
  metadata: MetadataErrors,
): readonly FieldError[] {
  const { status } = next;
  const { readyReplicas = 0, availableReplicas } = status;
  const problems = [
    ...nonNegativeFields('status', status, [
      'replicas',
      'readyReplicas',
      'currentReplicas',
      'updatedReplicas',
      'availableReplicas',
      'observedGeneration',
      'collisionCount',
    ]),
    ...atMost(status, status.replicas, ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas']),
  ];
  if (availableReplicas > readyReplicas) {
    problems.push(
      invalid('status.availableReplicas', availableReplicas, 'cannot be greater than status.readyReplicas'),
    );
  }
  return [
    ...problems,
    ...metadata.forUpdate(),
    ...collisionProblems(status.collisionCount, live.status.collisionCount),
  ];
}

function dumpStrategy({ type: name, rollingUpdate }: { readonly type: string; readonly rollingUpdate?: unknown }) {
  const address = addressOf(rollingUpdate);
  return verbatim(
    `apps.StatefulSetUpdateStrategy{Type:${quote(name)}, RollingUpdate:(*apps.RollingUpdateStatefulSetStrategy)(${address})}`,
  );
}

function dumpRollingUpdate({ partition, maxUnavailable }: { partition: number; maxUnavailable?: IntOrString }) {
  return verbatim(
    `apps.RollingUpdateStatefulSetStrategy{Partition:${partition}, MaxUnavailable:(*intstr.IntOrString)(${addressOf(maxUnavailable)})}`,
  );
}

/** Go prints pointers as addresses. */
function addressOf(value: unknown): string {
  return value === undefined ? 'nil' : '0xc000000000';
}
