/**
 * Tables of a custom kind: its name, and the columns that its definition names by JSONPath.
 */

import type { DeepReadonly } from '../../meta/object.js';
import { humanDuration, parseTime, timeToMs } from '../../meta/time.js';
import { printJson } from '../../util/json.js';
import type { CustomResourceColumnDefinition } from '../apiextensions/v1/schema/definition.js';
import type { CellContext, Column } from '../columns.js';
import { nameColumn } from '../shared/common-columns.js';
import { type JsonPath, JsonPathError, parseJsonPath } from './json-path.js';

type Definition = DeepReadonly<CustomResourceColumnDefinition>;

/** Undefined for the columns that every kind has. */
export function customColumns(definitions: readonly Definition[] | undefined): readonly Column[] | undefined {
  if (definitions === undefined || definitions.length === 0) return undefined;
  const columns: Column[] = [];
  for (const definition of definitions) {
    const find = pathOf(definition);
    // One column that cannot be read, and the table is that of any kind.
    if (find === undefined) return undefined;
    columns.push(column(definition, find));
  }
  return [nameColumn, ...columns];
}

function pathOf({ jsonPath }: Definition): JsonPath | undefined {
  try {
    return parseJsonPath(jsonPath);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function column({ name, type, format, description, priority, jsonPath }: Definition, find: JsonPath): Column {
  return {
    name,
    type: type as Column['type'],
    ...(format === undefined ? {} : { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority === undefined ? {} : { priority }),
    cell(object, context) {
      const found = find(object);
      const [value] = found ?? [];
      return found === undefined || found.length === 0 ? null : cellOf(type, value, context);
    },
  };
}

/** A value of another type than the column's is not shown. */
function cellOf(type: string, value: unknown, context: CellContext): unknown {
  switch (type) {
    case 'string':
      return textOf(value);
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, context) : null;
    default:
      return null;
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'object') return printJson(value);
  return String(value);
}

function ageOf(time: string, { nowMs }: CellContext): string {
  try {
    return humanDuration(nowMs - timeToMs(parseTime(time)));
  } catch {
    // Whatever else it is, it is no time, and the table says so.
    return '<invalid>';
  }
}
