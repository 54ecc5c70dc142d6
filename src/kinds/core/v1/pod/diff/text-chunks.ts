/**
 * Long texts and lists of numbers that differ in a few places: shown in pieces, the equal ones once.
 */
import { byteLength } from '../../../../../meta/names.js';
import type { DiffNode } from './compare.js';
import { type Edit, editScript } from './edit-script.js';
import { type FormatOptions, levelOf, quoted, withType } from './format-value.js';
import { dots, line, record, type TextNode, type TextRecord, wrap } from './text.js';

const LEAST_LENGTH = 32;

/** True when pieces say more than the two values side by side. */
export function canChunk(node: DiffNode, { side }: FormatOptions): boolean {
  const { type, left, right } = node;
  if (side !== 'both' || node.different === 0 || left === undefined || right === undefined) return false;
  if (type.kind === 'string' && typeof left.scalar === 'string' && typeof right.scalar === 'string') {
    return byteLength(left.scalar) >= LEAST_LENGTH && byteLength(right.scalar) >= LEAST_LENGTH;
  }
  if (type.kind !== 'slice' || type.of.kind !== 'int' || !left.items?.length || !right.items?.length) return false;
  if (node.different > node.same) return true;
  return left.items.length >= LEAST_LENGTH && right.items.length >= LEAST_LENGTH;
}

export function formatChunks({ type, left, right }: DiffNode, options: FormatOptions): TextNode {
  if (type.kind === 'string') {
    const texts = [[...String(left?.scalar)], [...String(right?.scalar)]] as const;
    const show = (part: readonly string[]) => quoted(part.join(''));
    const list: TextNode = { type: 'list', records: pieces(texts, { size: 64, name: 'byte', show, options }) };
    return wrap('strings.Join(', wrap('{', list, '}'), ', "")');
  }
  const texts = [
    (left?.items ?? []).map(({ scalar }) => String(scalar)),
    (right?.items ?? []).map(({ scalar }) => String(scalar)),
  ] as const;
  const show = (part: readonly string[]) => part.join(', ');
  const records = pieces(texts, { size: 8, name: elementName(type), show, options });
  return withType(type, wrap('{', { type: 'list', records }, '}'), options);
}

function elementName(type: DiffNode['type']): string {
  return type.kind === 'slice' && type.of.kind === 'int' ? type.of.name : 'element';
}

interface Run {
  same: number;
  removed: number;
  inserted: number;
}

const CONTEXT = 2;

function pieces(
  [left, right]: readonly [readonly string[], readonly string[]],
  about: {
    readonly size: number;
    readonly name: string;
    readonly show: (part: readonly string[]) => string;
    readonly options: FormatOptions;
  },
): TextRecord[] {
  const { size, name, show, options } = about;
  const different = { same: 0, different: 2 };
  const edits = editScript(left.length, right.length, (x, y) =>
    left[x] === right[y] ? { same: 1, different: 0 } : different,
  );
  const runs = merged(runsOf(edits), Math.floor(size / 4));
  const limit = (1 << levelOf(options.verbosity)) << 2;
  const out: TextRecord[] = [];
  const put = (part: readonly string[], mark: '' | '-' | '+') => {
    for (let start = 0; start < part.length; start += size) {
      out.push(record('', line(show(part.slice(start, start + size))), mark));
    }
  };
  let [x, y, differences] = [0, 0, 0];
  for (const [index, run] of runs.entries()) {
    if (differences >= limit) {
      out.push(dots(`${runs.slice(index).reduce((sum, one) => sum + one.same, 0)} identical ${name}s`));
      break;
    }
    if (run.removed === 0 && run.inserted === 0) {
      const leading = index === 0 ? 0 : Math.min(size * CONTEXT, run.same);
      let trailing = index === runs.length - 1 ? 0 : Math.min(size * CONTEXT, run.same - leading);
      if (run.same - leading - trailing <= size) trailing = run.same - leading;
      const hidden = run.same - leading - trailing;
      put(left.slice(x, x + leading), '');
      if (hidden > 0) out.push(dots(`${hidden} identical ${name}${hidden > 1 ? 's' : ''}`));
      put(left.slice(x + run.same - trailing, x + run.same), '');
      x += run.same;
      y += run.same;
      continue;
    }
    const [gone, come] = [run.same + run.removed, run.same + run.inserted];
    put(left.slice(x, x + gone), '-');
    put(right.slice(y, y + come), '+');
    x += gone;
    y += come;
    differences += gone + come;
  }
  return out;
}

function runsOf(edits: readonly Edit[]): Run[] {
  const runs: Run[] = [];
  let equal: boolean | undefined;
  for (const edit of edits) {
    const isEqual = edit === 'identity';
    if (isEqual !== equal) runs.push({ same: 0, removed: 0, inserted: 0 });
    equal = isEqual;
    const run = runs.at(-1);
    if (run === undefined) continue;
    if (isEqual) run.same++;
    if (edit === 'removed' || edit === 'modified') run.removed++;
    if (edit === 'inserted' || edit === 'modified') run.inserted++;
  }
  return runs;
}

/** Equal stretches too short to be worth a line join the differences around them. */
function merged(runs: readonly Run[], shortest: number): Run[] {
  const out: Run[] = [];
  for (const [index, run] of runs.entries()) {
    const differs = run.removed > 0 || run.inserted > 0;
    const last = out.at(-1);
    const lastDiffers = last !== undefined && (last.removed > 0 || last.inserted > 0);
    const short = !differs && run.same <= shortest && lastDiffers && index < runs.length - 1;
    if (last !== undefined && lastDiffers && (short || differs)) {
      last.same += run.same;
      last.removed += run.removed;
      last.inserted += run.inserted;
    } else out.push({ ...run });
  }
  return out;
}
