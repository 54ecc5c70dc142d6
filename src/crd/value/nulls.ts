/**
 * Nulls where a schema has no place for them: taken out when nothing stands in for them. Those that have a default are
 * left for it; those in lists stay, and are refused later.
 */
import type { MutableRecord } from '../../util/json.js';
import { isRecord } from '../../util/json.js';
import type { SchemaView } from '../schema-view.js';
import { additionalSchema } from '../schema-view.js';

/** Changes a draft in place. */
export function dropNulls(schema: SchemaView, draft: unknown): void {
  if (Array.isArray(draft)) {
    const { items } = schema;
    if (items !== undefined) for (const item of draft) dropNulls(items, item);
  } else if (isRecord(draft)) dropFromFields(schema, draft);
}

function dropFromFields(schema: SchemaView, draft: MutableRecord): void {
  for (const key of Object.keys(draft)) {
    const inner = schema.properties.get(key) ?? additionalSchema(schema);
    if (inner === undefined) continue;
    const value = draft[key];
    if (value !== null) dropNulls(inner, value);
    else if (inner.raw.nullable !== true && !hasDefault(inner)) delete draft[key];
  }
}

/** A default that is null is none. */
export function hasDefault({ raw }: SchemaView): boolean {
  return raw.default !== undefined && raw.default !== null;
}
