/**
 * StorageClass: a way to get volumes made, by name.
 */
import { serviceGroup } from '../../../meta/dialect.js';
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
import { deepEqual } from '../../../util/json.js';
import { byKey } from '../../../util/order.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { TopologySelectorTerm } from '../../generated/core-v1.js';
import { type StorageClassBody, type StorageClassBodyInput, storageClassBody } from '../../generated/storage-v1.js';
import type { Kind, WriteContext } from '../../kind.js';
import { labelDeprecation } from '../../shared/deprecated-node-labels.js';
import { parameterProblems, provisionerProblems } from '../parameters.js';
import { storageClassColumns } from './columns.js';

export interface StorageClass extends ObjectBase, StorageClassBody {}
export interface StorageClassInput extends InputBase, StorageClassBodyInput {}

export const StorageClass: Kind<StorageClass, StorageClassInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('storage')}/v1`,
  kind: 'StorageClass',
  scope: 'Cluster',
  names: { shortNames: ['sc'] },
  body: storageClassBody,
  columns: storageClassColumns,
  strategy: {
    delete: { returnsObject: true },
    create: { validate: classProblems },
    update: { validationOrder: ['whole', 'metadata', 'change'], validate: fixedProblems },
    write: { warnings },
  },
});

function warnings(object: StorageClass, _live: StorageClass | undefined, { dialect }: WriteContext): readonly string[] {
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
  // An empty policy passes although it names none.
  if (![...RECLAIM_POLICIES, ''].includes(reclaimPolicy)) {
    found.push(notSupported('reclaimPolicy', reclaimPolicy, RECLAIM_POLICIES));
  }
  if (!BINDING_MODES.includes(volumeBindingMode)) {
    found.push(notSupported('volumeBindingMode', volumeBindingMode, BINDING_MODES));
  }
  return [...found, ...topologyProblems('allowedTopologies', rest.allowedTopologies ?? [])];
}

/** A term is reported once for each that it repeats, until so many reports were made; from then on once. */
const MAX_REPEATED_REPORTS = 1000;

/** Terms must differ, whatever the order of their keys and values. */
function topologyProblems(path: string, terms: readonly TopologySelectorTerm[]): FieldError[] {
  // The server compares with as many empty terms as there are terms, so an empty one is never unique.
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

/** What is wrong with a term, and the values by key as one text: what two terms are compared by. */
function termProblems(path: string, term: TopologySelectorTerm): { content: string; found: FieldError[] } {
  const valuesByKey = new Map<string, readonly string[]>();
  const found: FieldError[] = [];
  for (const [index, { key, values }] of (term.matchLabelExpressions ?? []).entries()) {
    const at = keyPath(path, index);
    found.push(...valueProblems(childPath(at, 'values'), values ?? []));
    found.push(...qualifiedNameProblems(key).map((problem) => invalid(childPath(at, 'key'), key, problem)));
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
  const now = next;
  const before = live;
  const found = (['parameters', 'provisioner', 'reclaimPolicy'] as const)
    .filter((field) => !deepEqual(now[field], before[field]))
    .map((field) => forbidden(field, `updates to ${field} are forbidden.`));
  if (now.volumeBindingMode !== before.volumeBindingMode) {
    found.push(invalid('volumeBindingMode', now.volumeBindingMode, 'field is immutable'));
  }
  return found;
}
