/**
 * Adds the keywords of a zod schema (`withKeywords`) to the schema of its CRD.
 */
import { type Dialect, dialects } from '../../meta/dialect.js';
import type { SchemaKeywords } from '../../schema/hints.js';
import { extensionNames, type JSONSchemaProps } from '../../schema/json-schema.js';
import { isRecord, setOwn } from '../../util/json.js';
import type { Draft } from './context.js';

/** Replaces keywords of a draft; null removes one. Properties are added to those of the draft. */
export function applyKeywords(draft: Draft, keywords: SchemaKeywords, dialect: Dialect): void {
  const { properties, ...others } = inDialect(keywords, dialect) as SchemaKeywords;
  for (const [keyword, value] of Object.entries(others)) {
    if (value === null || value === undefined) delete draft[keyword as keyof JSONSchemaProps];
    else Object.assign(draft, { [keyword]: structuredClone(value) });
  }
  if (properties) draft.properties = { ...draft.properties, ...structuredClone(properties) };
}

/** Keywords whose values are data. */
const DATA: readonly string[] = ['default', 'enum', 'example'];

/** Renames the extensions inside keywords to those of a dialect. */
function inDialect(value: unknown, dialect: Dialect): unknown {
  if (Array.isArray(value)) return value.map((item) => inDialect(item, dialect));
  if (!isRecord(value)) return value;
  const renamed: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    setOwn(renamed, extensionIn(key, dialect), DATA.includes(key) ? inner : inDialect(inner, dialect));
  }
  return renamed;
}

function extensionIn(keyword: string, dialect: Dialect): string {
  const name = extensionNames.find((each) => dialects.some((one) => one.extension(each) === keyword));
  return name === undefined ? keyword : dialect.extension(name);
}
