/** A mutation that cannot be carried out; whether that matters is for the failure policy of its policy to say. */
export class MutationError extends Error {
  override readonly name = 'MutationError';
}
