/**
 * Values under the keys of objects that this process cannot decode: encrypted ones, and those that another program has
 * written. Requests for these objects fail, as in the reference server; all others are answered.
 */
import type { ApiObject } from '../meta/object.js';
import { keyText, type ObjectKey, type ObjectRange } from '../storage/types.js';
import { messageOf } from '../util/message-of.js';
import { StoredValueError } from './values.js';

export class UnreadableValues {
  readonly #problems = new Map<string, { readonly key: ObjectKey; readonly problem: string }>();

  clear(): void {
    this.#problems.clear();
  }

  delete(key: ObjectKey): void {
    this.#problems.delete(keyText(key));
  }

  /** Returns what `decode` returns, or undefined if the value is not that of the object. */
  decode(key: ObjectKey, decode: () => ApiObject): ApiObject | undefined {
    try {
      const object = decode();
      const { name, namespace = '' } = object.metadata;
      if (name !== key.name || namespace !== key.namespace)
        throw new StoredValueError('the value is of another object');
      this.delete(key);
      return object;
    } catch (error) {
      this.#problems.set(keyText(key), { key, problem: messageOf(error) });
      return undefined;
    }
  }

  /** The first value in a range, with the problem. */
  firstIn({ storageKey, namespace, name }: ObjectRange): string | undefined {
    for (const { key, problem } of this.#problems.values()) {
      const isInRange = (namespace ?? key.namespace) === key.namespace && (name ?? key.name) === key.name;
      if (storageKey !== key.storageKey || !isInRange) continue;
      return `unable to decode ${[storageKey, key.namespace, key.name].filter(Boolean).join('/')} in etcd: ${problem}`;
    }
    return undefined;
  }
}
