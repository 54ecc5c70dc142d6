/**
 * Printer columns of custom resources: the name, and the columns that the CRD declares by JSONPath.
 */

import type { CellContext, Column } from '../kinds/columns.js';
import type { CustomResourceColumnDefinition } from '../kinds/generated/apiextensions-v1.js';
import { nameColumn } from '../kinds/shared/common-columns.js';
import type { DeepReadonly } from '../meta/object.js';
import { printGoValue } from '../text/go/go-value.js';
import { type JsonPath, JsonPathError, parseJsonPath } from '../text/json-path/json-path.js';
import { TooManyValuesError, ValueBudget } from '../text/json-path/steps.js';
import { humanDuration, parseTime, timeToMs } from '../text/time/time.js';
import { recoverFrom } from '../util/catch-error.js';
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
 * The cost limit of the cells of one table: values that paths visit, and characters of printed objects and lists. A cell that
 * exceeds it is null, but each row and each cell may have a usual cost, and each row may print its object once.
 */
const MAX_TABLE_WORK = 5_000_000;
const WORK_OF_ROW = 2000;
const WORK_OF_CELL = 100;
/** Characters of a text that cost as much as one printed character: the text itself is shared. */
const TEXT_PER_WORK = 16;

interface TableBudget {
  /** The object of the current row. */
  row: unknown;
  /** Whether the cells of the row may print it once. */
  mayPrint: boolean;
  readonly work: ValueBudget;
  /** The lengths of the large objects and lists that were measured. */
  readonly lengths: Map<object, number>;
}

/** By the context of a table. */
const budgets = new WeakMap<CellContext, TableBudget>();

const newBudget = (): TableBudget => ({
  row: undefined,
  mayPrint: true,
  work: new ValueBudget(MAX_TABLE_WORK),
  lengths: new Map(),
});

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
      const budget = getOrInsertComputed(budgets, context, newBudget);
      const { work, lengths } = budget;
      if (budget.row === object) work.fillTo(WORK_OF_CELL);
      else {
        Object.assign(budget, { row: object, mayPrint: true });
        work.fillTo(WORK_OF_ROW);
      }
      const build = () => {
        const found = find(object, work);
        if (found === undefined || found.length === 0) return null;
        const [value] = found;
        if (type === 'string') {
          const cost = typeof value === 'string' ? value.length / TEXT_PER_WORK : lengthOf(value, lengths);
          if (work.left < cost && budget.mayPrint) {
            budget.mayPrint = false;
            work.fillTo(lengthOf(object, lengths));
          }
          work.spend(cost);
        }
        return cellValue(type, value, context);
      };
      return recoverFrom(TooManyValuesError, build, () => null);
    },
  };
}

/** A shorter part of an object is measured again. */
const MIN_KNOWN_LENGTH = 1_000;

/** About the characters of a value in JSON. */
function lengthOf(value: unknown, known: Map<object, number>): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let length = known.get(value);
  if (length !== undefined) return length;
  length = 2;
  if (Array.isArray(value)) for (const item of value) length += 1 + lengthOf(item, known);
  else for (const [key, member] of Object.entries(value)) length += key.length + 4 + lengthOf(member, known);
  if (length >= MIN_KNOWN_LENGTH) known.set(value, length);
  return length;
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
