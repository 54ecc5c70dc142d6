/**
 * Correlates a value with its old value: fields by name, list items by their keys. Ratcheting depends on whether a
 * value is unchanged: findings of the schema are then dropped, and violations of CEL rules become warnings.
 *
 * The comparison differs from equality: an object with a field that the schema does not specify always counts as
 * changed, and a `map` list is unchanged in any order.
 */

import { deepEqual, isRecord, own } from '../../util/json.js';
import type { StructuralSchema } from '../structural-schema.js';
import { additionalSchema } from '../structural-schema.js';
import { jsonKind } from './json-kind.js';

/** A value and its old value. upstream: apiserver/pkg/cel/common/equality.go CorrelatedObject */
export class CorrelatedObject {
  #fields?: Map<string, CorrelatedObject>;
  #items?: Map<number, CorrelatedObject>;
  #oldByKey?: ReadonlyMap<string, unknown>;
  #unchanged?: boolean;

  constructor(
    private readonly schema: StructuralSchema,
    readonly value: unknown,
    readonly oldValue: unknown,
  ) {}

  /** The correlated field, if both values have it and the schema specifies it. */
  field(name: string): CorrelatedObject | undefined {
    const cached = this.#fields?.get(name);
    if (cached !== undefined) return cached;
    const { value, oldValue } = this;
    if (!isRecord(value) || !isRecord(oldValue) || !Object.hasOwn(value, name) || !Object.hasOwn(oldValue, name))
      return undefined;
    const schema = this.schema.properties.get(name) ?? additionalSchema(this.schema);
    if (schema === undefined) return undefined;
    const correlated = new CorrelatedObject(schema, value[name], oldValue[name]);
    this.#fields ??= new Map();
    this.#fields.set(name, correlated);
    return correlated;
  }

  /** An item of a `map` list, correlated with the old item that has the same keys. */
  item(index: number): CorrelatedObject | undefined {
    const cached = this.#items?.get(index);
    if (cached !== undefined) return cached;
    const { items, listType } = this.schema;
    if (items === undefined || listType !== 'map' || !Array.isArray(this.value) || !Array.isArray(this.oldValue)) {
      return undefined;
    }
    const item: unknown = this.value[index];
    const key = this.#keyOf(item);
    this.#oldByKey ??= this.#keyed(this.oldValue);
    const old = key === undefined ? undefined : this.#oldByKey.get(key);
    if (old === undefined) return undefined;
    const correlated = new CorrelatedObject(items, item, old);
    this.#items ??= new Map();
    this.#items.set(index, correlated);
    return correlated;
  }

  get isUnchanged(): boolean {
    this.#unchanged ??= this.#compare();
    return this.#unchanged;
  }

  #compare(): boolean {
    const { value, oldValue } = this;
    if (Array.isArray(value)) return Array.isArray(oldValue) && this.#sameItems(value, oldValue);
    if (isRecord(value)) return isRecord(oldValue) && this.#sameFields(value, oldValue);
    return deepEqual(value, oldValue);
  }

  #sameItems(value: readonly unknown[], old: readonly unknown[]): boolean {
    if (value.length !== old.length) return false;
    if (this.schema.listType !== 'map') return deepEqual(value, old);
    return value.every((_, index) => this.item(index)?.isUnchanged === true);
  }

  #sameFields(value: Record<string, unknown>, old: Record<string, unknown>): boolean {
    const names = Object.keys(value);
    return names.length === Object.keys(old).length && names.every((name) => this.field(name)?.isUnchanged === true);
  }

  /** If two old items have the same keys, the first one is used. */
  #keyed(items: readonly unknown[]): ReadonlyMap<string, unknown> {
    const byKey = new Map<string, unknown>();
    for (const item of items) {
      const key = this.#keyOf(item);
      if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
    }
    return byKey;
  }

  #keyOf(item: unknown): string | undefined {
    const { type, listMapKeys } = this.schema;
    if (!isRecord(item) || type !== 'array' || listMapKeys.length === 0) return undefined;
    const parts: string[] = [];
    for (const name of listMapKeys) {
      const part = own(item, name);
      const kind = jsonKind(part);
      if (kind === 'null' || kind === 'object' || kind === 'array') return undefined;
      parts.push(`${kind}:${JSON.stringify(String(part))}`);
    }
    return parts.join(',');
  }
}
