/**
 * Removes nulls that the schema does not allow. A null with a default is kept for defaulting; nulls in lists are kept
 * and fail validation.
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

/** A null default counts as no default. */
export function hasDefault({ raw }: SchemaView): boolean {
  return raw.default !== undefined && raw.default !== null;
}
