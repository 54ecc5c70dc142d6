/**
 * Lazy values.
 */

/**
 * Returns a function that computes its result on the first call and caches it.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function once<Result>(make: () => Result): () => Result {
  let cached: { readonly result: Result } | undefined;
  return () => {
    cached ??= { result: make() };
    return cached.result;
  };
}
