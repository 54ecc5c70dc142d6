/** A minimal pod template, and common validation errors of workloads. */

export const pod = { containers: [{ name: 'c', image: 'i' }] };
export const template = { metadata: { labels: { a: 'b' } }, spec: pod };
export const selector = { matchLabels: { a: 'b' } };

/** The causes as `field: message`, empty if the write succeeds. `rejectionCauses` is for writes that must fail. */
export async function problemsOf(write: Promise<unknown>): Promise<string[]> {
  const failure: unknown = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (failure === undefined) return [];
  const { status } = failure as { status?: { details?: { causes?: { field: string; message: string }[] } } };
  if (status?.details?.causes === undefined) throw failure;
  return status.details.causes.map(({ field, message }) => `${field}: ${message}`);
}

export const NEGATIVE = 'Invalid value: -1: must be greater than or equal to 0';
export const MISMATCH = '`selector` does not match template `labels`';
