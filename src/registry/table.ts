/**
 * Objects → the table that people read: `kubectl get`. spec: Tables
 */
import type { CellContext, Column } from '../kinds/columns.js';
import type { Kind } from '../kinds/kind.js';
import { ageColumn, createdColumn, nameColumn } from '../kinds/shared/common-columns.js';
import type { SubresourceView } from '../kinds/subresource.js';
import type { ApiObject } from '../meta/object.js';
import { bareMetadata } from './bare-metadata.js';

/** What a row says of its object besides the cells. */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  /** How the table, and the metadata in it, name their version. */
  readonly apiVersion: string;
  readonly include: IncludedObject;
  /** Only rows: what follows the first event of a watch. */
  readonly withoutColumns?: boolean;
}

interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: object;
  readonly columnDefinitions: readonly ColumnDefinition[] | null;
  readonly rows: readonly object[];
}

/** A table of objects of one kind; `metadata` is that of the list, or the version of the one object. */
export function tableOf(
  kind: Kind,
  { objects, metadata }: { readonly objects: readonly ApiObject[]; readonly metadata: object },
  options: TableOptions & CellContext,
): Table {
  const columns = columnsOf(kind, objects[0]);
  return {
    kind: 'Table',
    apiVersion: options.apiVersion,
    metadata,
    columnDefinitions: options.withoutColumns === true ? null : definitionsOf(columns),
    rows: inOrder(kind, objects).map((object) => {
      const conditions = kind.rowConditions?.(object) ?? [];
      return {
        cells: columns.map((column) => column.cell(object, options)),
        ...(conditions.length === 0 ? {} : { conditions }),
        object: includedPart(object, kind, options),
      };
    }),
  };
}

function inOrder({ rowOrder }: Kind, objects: readonly ApiObject[]): readonly ApiObject[] {
  return rowOrder === undefined ? objects : [...objects].sort(rowOrder);
}

const STORED_DEFAULT: readonly Column[] = [nameColumn, createdColumn];
const DOCUMENT_DEFAULT: readonly Column[] = [nameColumn, { ...ageColumn, type: 'date' }];

/** What stands below an object (its scale) is of another kind, with columns of its own. */
function columnsOf(kind: Kind, example: ApiObject | undefined): readonly Column[] {
  const byDefault = kind.manner === 'document' ? DOCUMENT_DEFAULT : STORED_DEFAULT;
  if (example === undefined || example.kind === kind.kind) return kind.columns ?? byDefault;
  const shown = Object.values(kind.subresources).find(
    (below): below is SubresourceView => below.type === 'view' && below.kind.kind === example.kind,
  );
  return shown?.columns ?? shown?.kind.columns ?? byDefault;
}

const definitions = new WeakMap<readonly Column[], readonly ColumnDefinition[]>();

function definitionsOf(columns: readonly Column[]): readonly ColumnDefinition[] {
  const known = definitions.get(columns);
  if (known !== undefined) return known;
  const made = columns
    .filter(({ isHidden }) => isHidden !== true)
    .map(({ name, type, format = '', description, priority = 0 }) => ({ name, type, format, description, priority }));
  definitions.set(columns, made);
  return made;
}

function includedPart(object: ApiObject, kind: Kind, { include, apiVersion }: TableOptions): object | null {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: bareMetadata(object.metadata, kind) };
}
