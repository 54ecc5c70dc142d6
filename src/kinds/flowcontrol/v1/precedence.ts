/**
 * In which order FlowSchemas are tried, and shown.
 */

interface Ranked {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly matchingPrecedence: number };
}

/** Low numbers come first; of the same number, names decide. */
export function byPrecedence(left: Ranked, right: Ranked): number {
  const difference = left.spec.matchingPrecedence - right.spec.matchingPrecedence;
  if (difference !== 0) return difference;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
