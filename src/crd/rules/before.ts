/**
 * What a value was before an update, on the way down through an object. A failure at a value that has not changed is
 * not held against the one who changes something else; where a value cannot be told from its neighbours, as in a list
 * without keys, the nearest one above it that can be decides.
 */
import type { SchemaView } from '../schema-view.js';
import { Twin } from '../value/twin.js';

export class Before {
  /** There was nothing, as on create. */
  static readonly NOTHING = new Before(undefined, undefined, false);

  readonly #twin: Twin | undefined;
  readonly #above: Twin | undefined;
  readonly #ratchets: boolean;

  private constructor(twin: Twin | undefined, above: Twin | undefined, ratchets: boolean) {
    this.#twin = twin;
    this.#above = above;
    this.#ratchets = ratchets;
  }

  /** `ratchets` says whether failures at unchanged values are let through. */
  static of(twin: Twin, ratchets: boolean): Before {
    return new Before(twin, undefined, ratchets);
  }

  static ofUpdate(schema: SchemaView, value: unknown, old: unknown): Before {
    return Before.of(new Twin(schema, value, old), true);
  }

  /** Undefined when it is not known, or null. */
  get value(): unknown {
    return this.#twin?.old ?? undefined;
  }

  field(name: string): Before {
    if (this.#twin === undefined) return this;
    // Both objects are in the version of the request, so that what they say about it is the same in any case.
    const isVersion = this.#above === undefined && (name === 'apiVersion' || name === 'kind');
    return new Before(this.#twin.field(name), this.#twin, this.#ratchets && !isVersion);
  }

  item(index: number): Before {
    if (this.#twin === undefined) return this;
    return new Before(this.#twin.item(index), this.#twin, this.#ratchets);
  }

  get isUnchanged(): boolean {
    return this.#ratchets && (this.#twin ?? this.#above)?.isUnchanged === true;
  }
}
