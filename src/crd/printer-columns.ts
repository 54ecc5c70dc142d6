/**
 * Printer columns of custom resources: the name, and the columns that the CRD declares by JSONPath.
 */

import type { CellContext, Column } from '../kinds/columns.js';
import type { CustomResourceColumnDefinition } from '../kinds/generated/apiextensions-v1.js';
import { nameColumn } from '../kinds/shared/common-columns.js';
import type { DeepReadonly } from '../meta/object.js';
import { printGoValue } from '../text/go/go-value.js';
import { type JsonPath, JsonPathError, parseJsonPath } from '../text/json-path/json-path.js';
import { ValueBudget } from '../text/json-path/steps.js';
import { humanDuration, parseTime, timeToMs } from '../text/time/time.js';
import { encodeSorted, escapeForPages } from '../util/json.js';
import { getOrInsertComputed } from '../util/once.js';
import { toInt64 } from './value/keywords.js';

type Definition = DeepReadonly<CustomResourceColumnDefinition>;

/** Returns undefined if the CRD declares no columns; the default columns then apply. */
export function printerColumns(definitions: readonly Definition[] | undefined): readonly Column[] | undefined {
  if (definitions === undefined || definitions.length === 0) return undefined;
  const columns: Column[] = [];
  for (const definition of definitions) {
    const find = parseColumnPath(definition);
    // An invalid path ends the list; the columns before it are used.
    if (find === undefined) break;
    columns.push(buildColumn(definition, find));
  }
  return [nameColumn, ...columns];
}

/**
 * The cost limit of the cells of one table: visited values, and characters of printed objects and lists. When it is exceeded,
 * cells that may cost more than {@link CHEAP} are null.
 */
const MAX_TABLE_COST = 5_000_000;
/** Each row may cost this much in addition. */
const MAX_ROW_COST = 2000;
/** What most cells cost at most. */
const CHEAP = 100;
/** Characters of a text that cost as much as one printed character. */
const TEXT_PER_COST = 16;

/** What is left of the cost limit of a table in its current row. */
interface Allowance {
  object: unknown;
  left: number;
}

const allowances = new WeakMap<CellContext, Allowance>();

function allowanceOf(context: CellContext, object: unknown): Allowance {
  const allowance = getOrInsertComputed(allowances, context, () => ({ object: undefined, left: MAX_TABLE_COST }));
  if (allowance.object !== object) Object.assign(allowance, { object, left: allowance.left + MAX_ROW_COST });
  return allowance;
}

function parseColumnPath({ jsonPath }: Definition): JsonPath | undefined {
  try {
    return parseJsonPath(jsonPath);
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

function buildColumn({ name, type, format, description, priority, jsonPath }: Definition, find: JsonPath): Column {
  return {
    name,
    type: type as Column['type'],
    ...(format === undefined ? {} : { format }),
    description: description || `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    ...(priority === undefined ? {} : { priority }),
    cell(object, context) {
      const allowance = allowanceOf(context, object);
      const isOver = allowance.left <= 0;
      const budget = isOver ? new ValueBudget(CHEAP) : new ValueBudget();
      const found = find(object, budget) ?? [];
      const [value] = found;
      const cell = found.length === 0 || (isOver && isExpensive(value)) ? null : cellValue(type, value, context);
      const cost = budget.spent + (typeof cell === 'string' ? cell.length / charactersPerCost(value) : 0);
      if (cost > CHEAP) allowance.left -= cost;
      return cell;
    },
  };
}

/** A text is not copied, but each cell is part of the response. */
function charactersPerCost(value: unknown): number {
  return typeof value === 'string' ? TEXT_PER_COST : 1;
}

function isExpensive(value: unknown): boolean {
  if (typeof value === 'string') return value.length > CHEAP * TEXT_PER_COST;
  return typeof value === 'object' && value !== null;
}

/** The value of a cell. A value of another type than the column's results in null. */
function cellValue(type: string, value: unknown, context: CellContext): unknown {
  switch (type) {
    case 'string':
      return stringCell(value);
    case 'integer':
      return typeof value === 'number' ? toInt64(value) : typeof value === 'bigint' ? value : null;
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageCell(value, context) : null;
    default:
      return null;
  }
}

function stringCell(value: unknown): string {
  if (value === null || value === undefined) return '<no value>';
  return typeof value === 'object' ? escapeForPages(encodeSorted(value)) : printGoValue(value);
}

/** Only a time with hundreds of decimals is longer. The error about a long text would be expensive. */
const MAX_TIME_LENGTH = 256;

function ageCell(time: string, { nowMs }: CellContext): string {
  if (time === '' || time === 'null') return '<unknown>';
  if (time.length > MAX_TIME_LENGTH) return '<invalid>';
  try {
    return humanDuration(nowMs - timeToMs(parseTime(time)));
  } catch {
    // Any other parse error means that the value is not a time, which the table shows.
    return '<invalid>';
  }
}
