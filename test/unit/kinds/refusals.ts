/** What a cluster says about objects that it refuses. */
import { StatusError } from 'orchplane';

/** Every cause as `field: message`; fails when the write went through, or failed in another way. */
export async function refusals(write: Promise<unknown>): Promise<string[]> {
  const outcome: unknown = await write.catch((error: unknown) => error);
  if (!StatusError.is(outcome, 'Invalid')) throw new Error('not refused as invalid', { cause: outcome });
  return (outcome.status.details?.causes ?? []).map(({ field, message }) => `${field}: ${message}`);
}

/** What `rejects.toMatchObject` finds in a write that is refused as invalid for these causes, and for no others. */
export const refusal = (...causes: readonly (readonly [field: string, message: unknown])[]) => ({
  reason: 'Invalid',
  status: { details: { causes: causes.map(([field, message]) => ({ field, message })) } },
});
