/**
 * The StorageClass kind: a named way to provision volumes.
 */

import type { FieldError } from '../../../meta/field-error.js';
import {
  childPath,
  duplicate,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
} from '../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../meta/names.js';
import { wasSentEmpty } from '../../../schema/empty-values.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import { byKey } from '../../../util/order.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { TopologySelectorTerm } from '../../generated/core-v1.js';
import { type StorageClassKind, type StorageClassObject, storageClassBase } from '../../generated/storage-v1.js';
import type { HookContext } from '../../kind.js';
import { labelDeprecation } from '../../shared/deprecated-node-labels.js';
import { immutableErrors, valueErrors } from '../../shared/field-rules.js';
import { parameterProblems, provisionerProblems } from '../parameters.js';
import { storageClassColumns } from './columns.js';

export interface StorageClass extends StorageClassObject {}

export const StorageClass: StorageClassKind<StorageClass> = defineBuiltIn({
  ...storageClassBase,
  names: { shortNames: ['sc'] },
  columns: storageClassColumns,
  strategy: {
    delete: { returnDeletedObject: true },
    create: { validate: classProblems },
    update: { validationOrder: ['create', 'metadata', 'update'], validate: fixedProblems },
    write: { warnings },
  },
});

function warnings(object: StorageClass, _live: StorageClass | undefined, { dialect }: HookContext): readonly string[] {
  const { allowedTopologies = [] } = object;
  return allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
    matchLabelExpressions.flatMap(({ key }, place) => {
      const why = labelDeprecation(key, dialect);
      const path = childPath(keyPath('allowedTopologies', index), 'matchLabelExpressions');
      return why === undefined ? [] : [`${childPath(keyPath(path, place), 'key')}: ${why}`];
    }),
  );
}

const RECLAIM_POLICIES = ['Delete', 'Retain'];
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer'];

function classProblems(object: StorageClass): FieldError[] {
  const { provisioner, parameters = {}, reclaimPolicy, volumeBindingMode, ...rest } = object;
  const found = [...provisionerProblems('provisioner', provisioner), ...parameterProblems('parameters', parameters)];
  // The reference server accepts an empty policy.
  if (![...RECLAIM_POLICIES, ''].includes(reclaimPolicy)) {
    found.push(notSupported('reclaimPolicy', reclaimPolicy, RECLAIM_POLICIES));
  }
  append(found, valueErrors('volumeBindingMode', volumeBindingMode, BINDING_MODES));
  return [...found, ...topologyProblems('allowedTopologies', rest.allowedTopologies ?? [])];
}

/** A duplicate term is reported once for each equal earlier term, up to this total; after that once per term. */
const MAX_REPEATED_REPORTS = 1000;

/** Rejects duplicate terms; the order of keys and values does not matter. */
function topologyProblems(path: string, terms: readonly TopologySelectorTerm[]): FieldError[] {
  // The reference server's list starts with as many empty terms as there are terms, so an empty term is always a
  // duplicate.
  const earlier = new Map<string, number>([[EMPTY_TERM, terms.length]]);
  let repeatsLeft = MAX_REPEATED_REPORTS;
  return terms.flatMap((term, index) => {
    const at = childPath(keyPath(path, index), 'matchLabelExpressions');
    const { content, found } = termProblems(at, term);
    const equals = earlier.get(content) ?? 0;
    earlier.set(content, equals + 1);
    const reports = Math.min(equals, Math.max(1, repeatsLeft));
    repeatsLeft -= reports;
    return [...found, ...Array.from({ length: reports }, () => duplicate(at, ''))];
  });
}

/** The content of a term without expressions. */
const EMPTY_TERM = '[]';

/** Validates a term and returns its canonical text for comparisons. */
function termProblems(path: string, term: TopologySelectorTerm): { content: string; found: FieldError[] } {
  const valuesByKey = new Map<string, readonly string[]>();
  const found: FieldError[] = [];
  for (const [index, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
    const at = keyPath(path, index);
    append(found, valueProblems(childPath(at, 'values'), values ?? []));
    append(
      found,
      qualifiedNameProblems(key).map((problem) => invalid(childPath(at, 'key'), key, problem)),
    );
    if (valuesByKey.has(key)) found.push(duplicate(childPath(at, 'key'), key));
    valuesByKey.set(key, [...new Set(values ?? [])].sort());
  }
  return { content: JSON.stringify([...valuesByKey].sort(byKey)), found };
}

function valueProblems(path: string, values: readonly string[]): FieldError[] {
  if (values.length === 0) return [required(path)];
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (seen.has(value)) return [duplicate(keyPath(path, index), value)];
    seen.add(value);
    return [];
  });
}

function fixedProblems(next: StorageClass, live: StorageClass): FieldError[] {
  const changed = (['parameters', 'provisioner', 'reclaimPolicy'] as const).filter(
    // The reference server compares empty parameters with absent ones.
    (field) => !deepEqual(next[field], live[field]) || wasSentEmpty(next, field),
  );
  return [
    ...changed.map((field) => forbidden(field, `updates to ${field} are forbidden.`)),
    ...immutableErrors('volumeBindingMode', next.volumeBindingMode, live.volumeBindingMode),
  ];
}
