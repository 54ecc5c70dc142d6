/**
 * Builds the Table document that `kubectl get` requests.
 */
import type { CellContext, Column } from '../kinds/columns.js';
import type { Kind } from '../kinds/kind.js';
import { ageColumn, createdColumn, nameColumn } from '../kinds/shared/common-columns.js';
import type { SubresourceView } from '../kinds/subresource.js';
import type { ApiObject } from '../meta/object.js';
import { getOrInsertComputed } from '../util/once.js';

/** Which part of its object a row includes besides the cells. */
export type IncludedObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  /** The apiVersion of the table and of the metadata in its rows. */
  readonly apiVersion: string;
  readonly include: IncludedObject;
  /** Omits the column definitions, as in the second and later events of a watch. */
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
  readonly rows: readonly object[] | null;
}

/** Builds a table of objects of one kind. `metadata` is that of the list, or the resourceVersion of a single object. */
export function tableOf(
  kind: Kind,
  { objects, metadata }: { readonly objects: readonly ApiObject[]; readonly metadata: object },
  options: TableOptions & CellContext,
): Table {
  const columns = columnsOf(kind, objects[0]);
  const rows = sortRows(kind, objects).map((object) => {
    const conditions = kind.rowConditions?.(object) ?? [];
    return {
      cells: columns.map((column) => column.cell(object, options)),
      ...(conditions.length === 0 ? {} : { conditions }),
      object: includedPart(object, kind, options),
    };
  });
  return {
    kind: 'Table',
    apiVersion: options.apiVersion,
    metadata,
    columnDefinitions: options.withoutColumns === true ? null : definitionsOf(columns),
    // The reference server's default table has no empty list.
    rows: rows.length === 0 && columns.includes(createdColumn) ? null : rows,
  };
}

function sortRows({ rowOrder }: Kind, objects: readonly ApiObject[]): readonly ApiObject[] {
  return rowOrder === undefined ? objects : [...objects].sort(rowOrder);
}

const STORED_DEFAULT: readonly Column[] = [nameColumn, createdColumn];
const DOCUMENT_DEFAULT: readonly Column[] = [nameColumn, { ...ageColumn, type: 'date' }];

/** The columns for objects like `example`: a subresource such as scale returns another kind with its own columns. */
function columnsOf(kind: Kind, example: ApiObject | undefined): readonly Column[] {
  const byDefault = kind.representation === 'document' ? DOCUMENT_DEFAULT : STORED_DEFAULT;
  if (example === undefined || example.kind === kind.kind) return kind.columns ?? byDefault;
  const view = Object.values(kind.subresources).find(
    (subresource): subresource is SubresourceView =>
      subresource.type === 'view' && subresource.kind.kind === example.kind,
  );
  return view?.columns ?? view?.kind.columns ?? byDefault;
}

const definitions = new WeakMap<readonly Column[], readonly ColumnDefinition[]>();

function definitionsOf(columns: readonly Column[]): readonly ColumnDefinition[] {
  return getOrInsertComputed(definitions, columns, () =>
    columns
      .filter(({ isHidden }) => isHidden !== true)
      .map(({ name, type, format = '', description, priority = 0 }) => ({ name, type, format, description, priority })),
  );
}

function includedPart(object: ApiObject, kind: Kind, { include, apiVersion }: TableOptions): object | null {
  if (include === 'None') return null;
  if (include === 'Object') return object;
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: withoutFieldAnnotations(object.metadata, kind) };
}

interface Annotated {
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * The metadata for a metadata-only response: without the annotations that represent fields of the object in this version.
 */
export function withoutFieldAnnotations(metadata: object, { fieldAnnotations }: Kind): object {
  if (fieldAnnotations === undefined) return metadata;
  const { annotations = {}, ...rest }: Annotated = metadata;
  if (!fieldAnnotations.some((name) => Object.hasOwn(annotations, name))) return metadata;
  const kept = Object.entries(annotations).filter(([name]) => !fieldAnnotations.includes(name));
  return kept.length === 0 ? rest : { ...metadata, annotations: Object.fromEntries(kept) };
}
