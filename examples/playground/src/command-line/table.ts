/**
 * Tables as kubectl prints them: upper-case headers, columns separated by three blanks, no blanks after the last cell.
 * The server defines the columns; this file formats them.
 */
import { isJson, type Json, listAt, mapAt, numberAt, textAt } from './json.js';

export interface TableOptions {
  /** Also print columns of lower priority. */
  readonly wide?: boolean;
  /** Print a namespace column first. */
  readonly withNamespace?: boolean;
  /** A prefix of each name when several kinds are listed: `pod/`. */
  readonly prefix?: string | undefined;
  readonly noHeaders?: boolean;
  readonly showLabels?: boolean;
  /** Labels that are printed as columns. */
  readonly labelColumns?: readonly string[];
}

/** The cells of a Table response as texts, with a header row unless disabled. */
export function tableRows(table: Json, options: TableOptions = {}): string[][] {
  const { wide = false, withNamespace = false, prefix = '', noHeaders = false } = options;
  const { showLabels = false, labelColumns = [] } = options;
  const columns = listAt(table, 'columnDefinitions')
    .map((definition, index) => ({
      index,
      name: textAt(definition, 'name'),
      priority: numberAt(definition, 'priority'),
    }))
    .filter(({ priority }) => wide || priority === 0);
  const rows = listAt(table, 'rows').map((row) => {
    const cells = listAt(row, 'cells');
    const metadata = mapAt(row, 'object', 'metadata');
    const labels = mapAt(metadata, 'labels');
    const texts = columns.map(({ index }) => cellText(cells[index]));
    if (prefix !== '' && texts.length > 0) texts[0] = prefix + texts[0];
    if (withNamespace) texts.unshift(textAt(metadata, 'namespace'));
    for (const label of labelColumns) texts.push(textAt(labels, label));
    if (showLabels) texts.push(labelText(labels));
    return texts;
  });
  if (noHeaders) return rows;
  const headers = columns.map(({ name }) => name.toUpperCase());
  if (withNamespace) headers.unshift('NAMESPACE');
  for (const label of labelColumns) headers.push((label.split('/').at(-1) ?? label).toUpperCase());
  if (showLabels) headers.push('LABELS');
  return [headers, ...rows];
}

/** Formats rows as lines. Pass the `widths` of an earlier table to align the rows of a watch with it. */
export function layOut(rows: readonly (readonly string[])[], widths: number[] = []): string[] {
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd((widths[index] ?? 0) + 3)))
      .join('')
      .trimEnd(),
  );
}

export function labelText(labels: Json): string {
  const pairs = Object.entries(labels).sort(([left], [right]) => (left < right ? -1 : 1));
  return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${String(value)}`).join(',');
}

function cellText(cell: unknown): string {
  if (cell === null || cell === undefined) return '<none>';
  return Array.isArray(cell) || isJson(cell) ? JSON.stringify(cell) : String(cell).replaceAll('\n', ' ');
}
