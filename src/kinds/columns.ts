/**
 * The columns and row conditions of tables (`meta.k8s.io` Table responses).
 */
import type { Dialect } from '../meta/dialect.js';
import type { ApiObject } from '../meta/object.js';

/** What a cell may depend on besides its object. */
export interface CellContext {
  /** The current time of the cluster's clock, for ages. */
  readonly nowMs: number;
  readonly dialect: Dialect;
}

/** A table column. `Object` is the type of the kind that declares it. */
export interface Column<Object = unknown> {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 or absent: in every output; higher: only in wide output. */
  readonly priority?: number;
  /** The reference server returns the cell without a column definition. */
  readonly isHidden?: boolean;
  readonly cell: (object: ApiObject & Object, context: CellContext) => unknown;
}

/** A condition of a table row. */
export interface RowCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
