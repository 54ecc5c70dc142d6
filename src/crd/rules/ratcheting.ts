/**
 * Ratcheting of validation rules: the correlated old value at each node of an update. A violation at an unchanged value
 * is only a warning. Where a value cannot be correlated, as in a list without keys, the nearest correlated ancestor
 * decides.
 */
import type { StructuralSchema } from '../structural-schema.js';
import { CorrelatedObject } from '../value/correlated-object.js';

/** The old value of a node and whether violations are ratcheted there. */
export class RatchetingContext {
  /** No old value, as on create. */
  static readonly NONE = new RatchetingContext(undefined, undefined, false);

  readonly #correlated: CorrelatedObject | undefined;
  readonly #nearestCorrelated: CorrelatedObject | undefined;
  readonly #ratchets: boolean;

  private constructor(
    correlated: CorrelatedObject | undefined,
    nearestCorrelated: CorrelatedObject | undefined,
    ratchets: boolean,
  ) {
    this.#correlated = correlated;
    this.#nearestCorrelated = nearestCorrelated;
    this.#ratchets = ratchets;
  }

  /** `ratchets` enables ratcheting: violations at unchanged values are ignored. */
  static of(correlated: CorrelatedObject, ratchets: boolean): RatchetingContext {
    return new RatchetingContext(correlated, undefined, ratchets);
  }

  static forUpdate(schema: StructuralSchema, value: unknown, old: unknown): RatchetingContext {
    return RatchetingContext.of(new CorrelatedObject(schema, value, old), true);
  }

  /** The old value; undefined if there is none or it is null. */
  get oldValue(): unknown {
    return this.#correlated?.old ?? undefined;
  }

  field(name: string): RatchetingContext {
    if (this.#correlated === undefined) return this;
    // Both objects were converted to the version of the request, so apiVersion and kind are always equal and are not
    // ratcheted.
    const isVersion = this.#nearestCorrelated === undefined && (name === 'apiVersion' || name === 'kind');
    return new RatchetingContext(this.#correlated.field(name), this.#correlated, this.#ratchets && !isVersion);
  }

  item(index: number): RatchetingContext {
    if (this.#correlated === undefined) return this;
    return new RatchetingContext(this.#correlated.item(index), this.#correlated, this.#ratchets);
  }

  get isUnchanged(): boolean {
    return this.#ratchets && (this.#correlated ?? this.#nearestCorrelated)?.isUnchanged === true;
  }
}
