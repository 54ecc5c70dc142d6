/**
 * Compares two values of one Go type and builds a tree of equal and different leaves.
 */
import { editScript } from './edit-script.js';
import type { GoType } from './go-types.js';
import { type GoValue, sameQuantity } from './go-value.js';

/** A node of the tree: two values and the differences below them. */
export interface DiffNode {
  readonly type: GoType;
  /** Absent for an item that exists only on the other side. */
  readonly left: GoValue | undefined;
  readonly right: GoValue | undefined;
  /** The number of equal leaves. */
  readonly same: number;
  /** The number of different leaves. */
  readonly different: number;
  /** The number of nodes below this one. */
  readonly descendants: number;
  /** The height of the tree below this node; 0 for leaves. */
  readonly depth: number;
  /** Fields of a struct, items of a slice or entries of a map. */
  readonly records?: readonly DiffRecord[];
  /** The target of a pointer. */
  readonly target?: DiffNode;
}

/** A field, item or entry of a composite value. */
export interface DiffRecord {
  /** The name of a field or the key of an entry; empty for items. */
  readonly key: string;
  readonly node: DiffNode;
}

/** Compares two values, one of which may be absent. */
export function compareValues(type: GoType, left: GoValue | undefined, right: GoValue | undefined): DiffNode {
  if (left === undefined || right === undefined) return leaf(type, left, right, false);
  switch (type.kind) {
    case 'struct': {
      const records = type.fields.map((field, index) => ({
        key: field.name,
        node: compareValues(field.type, left.items?.[index], right.items?.[index]),
      }));
      return branch(type, left, right, { records });
    }
    case 'pointer': {
      if (!left.target || !right.target) return leaf(type, left, right, left.target === right.target);
      return branch(type, left, right, { target: compareValues(type.of, left.target, right.target) });
    }
    case 'slice': {
      if (!left.items || !right.items) return leaf(type, left, right, left.items === right.items);
      return branch(type, left, right, { records: compareItems(type.of, left.items, right.items) });
    }
    case 'map': {
      if (!left.entries || !right.entries) return leaf(type, left, right, left.entries === right.entries);
      const keys = [...new Set([...left.entries.keys(), ...right.entries.keys()])].sort();
      const [ofLeft, ofRight] = [left.entries, right.entries];
      const records = keys.map((key) => ({ key, node: compareValues(type.of, ofLeft.get(key), ofRight.get(key)) }));
      return branch(type, left, right, { records });
    }
    case 'quantity':
      return leaf(type, left, right, sameQuantity(left, right));
    default:
      return leaf(type, left, right, left.scalar === right.scalar);
  }
}

function compareItems(type: GoType, left: readonly GoValue[], right: readonly GoValue[]): DiffRecord[] {
  const edits = editScript(left.length, right.length, (x, y) => compareValues(type, left[x], right[y]));
  let [x, y] = [0, 0];
  return edits.map((edit) => {
    const ofLeft = edit === 'inserted' ? undefined : left[x++];
    const ofRight = edit === 'removed' ? undefined : right[y++];
    return { key: '', node: compareValues(type, ofLeft, ofRight) };
  });
}

function leaf(type: GoType, left: GoValue | undefined, right: GoValue | undefined, equal: boolean): DiffNode {
  return { type, left, right, same: equal ? 1 : 0, different: equal ? 0 : 1, descendants: 0, depth: 0 };
}

function branch(type: GoType, left: GoValue, right: GoValue, parts: Pick<DiffNode, 'records' | 'target'>): DiffNode {
  const children = parts.records?.map(({ node }) => node) ?? (parts.target === undefined ? [] : [parts.target]);
  let [same, different, descendants, depth] = [0, 0, 0, 0];
  for (const child of children) {
    same += child.same;
    different += child.different;
    descendants += child.descendants + 1;
    depth = Math.max(depth, child.depth + 1);
  }
  return { type, left, right, same, different, descendants, depth, ...parts };
}
