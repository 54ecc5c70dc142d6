/**
 * Lazily computed members that keep V8's hidden classes (object layouts) stable.
 */

/** The property with the value from which an object computes its lazy members. */
export const SOURCE: unique symbol = Symbol('source');

interface From<Source> {
  readonly [SOURCE]: Source;
}

type Accessors<Source, Members> = {
  readonly [Name in keyof Members]: (this: From<Source>) => Members[Name];
};

/**
 * Returns a function that adds lazily computed members to an object. All objects share the accessors: an accessor in an
 * object literal is a new function for each object, which makes the engine fall back to slow dictionary layouts. The
 * members are enumerable, so that a copy contains their values.
 *
 * @example
 * const withSum = lazyMembers<() => number, { sum: number }>({
 *   sum() {
 *     return this[SOURCE]();
 *   },
 * });
 */
export function lazyMembers<Source, Members extends object>(accessors: Accessors<Source, Members>) {
  const descriptors = Object.entries(accessors).map(
    ([name, get]) => [name, { enumerable: true, configurable: true, get }] as const,
  );
  return <Rest extends object>(to: Rest, source: Source): Rest & Readonly<Members> => {
    Object.defineProperty(to, SOURCE, { value: source });
    for (const [name, accessor] of descriptors) Object.defineProperty(to, name, accessor as PropertyDescriptor);
    return to as Rest & Readonly<Members>;
  };
}
