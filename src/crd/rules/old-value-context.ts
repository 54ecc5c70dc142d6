/**
 * The old value at each node of an update, for validation rules. It has two uses: `oldSelf` in a rule is this value, and
 * a violation at an unchanged value is a warning instead of an error (ratcheting; transition rules are excepted). Where a value cannot be correlated, as in a list
 * without keys, `oldSelf` is absent and the nearest correlated ancestor decides about ratcheting.
 */
import type { StructuralSchema } from '../structural-schema.js';
import { CorrelatedObject } from '../value/correlated-object.js';

/** The value of `oldSelf` at a node, and whether violations are ratcheted there. upstream: schema/cel/validation.go ratchetingOptions */
export class OldValueContext {
  /** No old value, as on create. */
  static readonly NONE = new OldValueContext(undefined, undefined, false);

  private constructor(
    private readonly correlated: CorrelatedObject | undefined,
    private readonly nearestCorrelated: CorrelatedObject | undefined,
    private readonly ratchets: boolean,
  ) {}

  /** `ratchets` enables ratcheting: violations at unchanged values become warnings. */
  static of(correlated: CorrelatedObject, ratchets: boolean): OldValueContext {
    return new OldValueContext(correlated, undefined, ratchets);
  }

  static forUpdate(schema: StructuralSchema, value: unknown, old: unknown): OldValueContext {
    return OldValueContext.of(new CorrelatedObject(schema, value, old), true);
  }

  /** The value of `oldSelf`; undefined if there is none or it is null. */
  get oldValue(): unknown {
    return this.correlated?.oldValue ?? undefined;
  }

  field(name: string): OldValueContext {
    if (this.correlated === undefined) return this;
    // Both objects were converted to the version of the request, so apiVersion and kind are always equal and are not
    // ratcheted.
    const isVersion = this.nearestCorrelated === undefined && (name === 'apiVersion' || name === 'kind');
    return new OldValueContext(this.correlated.field(name), this.correlated, this.ratchets && !isVersion);
  }

  item(index: number): OldValueContext {
    if (this.correlated === undefined) return this;
    return new OldValueContext(this.correlated.item(index), this.correlated, this.ratchets);
  }

  /** True if a violation here is only a warning. */
  get isRatcheted(): boolean {
    return this.ratchets && (this.correlated ?? this.nearestCorrelated)?.isUnchanged === true;
  }
}
