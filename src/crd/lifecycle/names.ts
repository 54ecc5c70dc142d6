/**
 * Accepts the names of a CRD: those that no other kind of its group uses. Accepted names are kept.
 */

import type { CustomResourceDefinitionNames } from '../../kinds/generated/apiextensions-v1.js';
import { aggregateText } from '../../meta/field-error.js';
import type { DeepReadonly } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import type { ConditionText, Crd } from './conditions.js';

/** Names in use: of resources (in paths and short names) and of kinds. */
export interface NamesInUse {
  readonly resources: Set<string>;
  readonly kinds: Set<string>;
}

/** No names. */
export function noNames(): NamesInUse {
  return { resources: new Set(), kinds: new Set() };
}

/** Adds the names of a kind to the names in use. */
export function addNames(
  namesInUse: NamesInUse,
  { plural, singular, shortNames, kind, listKind }: DeepReadonly<Partial<CustomResourceDefinitionNames>>,
): void {
  for (const name of [plural, singular, ...(shortNames ?? [])]) if (name) namesInUse.resources.add(name);
  for (const name of [kind, listKind]) if (name) namesInUse.kinds.add(name);
}

/** Reports whether a CRD has no accepted names, as a new one. */
export function hasNoNames({ status: { acceptedNames } }: Crd): boolean {
  return Object.values(acceptedNames).every((value) => value === undefined || value.length === 0);
}

/** The accepted names of a CRD and the condition that reports them. */
export interface AcceptedNames {
  readonly names: CustomResourceDefinitionNames;
  readonly condition: ConditionText;
}

/** Decides which of the requested names a CRD gets, and the NamesAccepted condition. */
export function acceptNames(crd: Crd, namesInUse: readonly NamesInUse[]): AcceptedNames {
  const isInUse = (name: string, type: keyof NamesInUse) => namesInUse.some((names) => names[type].has(name));
  const wanted = crd.spec.names;
  const accepted = crd.status.acceptedNames;
  let conflict: ConditionText | undefined;
  const choose = (field: 'plural' | 'singular' | 'kind' | 'listKind', type: keyof NamesInUse): string => {
    const [name, before] = [wanted[field] ?? '', accepted[field] ?? ''];
    if (name === before || !isInUse(name, type)) return name;
    conflict = namesRejected(`${field[0]?.toUpperCase()}${field.slice(1)}Conflict`, inUseMessage(name));
    return before;
  };
  const plural = choose('plural', 'resources');
  const singular = choose('singular', 'resources');
  const acceptedShortNames = new Set(accepted.shortNames);
  const conflicts = (wanted.shortNames ?? []).filter(
    (name) => !acceptedShortNames.has(name) && isInUse(name, 'resources'),
  );
  if (conflicts.length > 0) conflict = namesRejected('ShortNamesConflict', aggregateText(conflicts.map(inUseMessage)));
  const shortNames = conflicts.length > 0 ? accepted.shortNames : wanted.shortNames;
  const kind = choose('kind', 'kinds');
  const listKind = choose('listKind', 'kinds');
  const { categories } = wanted;
  return {
    names: {
      plural,
      ...(singular === '' ? {} : { singular }),
      ...(shortNames === undefined ? {} : { shortNames: [...shortNames] }),
      kind,
      ...(listKind === '' ? {} : { listKind }),
      ...(categories === undefined ? {} : { categories: [...categories] }),
    },
    condition: conflict ?? {
      type: 'NamesAccepted',
      status: 'True',
      reason: 'NoConflicts',
      message: 'no conflicts found',
    },
  };
}

function namesRejected(reason: string, message: string): ConditionText {
  return { type: 'NamesAccepted', status: 'False', reason, message };
}

function inUseMessage(name: string): string {
  return `${quote(name)} is already in use`;
}
