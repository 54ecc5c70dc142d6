/**
 * Decodes a draft again after mutating plugins: they may change anything except the types of fields and the address of
 * the object.
 */

import type { AdmissionPlugin } from '../../admission/types.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { copySentEmpty } from '../../schema/empty-values.js';
import { copyQuantityTexts } from '../../schema/quantity-texts.js';
import { translateError } from '../../util/catch-error.js';
import { isRecord } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ServerContext } from '../context.js';
import type { WriteOperation } from '../write-operation.js';
import { ensureNamespaceMatches } from './match-address.js';

/** The draft after mutating plugins, well formed again. Skipped when no plugin can have made it malformed. */
export function redecodeMutated(draft: DraftObject, write: WriteOperation): DraftObject {
  const mutators = activeMutators(write.server);
  if (mutators.length === 0) return draft;
  if (!mutators.every(({ decodesChanges }) => decodesChanges)) return redecoded(draft, write.served, write);
  ensureNamespaceMatches(draft.metadata, write);
  return draft;
}

/** Whether a plugin of a user, a webhook or a policy may have changed the draft. */
export function needsRedecoding(server: Pick<ServerContext, 'admission' | 'clusterView'>): boolean {
  return activeMutators(server).length > 0;
}

function activeMutators({
  admission,
  clusterView,
}: Pick<ServerContext, 'admission' | 'clusterView'>): readonly AdmissionPlugin[] {
  const mutators = getOrInsertComputed(unknownMutators, admission.active(), findUnknownMutators);
  if (mutators.length === 0) return mutators;
  return mutators.filter(({ changesNothing }) => typeof changesNothing !== 'function' || !changesNothing(clusterView));
}

/** Per plugin chain: the plugins that may make a draft malformed. */
const unknownMutators = new WeakMap<readonly AdmissionPlugin[], readonly AdmissionPlugin[]>();

function findUnknownMutators(active: readonly AdmissionPlugin[]): readonly AdmissionPlugin[] {
  return active.filter(
    ({ mutate, changesNothing, isBuiltIn }) => mutate !== undefined && changesNothing !== true && isBuiltIn !== true,
  );
}

/** Redecodes a draft in place, between two plugins. */
export function redecodeInPlace(draft: DraftObject, served: ServedKind, write: WriteOperation): void {
  const checked = redecoded(draft, served, write);
  for (const key of Object.keys(draft)) delete draft[key];
  Object.assign(draft, checked);
}

/** A well-formed object of the kind, with defaults. Throws 500 if the draft cannot be decoded. */
function redecoded(draft: DraftObject, served: ServedKind, write: WriteOperation): DraftObject {
  const { kind, schema } = served;
  const read = () => kind.customResourceHandler?.decode({ value: draft }) ?? decode(schema, { value: draft });
  const { value } = translateError(DecodeError, read, (error) =>
    errors.internal(`admission plugins made an object that is no ${kind.kind}: ${error.message}`, error),
  );
  copySentForms(draft, value);
  const checked = value as unknown as DraftObject;
  served.kind.strategy.decode.defaults?.(checked, write.hookContext);
  // Validation rejects a custom resource of another kind.
  if (kind.customResourceHandler === undefined || checked.kind === undefined) checked.kind = served.gvk.kind;
  checked.apiVersion = served.apiVersion;
  ensureNamespaceMatches(checked.metadata, write);
  return checked;
}

/** Remembers what the client sent for the decoded copy of a value, too. */
function copySentForms(from: unknown, to: unknown): void {
  if (Array.isArray(from) && Array.isArray(to)) {
    for (const [index, item] of to.entries()) copySentForms(from[index], item);
  } else if (isRecord(from) && isRecord(to)) {
    copySentEmpty(from, to);
    copyQuantityTexts(from, to);
    for (const name of Object.keys(to)) copySentForms(from[name], to[name]);
  }
}
