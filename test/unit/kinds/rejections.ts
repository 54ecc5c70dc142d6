/** Helpers for rejected writes. */
import { StatusError } from 'orchplane';

/** Every cause as `field: message`; throws if the write succeeds or fails in another way. */
export async function rejectionCauses(write: Promise<unknown>): Promise<string[]> {
  const outcome: unknown = await write.catch((error: unknown) => error);
  if (!StatusError.is(outcome, 'Invalid')) throw new Error('not rejected as Invalid', { cause: outcome });
  return (outcome.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}

/** The value for `rejects.toMatchObject` of a write that is Invalid for exactly these causes. */
export const invalidWith = (...causes: readonly (readonly [field: string, message: unknown])[]) => ({
  reason: 'Invalid',
  status: { details: { causes: causes.map(([field, message]) => ({ field, message })) } },
});
