/** Where an object keeps what its lazy members are worked out from. */
export const SOURCE: unique symbol = Symbol('source');

/**
 * Engines forget the form of objects of which there are none, and with it all the code that they have compiled for it. Of
 * classes whose objects come and go with a request there is none whenever memory is cleared between two requests; what ran
 * fast before is then found out and compiled anew. So of each of them one object stays.
 */
const kept: object[] = [];

/** Keeps an object for good; it should hold on to nothing, but have values of the usual types. */
export function pinHiddenClass(object: object): void {
  kept.push(object);
}

interface From<Source> {
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
