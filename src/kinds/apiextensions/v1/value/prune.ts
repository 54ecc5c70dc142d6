/**
 * What of a value a schema knows: fields that nothing in it speaks of are left out.
 */
import type { MutableRecord } from '../../../../util/json.js';
import { isRecord, setOwn } from '../../../../util/json.js';
import { additionalSchema, type SchemaView } from '../schema/schema-view.js';

const OF_EVERY_RESOURCE = ['apiVersion', 'kind', 'metadata'];

/** A copy without unknown fields. `isResource`: the value is a whole object, whose first three fields are known. */
export function pruned(value: unknown, schema: SchemaView | undefined, isResource: boolean): unknown {
  if (Array.isArray(value))
    return value.map((item) => pruned(item, schema?.items, schema?.items?.embeddedResource === true));
  if (!isRecord(value)) return value;
  if (schema === undefined) return {};
  const out: MutableRecord = {};
  for (const key of Object.keys(value)) {
    const inner = schema.properties.get(key) ?? additionalSchema(schema);
    if (isResource && OF_EVERY_RESOURCE.includes(key)) setOwn(out, key, value[key]);
    else if (inner !== undefined) setOwn(out, key, pruned(value[key], inner, inner.embeddedResource));
    else if (schema.preserveUnknownFields === true) setOwn(out, key, value[key]);
    else if (schema.additionalProperties !== undefined) setOwn(out, key, pruned(value[key], undefined, false));
  }
  return out;
}
