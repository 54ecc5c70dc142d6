/**
 * A finalizer that delays the deletion of an object while it is in use.
 */
import type { ApiObject } from '../../meta/object.js';

export interface Protection {
  readonly finalizer: string;
  /** Called only for objects that are being deleted. */
  readonly isUsed: () => boolean | Promise<boolean>;
  readonly update: (metadata: ApiObject['metadata']) => Promise<unknown>;
}

/** Removes the finalizer from an unused object that is being deleted; adds it to an object without it. */
export async function protect({ metadata }: Pick<ApiObject, 'metadata'>, protection: Protection): Promise<void> {
  const { finalizer, isUsed, update } = protection;
  const { finalizers = [], deletionTimestamp } = metadata;
  const isHeld = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    if (!isHeld) await update({ ...metadata, finalizers: [...finalizers, finalizer] });
    return;
  }
  if (!isHeld || (await isUsed())) return;
  await update({ ...metadata, finalizers: finalizers.filter((held) => held !== finalizer) });
}
