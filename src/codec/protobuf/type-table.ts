/**
 * The types of all groups, in the names of a dialect. They are looked up once per dialect and process.
 */
import type { Dialect } from '../../meta/dialect.js';
import type { TypeTable } from './notation.js';
import { createTypeTable } from './notation.js';
import { SHAPE_TYPES } from './shapes.js';
import { groups } from './types/index.js';

const tables = new WeakMap<Dialect, TypeTable>();

export function typesIn(dialect: Dialect): TypeTable {
  const known = tables.get(dialect);
  if (known !== undefined) return known;
  const table = createTypeTable(groups, SHAPE_TYPES, dialect);
  tables.set(dialect, table);
  return table;
}
