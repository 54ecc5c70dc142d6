/**
 * Lazy and cached values.
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

/**
 * The value of a key; `make` computes it if there is none. Like the method of this name that is proposed for Map and
 * WeakMap.
 */
export function getOrInsertComputed<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: (key: Key) => Value,
): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make(key);
    map.set(key, value);
  }
  return value;
}

/** Returns a function that computes its result for each key once. */
export function oncePerKey<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => getOrInsertComputed(known, key, make);
}
