/**
 * The Namespace kind: a scope for names. Deletion has two phases: the namespace is Terminating until its contents are
 * deleted and its finalizers removed. spec: Namespace
 */

import { NAMESPACE_FINALIZER } from '../../../meta/dialect.js';
import { type FieldError, invalid, keyPath } from '../../../meta/field-error.js';
import { labelErrors } from '../../../meta/labels.js';
import { dnsLabelProblems, maskTrailingDash } from '../../../meta/names.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { sortedRecord } from '../../../util/order.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { DeletionDecision, DeletionRequest } from '../../deletion.js';
import {
  type NamespaceKind,
  type NamespaceObject,
  type NamespaceStatus,
  namespaceBase,
} from '../../generated/core-v1.js';
import type { HookContext, NameValidator } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { failedDeletePrecondition, finalizersAfterDelete, standardFinalizerProblems } from '../../shared/finalizers.js';
import { copyAsDraft } from '../../shared/storage-conversion.js';

/** The server always returns spec and status. */
export interface Namespace extends NamespaceObject {}

const labelName: NameValidator = (name, prefix) => dnsLabelProblems(prefix ? maskTrailingDash(name) : name);

export const Namespace: NamespaceKind<Namespace> = defineBuiltIn({
  ...namespaceBase,
  isOwnNamespace: true,
  names: { shortNames: ['ns'] },
  columns: [
    nameColumn,
    textColumn('Status', 'The phase of the namespace.', (object) => phaseOf(object) ?? ''),
    ageColumn,
  ],
  // Without deletecollection, as in the reference server.
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  strategy: {
    write: { ownableFields: { except: ['status'] }, canonicalize: labelWithName },
    name: { validate: labelName },
    delete: {
      returnDeletedObject: 'unpublished',
      intercept: beforeDelete,
      shouldDeleteDuringUpdate: (object) => finalizersOf(object).length === 0,
    },
    decode: { defaults: labelWithName },
    create: { prepare: prepareForCreate, validate },
    update: {
      prepare: (draft, live) => restore(draft, live, ['spec', 'status']),
      validationOrder: ['create', 'metadata', 'update'],
      validate: policyLabelUpdateProblems,
    },
    read: {
      selectableFields: { 'status.phase': phaseOf },
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
    },
  },
  subresources: {
    status: {
      verbs: ['get', 'update', 'patch'],
      ownableFields: { except: ['spec'] },
      prepare: (draft, live) => restore(draft, live, ['spec']),
      validate: phaseProblems,
    },
    finalize: {
      verbs: ['update'],
      tables: false,
      ownableFields: { except: ['status'] },
      prepare: (draft, live) => restore(draft, live, ['status']),
      validate: (next) =>
        finalizersOf(next).flatMap((name, index) => standardFinalizerProblems(keyPath('spec.finalizers', index), name)),
    },
  },
});

function finalizersOf(object: Namespace): readonly string[] {
  return object.spec.finalizers ?? [];
}

function phaseOf(object: Namespace): NamespaceStatus['phase'] {
  return object.status.phase;
}

/** Adds the label with the name of the namespace. A generated name is not known on the first call. */
function labelWithName(draft: Namespace, { dialect }: HookContext): void {
  const { name, labels } = draft.metadata;
  const key = dialect.key('metadata.name');
  if (!name || labels?.[key] === name) return;
  const all = { ...labels, [key]: name };
  draft.metadata.labels = sortedRecord(Object.entries(all));
}

function prepareForCreate(draft: Namespace): void {
  const { finalizers = [] } = draft.spec;
  const completed = finalizers.includes(NAMESPACE_FINALIZER) ? finalizers : [...finalizers, NAMESPACE_FINALIZER];
  draft.spec = { finalizers: completed };
  draft.status = { phase: 'Active' };
}

function restore(draft: DraftObject, live: ApiObject, fields: readonly string[]): void {
  for (const field of fields) draft[field] = live[field];
}

function validate(object: Namespace, context: HookContext, live?: Namespace): readonly FieldError[] {
  const problems = finalizersOf(object).flatMap((name) => standardFinalizerProblems('spec.finalizers', name));
  if (live !== undefined) return problems;
  // In the reference server an admission plugin validates these labels, after all other rules have passed.
  return problems.length > 0 ? problems : policyLabelProblems(object, context);
}

const POLICY_MODES = ['enforce', 'audit', 'warn'] as const;
const POLICY_LEVELS = ['privileged', 'baseline', 'restricted'];

/** Validates the Pod Security labels: level and version. */
function policyLabelProblems(object: Namespace, { dialect }: HookContext): FieldError[] {
  const labels = object.metadata.labels ?? {};
  // Only if the labels are valid as labels; see validate().
  if (labelErrors(labels, 'metadata.labels').length > 0) return [];
  const problems: FieldError[] = [];
  for (const mode of POLICY_MODES) {
    const levelKey = dialect.subkey('pod-security', mode);
    const versionKey = dialect.subkey('pod-security', `${mode}-version`);
    const level = labels[levelKey];
    const version = labels[versionKey];
    if (level !== undefined && !POLICY_LEVELS.includes(level)) {
      const detail = `must be one of ${POLICY_LEVELS.join(', ')}`;
      problems.push(invalid(keyPath('metadata.labels', levelKey), level, detail));
    }
    if (version !== undefined && !/^(latest|v1\.(0|[1-9][0-9]*))$/.test(version)) {
      problems.push(invalid(keyPath('metadata.labels', versionKey), version, 'must be "latest" or "v1.x"'));
    }
  }
  return problems;
}

/** Errors that the live object already has are accepted. */
function policyLabelUpdateProblems(next: Namespace, live: Namespace, context: HookContext): readonly FieldError[] {
  const problems = policyLabelProblems(next, context);
  return problems.length > 0 && deepEqual(problems, policyLabelProblems(live, context)) ? [] : problems;
}

/** The capital letter in the path is the reference server's. */
const PHASE_PATH = 'status.Phase';

function phaseProblems(next: Namespace): readonly FieldError[] {
  const phase = phaseOf(next);
  if (next.metadata.deletionTimestamp === undefined) {
    if (phase === 'Active') return [];
    return [invalid(PHASE_PATH, phase, "may only be 'Active' if `deletionTimestamp` is empty")];
  }
  if (phase === 'Terminating') return [];
  return [invalid(PHASE_PATH, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")];
}

/** The first delete sets the phase to Terminating. The namespace is removed when its finalizers are empty. */
function beforeDelete(live: ApiObject & Namespace, request: DeletionRequest, { now }: HookContext): DeletionDecision {
  const failed = failedDeletePrecondition(live, request);
  if (failed !== undefined) return { type: 'conflict', why: failed };
  if (live.metadata.deletionTimestamp !== undefined) {
    return finalizersOf(live).length > 0 ? { type: 'unchanged' } : { type: 'proceed' };
  }
  const draft = copyAsDraft(live);
  draft.metadata.deletionTimestamp = now;
  draft.metadata.finalizers = [
    ...finalizersAfterDelete(live.metadata.finalizers ?? [], foregroundIfNotOrphaned(request)),
  ];
  draft['status'] = { ...(draft['status'] as NamespaceStatus), phase: 'Terminating' };
  return { type: 'update', object: draft };
}

/** For namespaces, `orphanDependents: false` means foreground deletion. */
function foregroundIfNotOrphaned(request: DeletionRequest): DeletionRequest {
  if (request.orphanDependents !== false) return request;
  const { orphanDependents: _, ...rest } = request;
  return { ...rest, propagationPolicy: 'Foreground' };
}
