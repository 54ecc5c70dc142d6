/**
 * The field path at the cursor, found by indentation alone: while a line is incomplete, a parser cannot read it.
 */

export type Path = readonly (string | number)[];

export interface CursorPath {
  /** The path of the map that contains the cursor (`key`), or of the value after the colon (`value`). */
  readonly path: Path;
  readonly expects: 'key' | 'value';
  /** The part of the word before the cursor. */
  readonly word: string;
  /** The column at which the keys of this map begin. */
  readonly column: number;
  /** The lines of the document, and the cursor's row in them. */
  readonly lines: readonly string[];
  readonly row: number;
}

interface Line {
  readonly dashes: readonly number[];
  readonly column: number;
  readonly key: string | undefined;
}

/** Returns undefined where no path can be determined: in a comment, a block text or a flow collection. */
export function cursorPath(lines: readonly string[], row: number, column: number): CursorPath | undefined {
  const before = (lines[row] ?? '').slice(0, column);
  const parts = /^((?:\s*-\s+)*\s*)(?:("?[\w./-]+"?)\s*:\s+)?(\S*)$/.exec(before);
  if (parts === null) return undefined;
  const [, lead = '', key, word = ''] = parts;
  if (/^[#{["'|>&*!]/.test(word) || word.endsWith(':')) return undefined;
  const parents = pathOf(lines, row, { dashes: dashesIn(lead), column: lead.length, key: undefined });
  const path = key === undefined ? parents : [...parents, unquoted(key)];
  // After a dash alone, either a scalar item or the first key of a map can follow.
  return { path, expects: key === undefined ? 'key' : 'value', word, column: lead.length, lines, row };
}

/** The path of the map that a line belongs to. */
function pathOf(lines: readonly string[], row: number, current: Line): Path {
  const steps: (string | number)[] = [];
  let limit = current.column;
  let index = 0;
  /** Whether the path so far ends in an item, whose list may have the same indentation as its key. */
  let inItem = false;
  const climb = (dashes: readonly number[]): void => {
    for (const dash of [...dashes].reverse()) {
      if (dash < limit && !inItem) {
        limit = dash;
        inItem = true;
        index = 0;
      } else if (dash < limit) {
        // The index in the enclosing list of a nested list.
        steps.push(index);
        limit = dash;
        index = 0;
      }
    }
  };
  climb(current.dashes);
  for (let above = row - 1; above >= 0 && (limit > 0 || inItem); above--) {
    const line = lineOf(lines[above] ?? '');
    if (line === undefined) continue;
    const { column, dashes, key } = line;
    const itemAt = dashes.at(-1);
    if (inItem && itemAt === limit) {
      index++;
      continue;
    }
    const isParent = inItem ? column <= limit && itemAt !== limit : column < limit;
    if (isParent && key !== undefined) {
      if (inItem) steps.push(index);
      steps.push(key);
      limit = column;
      inItem = false;
      climb(dashes);
    } else if (!inItem && column === limit) climb(dashes);
  }
  return steps.reverse();
}

function lineOf(text: string): Line | undefined {
  const parts = /^((?:\s*-(?:\s+|$))*\s*)(?:("?[\w./-]+"?)\s*:(?:\s|$))?/.exec(text);
  const [whole = '', lead = '', key] = parts ?? [];
  if (text.trim() === '' || text.trimStart().startsWith('#')) return undefined;
  return { dashes: dashesIn(lead), column: lead.length, key: whole === lead ? undefined : unquoted(key ?? '') };
}

function dashesIn(lead: string): readonly number[] {
  return [...lead.matchAll(/-/g)].map((dash) => dash.index);
}

function unquoted(key: string): string {
  return key.replaceAll('"', '');
}
