/**
 * Members that are worked out when somebody asks for them.
 *
 * An accessor in an object literal is a new function for each object, and engines then give each object a form of its
 * own, a hash table: every read of any of its members is a search, wherever objects from two such literals meet. Here
 * all objects share the accessors, and with them one form.
 */
const SOURCE = Symbol('source');

type Sources<Members> = { readonly [Name in keyof Members]: () => Members[Name] };

/**
 * A function that adds the named members to an object, each answered by the function of that name in the second
 * argument. They are enumerable, so that a copy has their values.
 */
export function lazyMembers<Members extends object>() {
  return (...names: readonly (keyof Members & string)[]) => {
    const accessors = names.map((name) => {
      function get(this: { readonly [SOURCE]: Sources<Members> }): unknown {
        return this[SOURCE][name]();
      }
      return [name, { enumerable: true, get }] as const;
    });
    return <Rest extends object>(to: Rest, sources: Sources<Members>): Rest & Readonly<Members> => {
      Object.defineProperty(to, SOURCE, { value: sources });
      for (const [name, accessor] of accessors) Object.defineProperty(to, name, accessor);
      return to as Rest & Readonly<Members>;
    };
  };
}
