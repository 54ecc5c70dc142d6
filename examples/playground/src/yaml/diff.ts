/**
 * Differences between two objects: as lines for display, and as fields for summaries.
 */

import { lineText, yamlLines } from './lines.js';
import { isMap } from './paths.js';

export interface DiffLine {
  readonly sign: '+' | '-' | ' ';
  readonly text: string;
}

/** The lines of both objects, with `around` unchanged lines before and after each change. */
export function diffLines(before: unknown, after: unknown, around = 3): readonly (DiffLine | 'gap')[] {
  const a = yamlLines(before).map(lineText);
  const b = yamlLines(after).map(lineText);
  return shorten(align(a, b), around);
}

/** The longest common subsequence, by dynamic programming: objects have hundreds of lines, not thousands. */
function align(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const [down = 0, right = 0, both = 0] = [
        table[(i + 1) * width + j],
        table[i * width + j + 1],
        table[(i + 1) * width + j + 1],
      ];
      table[i * width + j] = a[i] === b[j] ? both + 1 : Math.max(down, right);
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i] ?? '' });
      i++;
      j++;
    } else if (
      i < a.length &&
      (j >= b.length || (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: '-', text: a[i++] ?? '' });
    } else lines.push({ sign: '+', text: b[j++] ?? '' });
  }
  return lines;
}

function shorten(lines: readonly DiffLine[], around: number): readonly (DiffLine | 'gap')[] {
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - around), at + around + 1).some(({ sign }) => sign !== ' '),
  );
  const shown: (DiffLine | 'gap')[] = [];
  for (const [at, line] of lines.entries()) {
    if (near[at] === true) shown.push(line);
    else if (shown.at(-1) !== 'gap') shown.push('gap');
  }
  return shown;
}

export interface ChangedField {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Fields that the server changes with every write and that are left out of a diff. */
const SERVER_FIELDS = new Set([
  '.metadata.managedFields',
  '.metadata.resourceVersion',
  '.metadata.generation',
  '.metadata.uid',
  '.metadata.creationTimestamp',
]);

/** The leaves that differ. Lists of different lengths differ as a whole. */
export function changedFields(before: unknown, after: unknown, path = ''): readonly ChangedField[] {
  if (SERVER_FIELDS.has(path) || Object.is(before, after)) return [];
  if (isMap(before) && isMap(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...keys].flatMap((key) => changedFields(before[key], after[key], `${path}.${key}`));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    return before.flatMap((item: unknown, index) => changedFields(item, after[index], `${path}[${index}]`));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }];
}

/** A copy without the fields that the server changes with every write. */
export function withoutServerFields<Value>(object: Value): Value {
  if (!isMap(object) || !isMap(object['metadata'])) return object;
  const kept = Object.entries(object['metadata']).filter(([key]) => !SERVER_FIELDS.has(`.metadata.${key}`));
  return { ...object, metadata: Object.fromEntries(kept) };
}
