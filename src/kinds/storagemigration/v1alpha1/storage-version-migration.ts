/**
 * The StorageVersionMigration kind: a request to rewrite all objects of a resource in the storage version, and its
 * progress.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { childPath, duplicate, invalid, keyPath, required, tooLong } from '../../../meta/field-error.js';
import { byteLength, patternMessage, qualifiedNameProblems } from '../../../meta/names.js';
import { asSent } from '../../../schema/empty-values.js';
import { quote, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import { goTimeSyntax } from '../../../text/time/time.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type GroupVersionResource,
  type MigrationCondition,
  type StorageVersionMigrationKind,
  type StorageVersionMigrationObject,
  type StorageVersionMigrationStatus,
  storageVersionMigrationBase,
} from '../../generated/storagemigration-v1alpha1.js';
import { nameColumn, textColumn } from '../../shared/common-columns.js';
import { valueErrors } from '../../shared/field-rules.js';
import { statusSubresource } from '../../shared/strategies.js';

export interface StorageVersionMigration extends StorageVersionMigrationObject {}

export const StorageVersionMigration: StorageVersionMigrationKind<StorageVersionMigration> = defineBuiltIn({
  ...storageVersionMigrationBase,
  gate: 'StorageVersionMigrator',
  lifecycle: { introducedIn: '1.30', deprecatedIn: '1.33', removedIn: '1.36' },
  columns: [
    { ...nameColumn, format: '' },
    textColumn('Resource', 'The resource that is migrated.', (object) => {
      const { resource = '', version = '', group = '' } = object.spec.resource ?? {};
      return `${resource}.${version}.${group}`;
    }),
  ],
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      validationOrder: ['create', 'metadata', 'update'],
      validate: (next, live) => fixedProblems(next.spec.resource, live.spec.resource),
    },
    write: { separateStatus: true },
    create: { validate: (object) => specProblems('spec.resource', object.spec.resource) },
  },
  subresources: {
    status: statusSubresource({
      metadata: 'kept',
      validate: (next, live) => statusProblems('status', next.status, live.status),
    }),
  },
});

function specProblems(path: string, { resource, version }: GroupVersionResource): FieldError[] {
  const found = resource ? [] : [required(childPath(path, 'resource'), 'resource is required')];
  return version ? found : [...found, required(childPath(path, 'version'), 'version is required')];
}

function fixedProblems(next: GroupVersionResource, live: GroupVersionResource): FieldError[] {
  return (['group', 'version', 'resource'] as const)
    .filter((field) => next[field] !== live[field])
    .map((field) => invalid(field, next[field] ?? '', 'field is immutable'));
}

function statusProblems(
  path: string,
  next: StorageVersionMigrationStatus,
  live: StorageVersionMigrationStatus,
): FieldError[] {
  const { resourceVersion = '' } = next;
  const conditions = asSent(next, 'conditions');
  const versionPath = childPath(path, 'resourceVersion');
  const found = resourceVersionProblems(versionPath, resourceVersion);
  append(found, conditionsProblems(childPath(path, 'conditions'), conditions ?? []));
  if (live.resourceVersion && live.resourceVersion !== resourceVersion) {
    found.push(invalid(versionPath, resourceVersion, 'resourceVersion cannot be updated'));
  }
  const contradictions = outcomeProblems(next, live);
  return [
    ...found,
    ...contradictions.map((detail) => invalid(childPath(path, 'conditions'), conditionsDump(conditions), detail)),
  ];
}

const MAX_INT64 = 2n ** 63n - 1n;

function resourceVersionProblems(path: string, text: string): FieldError[] {
  if (text === '') return [];
  const problem = (why: string) => {
    const shown = quote(text);
    const detail = `failed to parse resource version ${shown}: strconv.ParseInt: parsing ${shown}: ${why}`;
    return [invalid(path, text, detail)];
  };
  if (!/^[+-]?[0-9]+$/.test(text)) return problem('invalid syntax');
  const value = BigInt(text.replace('+', ''));
  if (value > MAX_INT64 || value < -MAX_INT64 - 1n) return problem('value out of range');
  return value < 0n ? [invalid(path, value, 'must be greater than or equal to 0')] : [];
}

const STATUSES = ['False', 'True', 'Unknown'];
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const REASON_FORM = new RegExp(`^${REASON}$`);
const REASON_MESSAGE = patternMessage(
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
  REASON,
  ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB'],
);
const MAX_REASON = 1024;
const MAX_MESSAGE = 32 * 1024;

function conditionsProblems(path: string, conditions: readonly MigrationCondition[]): FieldError[] {
  const types = new Set<string>();
  return conditions.flatMap((condition, index) => {
    const at = keyPath(path, index);
    const repeated = types.has(condition.type) ? [duplicate(childPath(at, 'type'), condition.type)] : [];
    types.add(condition.type);
    return [...repeated, ...conditionProblems(at, condition)];
  });
}

function conditionProblems(path: string, condition: MigrationCondition): FieldError[] {
  const { type: named, status, lastUpdateTime, reason = '', message = '' } = condition;
  const found = qualifiedNameProblems(named).map((problem) => invalid(childPath(path, 'type'), named, problem));
  append(found, valueErrors(childPath(path, 'status'), status, STATUSES));
  // The reference server's path has the field name of other conditions.
  if (!lastUpdateTime) found.push(required(childPath(path, 'lastTransitionTime'), 'must be set'));
  const reasonPath = childPath(path, 'reason');
  if (reason === '') {
    found.push(required(reasonPath, 'must be set'));
  } else {
    if (!REASON_FORM.test(reason)) found.push(invalid(reasonPath, reason, REASON_MESSAGE));
    if (byteLength(reason) > MAX_REASON) found.push(tooLong(reasonPath, MAX_REASON));
  }
  if (byteLength(message) > MAX_MESSAGE) found.push(tooLong(childPath(path, 'message'), MAX_MESSAGE));
  return found;
}

/** A migration either succeeds or fails, and its outcome is final. */
function outcomeProblems(next: StorageVersionMigrationStatus, live: StorageVersionMigrationStatus): string[] {
  const succeeded = isTrue(next, 'Succeeded');
  const failed = isTrue(next, 'Failed');
  const running = isTrue(next, 'Running');
  const found: string[] = [];
  if (succeeded && failed) found.push('Both success and failed conditions cannot be true at the same time');
  if (succeeded && running) found.push('Running condition cannot be true when success condition is true');
  if (failed && running) found.push('Running condition cannot be true when failed condition is true');
  if (isTrue(live, 'Succeeded') && !succeeded) found.push('Success condition cannot be set to false once it is true');
  if (isTrue(live, 'Failed') && !failed) found.push('Failed condition cannot be set to false once it is true');
  return found;
}

/** The first condition of a type counts. */
function isTrue({ conditions = [] }: StorageVersionMigrationStatus, named: MigrationCondition['type']): boolean {
  return conditions.find((condition) => condition.type === named)?.status === 'True';
}

function conditionsDump(conditions: readonly MigrationCondition[] | undefined): Verbatim {
  const list = '[]storagemigration.MigrationCondition';
  if (conditions === undefined) return verbatim(`${list}(nil)`);
  const shown = conditions.map(
    ({ type: named, status, lastUpdateTime, reason = '', message = '' }) =>
      `storagemigration.MigrationCondition{Type:${quote(named)}, Status:${quote(status)}, ` +
      `LastUpdateTime:${timeDump(lastUpdateTime ?? null)}, Reason:${quote(reason)}, Message:${quote(message)}}`,
  );
  return verbatim(`${list}{${shown.join(', ')}}`);
}

function timeDump(time: string | null): string {
  return time === null ? 'time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC)' : goTimeSyntax(time);
}
