/**
 * What an event keeps of an object: a copy that nobody changes any more, without the records of who owns which field
 * where the policy does not want them.
 */
import { isRecord, MAX_DEPTH, type MutableRecord, NumberText, setOwn } from '../util/json.js';

export function keptObject(object: unknown, { omitManagedFields }: { readonly omitManagedFields: boolean }): unknown {
  if (!omitManagedFields) return Object.isFrozen(object) && isRecord(object) ? object : copied(object);
  return copied(withoutManagedFields(object));
}

/** Like copyJson, but numbers of a body that kept their spelling become plain ones, and circles end somewhere. */
function copied(value: unknown, depth = 0): unknown {
  if (value instanceof NumberText) return value.toJSON();
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => copied(item, depth + 1));
  if (!isRecord(value)) return value;
  const copy: MutableRecord = {};
  for (const key of Object.keys(value)) if (value[key] !== undefined) setOwn(copy, key, copied(value[key], depth + 1));
  return copy;
}

/** Of the object itself, of the items of a list and of the objects that rows of a table carry along. */
function withoutManagedFields(object: unknown): unknown {
  if (!isRecord(object)) return object;
  const shown = bare(object);
  if (Array.isArray(shown['items'])) return { ...shown, items: shown['items'].map(bareIfObject) };
  if (shown['kind'] !== 'Table' || !Array.isArray(shown['rows'])) return shown;
  const rows = shown['rows'].map((row: unknown) =>
    isRecord(row) ? { ...row, object: bareIfObject(row['object']) } : row,
  );
  return { ...shown, rows };
}

function bareIfObject(value: unknown): unknown {
  return isRecord(value) ? bare(value) : value;
}

function bare(object: Record<string, unknown>): Record<string, unknown> {
  const { metadata } = object;
  if (!isRecord(metadata) || !Object.hasOwn(metadata, 'managedFields')) return object;
  const { managedFields: _left, ...rest } = metadata;
  return { ...object, metadata: rest };
}
