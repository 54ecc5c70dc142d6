/**
 * The rows of Tables, as the server describes them.
 */

import { isRecord } from '../../util/json.js';

/** An answer of the server to a request for a Table. */
export interface Table {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string };
  readonly columnDefinitions?: readonly Column[] | null;
  readonly rows?: readonly TableRow[] | null;
}

interface Column {
  readonly name: string;
  readonly priority?: number;
}

interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: { readonly metadata?: { readonly namespace?: string; readonly resourceVersion?: string } };
}

/** What a request asks for. Custom resources may have a kind such as `Table` or `PriceList`, and any fields. */
export type AnswerType = 'object' | 'list' | 'Table';

/** Throws for an object, a list or a Table without the parts that are printed: the client trusts the server. */
export function requirePrintable(answer: unknown, type: AnswerType): void {
  const { items, rows, columnDefinitions } = isRecord(answer) ? answer : {};
  const isComplete =
    hasMetadata(answer) &&
    (type !== 'Table' || (areAll(rows, isRow) && areAll(columnDefinitions, isColumn))) &&
    (type !== 'list' || areAll(items, hasMetadata));
  if (!isComplete) throw new Error(`the answer of the server is not a valid ${type}`);
}

function areAll(list: unknown, isValid: (item: unknown) => boolean): boolean {
  return list === undefined || list === null || (Array.isArray(list) && list.every(isValid));
}

function hasMetadata(value: unknown): boolean {
  return isRecord(value) && isRecord(value['metadata']);
}

function isRow(value: unknown): boolean {
  return isRecord(value) && Array.isArray(value['cells']);
}

function isColumn(value: unknown): boolean {
  return isRecord(value) && typeof value['name'] === 'string';
}

export interface TableOptions {
  /** Includes the columns of lower priority. */
  readonly isWide: boolean;
  readonly hasHeaders: boolean;
  /** The first column is the namespace. */
  readonly hasNamespaces: boolean;
  /** What is put before each name: `pod/`. */
  readonly prefix?: string;
}

/** The cells as texts; empty if there are no rows. `columns` are those of an earlier Table: events of a watch have none. */
export function tableRows(tables: readonly Table[], options: TableOptions, columns = columnsOf(tables)): string[][] {
  const { isWide, hasHeaders, hasNamespaces, prefix = '' } = options;
  const isShown = columns.map(({ priority = 0 }) => isWide || priority === 0);
  const rows = tables.flatMap((table) =>
    (table.rows ?? []).map(({ cells, object }) => {
      // Not a text for each column: a short answer may have many rows without cells.
      const texts = cells.filter((_, index) => isShown[index] === true).map(cellText);
      texts[0] = prefix + (texts[0] ?? '');
      return hasNamespaces ? [object?.metadata?.namespace ?? '', ...texts] : texts;
    }),
  );
  if (rows.length === 0 || !hasHeaders) return rows;
  const headers = columns.filter((_, index) => isShown[index]).map(({ name }) => name.toUpperCase());
  return [hasNamespaces ? ['NAMESPACE', ...headers] : headers, ...rows];
}

/** The columns of the first Table that has some. */
export function columnsOf(tables: readonly Table[]): readonly Column[] {
  return tables.find(({ columnDefinitions }) => (columnDefinitions ?? []).length > 0)?.columnDefinitions ?? [];
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '<none>';
  return typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
}
