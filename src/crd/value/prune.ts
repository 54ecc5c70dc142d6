/**
 * Pruning: removes fields that the schema does not specify. Below `x-kubernetes-preserve-unknown-fields`, specified
 * fields are still pruned inside.
 */
import { compareUtf8 } from '../../text/go/go-value.js';
import { BoundedTexts } from '../../util/bounded-texts.js';
import type { MutableRecord } from '../../util/json.js';
import { isRecord } from '../../util/json.js';
import type { StructuralSchema } from '../structural-schema.js';
import { additionalSchema } from '../structural-schema.js';

/** Options of pruning. */
export interface PruneOptions {
  /** The value is a whole object: `apiVersion`, `kind` and `metadata` are always known. */
  readonly isResource?: boolean;
}

/**
 * Removes unknown fields from a draft in place. Returns their sorted paths: `spec.foo`, `spec.list[0].x`. Of many or long
 * ones, only the first ({@link BoundedTexts}).
 */
export function pruneUnknown(
  schema: StructuralSchema | undefined,
  draft: unknown,
  options: PruneOptions = {},
): string[] {
  const pruning = new Pruning();
  pruning.prune(schema, draft, options.isResource);
  return pruning.unknown.texts.sort(compareUtf8);
}

/** Whether {@link pruneUnknown} would change a value, which may be frozen. */
export function hasUnknown(schema: StructuralSchema, value: unknown, options: PruneOptions = {}): boolean {
  const pruning = new Pruning({ keepsUnknown: true });
  pruning.prune(schema, value, options.isResource);
  return pruning.found;
}

const RESOURCE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

class Pruning {
  readonly unknown = new BoundedTexts();
  found = false;
  readonly #keepsUnknown: boolean;
  readonly #path: (string | number)[] = [];

  constructor({ keepsUnknown = false } = {}) {
    this.#keepsUnknown = keepsUnknown;
  }

  prune(schema: StructuralSchema | undefined, value: unknown, isRoot = false): void {
    const isResource = isRoot || schema?.embeddedResource === true;
    const keeps = schema?.preserveUnknownFields === true;
    if (Array.isArray(value)) this.#items(schema, value, keeps);
    else if (isRecord(value)) this.#fields(schema, value, { keeps, isResource });
  }

  /** A list that preserves unknown fields also preserves those of its items, whatever their own schema says. */
  #items(schema: StructuralSchema | undefined, list: readonly unknown[], keeps: boolean): void {
    const items = schema?.items;
    if (keeps && items === undefined) return;
    for (let index = 0; index < list.length; index++) {
      const item = list[index];
      this.#path.push(index);
      if (!keeps) this.prune(items, item);
      else if (Array.isArray(item)) this.#items(items, item, keeps);
      else if (isRecord(item)) this.#fields(items, item, { keeps, isResource: items?.embeddedResource === true });
      this.#path.pop();
    }
  }

  #fields(
    schema: StructuralSchema | undefined,
    value: MutableRecord,
    how: { keeps: boolean; isResource: boolean },
  ): void {
    for (const key of Object.keys(value)) {
      if (how.isResource && RESOURCE_FIELDS.has(key)) continue;
      const property = schema?.properties.get(key);
      if (property !== undefined || schema?.additionalProperties !== undefined) {
        this.#path.push(key);
        this.prune(property ?? additionalSchema(schema as StructuralSchema), value[key]);
        this.#path.pop();
      } else if (!how.keeps) {
        this.found = true;
        if (this.#keepsUnknown) return;
        // At the top, the fields of every resource are removed without being reported.
        if (schema === undefined || this.#path.length > 0 || !RESOURCE_FIELDS.has(key)) this.#note(key);
        delete value[key];
      }
    }
  }

  #note(key: string): void {
    if (this.unknown.isFull) return;
    let path = '';
    for (const step of [...this.#path, key]) {
      path += typeof step === 'number' ? `[${step}]` : path === '' ? step : `.${step}`;
    }
    this.unknown.add(path);
  }
}
