/**
 * Ratcheting of validation rules: the correlated old value at each node of an update. A violation at an unchanged value
 * is only a warning. Where a value cannot be correlated, as in a list without keys, the nearest correlated ancestor
 * decides.
 */
import type { SchemaView } from '../schema-view.js';
import { Twin } from '../value/correlated-object.js';

export class Before {
  /** No old value, as on create. */
  static readonly NOTHING = new Before(undefined, undefined, false);

  readonly #twin: Twin | undefined;
  readonly #above: Twin | undefined;
  readonly #ratchets: boolean;

  private constructor(twin: Twin | undefined, above: Twin | undefined, ratchets: boolean) {
    this.#twin = twin;
    this.#above = above;
    this.#ratchets = ratchets;
  }

  /** `ratchets` enables ratcheting: violations at unchanged values are ignored. */
  static of(twin: Twin, ratchets: boolean): Before {
    return new Before(twin, undefined, ratchets);
  }

  static ofUpdate(schema: SchemaView, value: unknown, old: unknown): Before {
    return Before.of(new Twin(schema, value, old), true);
  }

  /** The old value; undefined if there is none or it is null. */
  get value(): unknown {
    return this.#twin?.old ?? undefined;
  }

  field(name: string): Before {
    if (this.#twin === undefined) return this;
    // Both objects were converted to the version of the request, so apiVersion and kind are always equal and are not
    // ratcheted.
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
