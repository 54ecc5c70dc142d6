/**
 * A YAML text as documents whose parts have source positions, made from the editor's syntax tree. It is exact enough
 * for diagnostics while the user types; the server gets the text itself.
 */
import type { SyntaxNode, Tree } from '@lezer/common';

interface Place {
  readonly from: number;
  readonly to: number;
}

export interface Entry {
  readonly key: string;
  readonly keyAt: Place;
  /** The range from the key to the end of the value. */
  readonly at: Place;
  readonly value: Outline | undefined;
}

export type Outline =
  | (Place & { readonly type: 'map'; readonly entries: readonly Entry[] })
  | (Place & {
      readonly type: 'list';
      readonly items: readonly { readonly at: Place; readonly value: Outline | undefined }[];
    })
  | (Place & { readonly type: 'scalar'; readonly value: string | number | boolean | null });

export interface OutlinedDocument extends Place {
  readonly root: Outline | undefined;
  readonly text: string;
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
}

/** The documents of a text, without empty ones. */
export function outlineOf(tree: Tree, text: string): readonly OutlinedDocument[] {
  const documents: OutlinedDocument[] = [];
  for (const node of childrenOf(tree.topNode)) {
    if (node.name !== 'Document') continue;
    const inner = childrenOf(node).find(({ name }) => !NOT_VALUES.has(name));
    const root = inner === undefined ? undefined : outline(inner, text);
    if (root === undefined) continue;
    const word = (path: string): string | undefined => {
      const found = findPath(root, path).node;
      return found?.type === 'scalar' && typeof found.value === 'string' && found.value !== ''
        ? found.value
        : undefined;
    };
    documents.push({
      from: node.from,
      to: node.to,
      root,
      text: text.slice(root.from - columnOf(text, root.from), node.to),
      apiVersion: word('apiVersion'),
      kind: word('kind'),
      name: word('metadata.name'),
      namespace: word('metadata.namespace'),
    });
  }
  return documents;
}

const NOT_VALUES = new Set([
  'Comment',
  'DirectiveEnd',
  'DocumentEnd',
  'Directive',
  '⚠',
  ':',
  '-',
  'Key',
  '{',
  '}',
  '[',
  ']',
  ',',
]);

function outline(node: SyntaxNode, text: string): Outline | undefined {
  const { from, to } = node;
  switch (node.name) {
    case 'BlockMapping':
    case 'FlowMapping':
      return {
        type: 'map',
        from,
        to,
        entries: childrenOf(node)
          .filter(({ name }) => name === 'Pair')
          .map((pair) => entry(pair, text)),
      };
    case 'BlockSequence':
    case 'FlowSequence':
      return {
        type: 'list',
        from,
        to,
        items: childrenOf(node)
          .filter(({ name }) => name === 'Item')
          .map((item) => ({ at: placeOf(item, text), value: firstValue(item, text) })),
      };
    case 'Literal':
      return { type: 'scalar', from, to, value: plainValue(text.slice(from, to)) };
    case 'QuotedLiteral':
      return { type: 'scalar', from, to, value: quotedValue(text.slice(from, to)) };
    case 'BlockLiteral':
      return { type: 'scalar', from, to, value: text.slice(from, to) };
    case 'Tagged':
    case 'Anchored':
      return firstValue(node, text);
    default:
      return undefined;
  }
}

function entry(pair: SyntaxNode, text: string): Entry {
  const keyNode = pair.getChild('Key') ?? pair;
  const word = text.slice(keyNode.from, keyNode.to);
  const key = /^["']/.test(word) ? quotedValue(word) : word.trim();
  return { key, keyAt: { from: keyNode.from, to: keyNode.to }, at: placeOf(pair, text), value: firstValue(pair, text) };
}

function firstValue(node: SyntaxNode, text: string): Outline | undefined {
  const value = childrenOf(node).find(({ name }) => !NOT_VALUES.has(name) && name !== 'Tag' && name !== 'Anchor');
  return value === undefined ? undefined : outline(value, text);
}

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** The range of a node without leading blanks, which the grammar may include. */
function placeOf({ from, to }: SyntaxNode, text: string): Place {
  return { from: from + (/^\s*/.exec(text.slice(from, to))?.[0].length ?? 0), to };
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

function plainValue(word: string): string | number | boolean | null {
  if (word === '' || word === '~' || word === 'null') return null;
  if (/^(true|yes|on)$/i.test(word)) return true;
  if (/^(false|no|off)$/i.test(word)) return false;
  return /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(word) ? Number(word) : word;
}

function quotedValue(word: string): string {
  const inner = word.slice(1, -1);
  return word.startsWith("'") ? inner.replaceAll("''", "'") : inner.replaceAll(/\\(["\\/])/g, '$1');
}

/** The result of a path lookup: the last part of the path that exists. */
export interface Found {
  /** The range to mark: a key, or an item. */
  readonly at: Place;
  readonly node: Outline | undefined;
  readonly entry?: Entry;
  /** Whether the whole path exists. */
  readonly isComplete: boolean;
}

/**
 * Finds a path in the form in which the server writes it: `spec.containers[0].image`,
 * `.spec.containers[name="web"].image`, `metadata.labels[app]`.
 */
export function findPath(root: Outline, path: string): Found {
  let found: Found = { at: root, node: root, isComplete: true };
  for (const step of stepsOf(path)) {
    const next = below(found.node, step);
    if (next === undefined) return { ...found, isComplete: false };
    found = next;
  }
  return found;
}

function below(node: Outline | undefined, step: string): Found | undefined {
  if (node?.type === 'map') {
    const name = step.replace(/^\[|\]$/g, '');
    const entry = node.entries.find(({ key }) => key === name || key === unquoted(name));
    return entry === undefined ? undefined : { at: entry.keyAt, node: entry.value, entry, isComplete: true };
  }
  if (node?.type !== 'list' || !step.startsWith('[')) return undefined;
  const inside = step.slice(1, -1);
  const index = /^\d+$/.test(inside) ? Number(inside) : node.items.findIndex(({ value }) => matches(value, inside));
  const item = node.items[index];
  return item === undefined ? undefined : { at: firstLine(item), node: item.value, isComplete: true };
}

/** The first line of an item; marking a whole item would mark too many lines. */
function firstLine({ at, value }: { readonly at: Place; readonly value: Outline | undefined }): Place {
  return value?.type === 'map' && value.entries[0] !== undefined ? value.entries[0].at : at;
}

/** `name="web"`, `containerPort=80,protocol="TCP"`, and for sets `="value"`. */
function matches(value: Outline | undefined, keys: string): boolean {
  return [...keys.matchAll(/([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)/g)].every(([, key = '', wanted = '']) => {
    const field =
      key === '' ? value : value?.type === 'map' ? value.entries.find((each) => each.key === key)?.value : undefined;
    // An omitted key has its default value, which is not available here.
    if (field === undefined) return key !== 'name';
    return field.type === 'scalar' && String(field.value) === unquoted(wanted);
  });
}

function unquoted(word: string): string {
  return /^".*"$/.test(word) ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}

/** `.a.b[c="d.e"].f` → a, b, [c="d.e"], f */
export function stepsOf(path: string): readonly string[] {
  return path.match(/\[(?:"(?:[^"\\]|\\.)*"|[^\]"])*\]|[^.[\]]+/g) ?? [];
}
