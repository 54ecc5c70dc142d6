/**
 * What a writer can own at an address: a kind's `claimable` as a filter of sets. spec: Server-side apply
 */

import type { ServedKind } from '../kinds/served-kind.js';
import type { OwnableFields } from '../kinds/subresource.js';
import {
  recursiveDifference,
  type FieldSet,
  isMember,
  LEAF,
  EMPTY_SET,
  SELF,
  setOfFields,
} from '../merge/apply/field-set.js';
import { subresourceOf } from './subresource.js';

export type ClaimFilter = (fields: FieldSet) => FieldSet;

const filters = new WeakMap<OwnableFields, ClaimFilter>();
const everything: ClaimFilter = (fields) => fields;

export function claimFilter(served: ServedKind, subresource: string): ClaimFilter {
  const claimable = claimableAt(served, subresource);
  if (claimable === undefined) return everything;
  let filter = filters.get(claimable);
  if (filter === undefined) {
    filter = filterOf(claimable);
    filters.set(claimable, filter);
  }
  return filter;
}

const NONE: readonly string[] = Object.freeze([]);
const unclaimable = new WeakMap<OwnableFields, readonly string[]>();

/** Whole parts of an object that nobody can own by a write at this address: there is no use in looking at them. */
export function unclaimableParts(served: ServedKind, subresource: string): readonly string[] {
  const claimable = claimableAt(served, subresource);
  if (claimable === undefined || !('except' in claimable)) return NONE;
  let parts = unclaimable.get(claimable);
  if (parts === undefined) {
    parts = claimable.except.filter((path) => !path.includes('.') && path !== 'metadata');
    unclaimable.set(claimable, parts);
  }
  return parts;
}

const ALL_BUT_STATUS: OwnableFields = Object.freeze({ except: ['status'] });

function claimableAt({ kind }: ServedKind, subresource: string): OwnableFields | undefined {
  const declared = subresourceOf({ kind }, subresource || undefined);
  if (declared !== undefined) return declared.type === undefined ? declared.ownableFields : undefined;
  const { ownableFields, separateStatus } = kind.strategy.write;
  const isSeparate =
    separateStatus || (kind.representation === 'document' && Object.hasOwn(kind.subresources, 'status'));
  return ownableFields ?? (isSeparate ? ALL_BUT_STATUS : undefined);
}

function filterOf(claimable: OwnableFields): ClaimFilter {
  if ('except' in claimable) {
    const except = setOfFields(claimable.except);
    return (fields) => recursiveDifference(fields, except);
  }
  const pattern = setOfFields(claimable.only);
  return (fields) => keepMatching(fields, pattern) ?? EMPTY_SET;
}

/** How the pattern spells every item of a list. */
const ANY_ITEM = 'f:*';

/** What lies at a path of the pattern or below one. */
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
