/**
 * A finalizer that holds an object as long as it is in use.
 */
import type { ApiObject } from '../../meta/object.js';

export interface Protection {
  readonly finalizer: string;
  /** Asked only about objects that are being deleted. */
  readonly isUsed: () => boolean | Promise<boolean>;
  readonly update: (metadata: ApiObject['metadata']) => Promise<unknown>;
}

/** Takes the finalizer off what is to go and is not used, and puts it on what has none. */
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
