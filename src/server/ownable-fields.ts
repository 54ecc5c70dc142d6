/**
 * The fields that a write to an endpoint can own: a kind's `ownableFields` as a filter for field sets.
 * spec: Server-side apply
 */

import type { ServedKind } from '../kinds/served-kind.js';
import type { OwnableFields } from '../kinds/subresource.js';
import {
  EMPTY_SET,
  type FieldSet,
  isMember,
  LEAF,
  recursiveDifference,
  SELF,
  setOfFields,
} from '../merge/apply/field-set.js';
import { getOrInsertComputed } from '../util/once.js';
import { subresourceOf } from './subresource.js';

export type OwnableFilter = (fields: FieldSet) => FieldSet;

const filters = new WeakMap<OwnableFields, OwnableFilter>();
const everything: OwnableFilter = (fields) => fields;

export function ownableFilter(served: ServedKind, subresource: string): OwnableFilter {
  const claimable = ownableFieldsAt(served, subresource);
  if (claimable === undefined) return everything;
  return getOrInsertComputed(filters, claimable, filterOf);
}

const NONE: readonly string[] = Object.freeze([]);
const unclaimable = new WeakMap<OwnableFields, readonly string[]>();

/** Top-level fields that no write to this endpoint can own; ownership tracking skips them. */
export function nonOwnableParts(served: ServedKind, subresource: string): readonly string[] {
  const claimable = ownableFieldsAt(served, subresource);
  if (claimable === undefined) return NONE;
  return getOrInsertComputed(unclaimable, claimable, topLevelParts);
}

function topLevelParts(claimable: OwnableFields): readonly string[] {
  return 'except' in claimable ? claimable.except.filter((path) => !path.includes('.') && path !== 'metadata') : NONE;
}

const ALL_BUT_STATUS: OwnableFields = Object.freeze({ except: ['status'] });

function ownableFieldsAt({ kind }: ServedKind, subresource: string): OwnableFields | undefined {
  const declared = subresourceOf({ kind }, subresource || undefined);
  if (declared !== undefined) return declared.type === undefined ? declared.ownableFields : undefined;
  const { ownableFields, separateStatus } = kind.strategy.write;
  const isSeparate =
    separateStatus || (kind.representation === 'document' && Object.hasOwn(kind.subresources, 'status'));
  return ownableFields ?? (isSeparate ? ALL_BUT_STATUS : undefined);
}

function filterOf(claimable: OwnableFields): OwnableFilter {
  if ('except' in claimable) {
    const except = setOfFields(claimable.except);
    return (fields) => recursiveDifference(fields, except);
  }
  const pattern = setOfFields(claimable.only);
  return (fields) => keepMatching(fields, pattern) ?? EMPTY_SET;
}

/** Matches every item of a list. */
const ANY_ITEM = 'f:*';

/** The fields at or below a path of the pattern. */
function keepMatching(fields: FieldSet, pattern: FieldSet): FieldSet | undefined {
  const out: Record<string, FieldSet> = {};
  let isEmpty = true;
  for (const element in fields) {
    if (element === SELF) continue;
    const inner = pattern[element] ?? (element.startsWith('f:') ? undefined : pattern[ANY_ITEM]);
    if (inner === undefined) continue;
    const below = fields[element] ?? LEAF;
    const kept = isMember(inner) ? below : keepMatching(below, inner);
    if (kept === undefined) continue;
    isEmpty = false;
    out[element] = kept;
  }
  return isEmpty ? undefined : out;
}
