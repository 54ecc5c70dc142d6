/**
 * How many watches have to be told of a write. Selectors are not looked at: they have to be tried on every event anyway.
 */
import type { ResourceAttributes } from '../protocol/access.js';
import type { Undo } from '../util/clock.js';

/** Watches by this field of this resource are found by it, and so do not cost those who write other objects. */
const INDEXED = { resource: 'pods', field: 'spec.nodeName' };

export class Watchers {
  readonly #counts = new Map<string, number>();

  /** A watch has begun; undone when it ends. */
  add(attributes: ResourceAttributes): Undo {
    if (isIndexed(attributes)) return () => undefined;
    const key = keyOf(attributes, attributes.namespace, attributes.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  /** Those of the whole resource, of its namespace, and of the very object. */
  of(attributes: ResourceAttributes): number {
    if (this.#counts.size === 0) return 0;
    const { namespace, name } = attributes;
    let count = this.#count(attributes, '', '');
    if (namespace !== '') count += this.#count(attributes, namespace, '');
    if (name !== '') count += this.#count(attributes, namespace, name);
    return count;
  }

  #count(attributes: ResourceAttributes, namespace: string, name: string): number {
    return this.#counts.get(keyOf(attributes, namespace, name)) ?? 0;
  }
}

function keyOf({ group, resource }: ResourceAttributes, namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}

function isIndexed({ resource, fieldSelector = [] }: ResourceAttributes): boolean {
  if (resource !== INDEXED.resource) return false;
  return fieldSelector.some(
    ({ key, operator, values }) => key === INDEXED.field && operator === 'In' && values[0] !== '',
  );
}
