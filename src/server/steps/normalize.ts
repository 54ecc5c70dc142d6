/**
 * What plugins made of a draft is decoded like a body: they may change much, but not the types of fields, nor where
 * the object goes.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import type { WriteOperation } from '../write-operation.js';
import { ensureNamespaceMatches } from './match-address.js';

/** A well-formed object of the kind, defaults filled in. Throws 500 for what cannot be one. */
export function normalized(draft: DraftObject, served: ServedKind, job: WriteOperation): DraftObject {
  const checked = decodeMutated(draft, served);
  // What a plugin adds is filled in like what a client sends.
  served.kind.strategy.decode.defaults?.(checked, job.context);
  checked.kind = served.gvk.kind;
  checked.apiVersion = served.apiVersion;
  ensureNamespaceMatches(checked.metadata, job);
  return checked;
}

/** The same in place, between two plugins. */
export function normalizeDraft(draft: DraftObject, served: ServedKind, job: WriteOperation): void {
  const checked = normalized(draft, served, job);
  for (const key of Object.keys(draft)) delete draft[key];
  Object.assign(draft, checked);
}

function decodeMutated(draft: DraftObject, { kind, schema }: ServedKind): DraftObject {
  try {
    const decoded = kind.custom?.decode({ value: draft }) ?? decode(schema, { value: draft });
    return decoded.value as unknown as DraftObject;
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw errors.internal(`admission plugins made an object that is no ${kind.kind}: ${error.message}`, error);
  }
}
