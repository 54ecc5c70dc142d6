/**
 * What a table of objects shows, column by column.
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';

export interface CellContext {
  /** The cluster's clock, for ages. */
  readonly nowMs: number;
  readonly dialect: Dialect;
}

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 (left out): always shown; higher: only in wide output. */
  readonly priority?: number;
  /** The reference server fills the cell and forgets to say what it is. */
  readonly isHidden?: boolean;
  readonly cell: (object: ApiObject, context: CellContext) => unknown;
}

/** Something about an object that clients may want to know before they show its row. */
export interface RowCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
