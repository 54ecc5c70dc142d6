/**
 * The order of FlowSchemas in request matching and in tables.
 */
interface Ranked {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly matchingPrecedence: number };
}

/** Compares by matching precedence (low first), then by name. */
export function byPrecedence(left: Ranked, right: Ranked): number {
  const difference = left.spec.matchingPrecedence - right.spec.matchingPrecedence;
  if (difference !== 0) return difference;
  return left.metadata.name < right.metadata.name ? -1 : 1;
}
