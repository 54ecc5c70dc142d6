/**
 * Members that are worked out when somebody asks for them.
 *
 * An accessor in an object literal is a new function for each object, and engines then give each object a form of its
 * own, a hash table: every read of any of its members is a search, wherever two such objects meet. Here all objects share
 * the accessors, and with them one form.
 */

/** Where an object keeps what its lazy members are worked out from. */
export const SOURCE: unique symbol = Symbol('source');

export interface From<Source> {
  readonly [SOURCE]: Source;
}

type Accessors<Source, Members> = {
  readonly [Name in keyof Members]: (this: From<Source>) => Members[Name];
};

/**
 * A function that adds members to an object, each answered by the accessor of that name from what is given along. They
 * are enumerable, so that a copy has their values.
 *
 * @example
 * const withSum = lazyMembers<() => number, { sum: number }>({
 *   sum() {
 *     return this[SOURCE]();
 *   },
 * });
 */
export function lazyMembers<Source, Members extends object>(accessors: Accessors<Source, Members>) {
  const described = Object.entries(accessors).map(
    ([name, get]) => [name, { enumerable: true, configurable: true, get }] as const,
  );
  return <Rest extends object>(to: Rest, source: Source): Rest & Readonly<Members> => {
    Object.defineProperty(to, SOURCE, { value: source });
    for (const [name, accessor] of described) Object.defineProperty(to, name, accessor as PropertyDescriptor);
    return to as Rest & Readonly<Members>;
  };
}
