/**
 * Finds the line of a field in the text of a document, by the path that the server uses in messages.
 */
import { parseDocument, type YamlNode, YamlSyntaxError } from '../text/yaml/index.js';
import { recoverFrom } from '../util/catch-error.js';
import type { DocumentSource } from './read.js';

/**
 * The line of a field in its file, counted from one. Of a path that does not exist, it is the line of its last existing part.
 *
 * @example
 * lineOf({ text: 'spec:\n  replicas: x\n', linesBefore: 0, path: '' }, 'spec.replicas') // 2
 */
export function lineOf({ text, linesBefore, path }: DocumentSource, field: string): number {
  const root = parsed(text);
  if (root === undefined) return linesBefore + 1;
  let found: FoundField = { line: root.line, value: root };
  for (const step of stepsOf(`${path}${field}`)) {
    const next = below(targetOf(found.value), step);
    if (next === undefined) break;
    found = next;
  }
  return linesBefore + found.line + 1;
}

/** The last text: the findings about a large document come one after another. */
let last: { readonly text: string; readonly root: YamlNode | undefined } | undefined;

function parsed(text: string): YamlNode | undefined {
  // JSON need not be YAML.
  const parse = () =>
    recoverFrom(
      YamlSyntaxError,
      () => parseDocument(text),
      () => undefined,
    );
  if (last?.text !== text) last = { text, root: parse() };
  return last.root;
}

interface FoundField {
  readonly line: number;
  readonly value: YamlNode;
}

/** `.a.b[c="d.e"].f` → a, b, [c="d.e"], f */
function stepsOf(path: string): readonly string[] {
  return path.match(/\[(?:"(?:[^"\\]|\\.)*"|[^[\]"])*\]|[^.[\]]+/g) ?? [];
}

function targetOf(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? targetOf(node.target) : node;
}

function below(node: YamlNode, step: string): FoundField | undefined {
  const inside = step.startsWith('[') ? step.slice(1, -1) : undefined;
  if (node.kind === 'mapping') return memberNamed(node.children, unquoted(inside ?? step));
  if (node.kind !== 'sequence') return undefined;
  if (inside === undefined) return firstWith(node.children, step);
  const item = /^\d+$/.test(inside)
    ? node.children[Number(inside)]
    : node.children.find((each) => hasKeys(targetOf(each), inside));
  return item === undefined ? undefined : { line: item.line, value: item };
}

/** Messages about types leave out the indexes of lists. */
function firstWith(items: readonly YamlNode[], step: string): FoundField | undefined {
  for (const item of items) {
    const found = below(targetOf(item), step);
    if (found !== undefined) return found;
  }
  return undefined;
}

function memberNamed(children: readonly YamlNode[], name: string): FoundField | undefined {
  for (let at = 0; at + 1 < children.length; at += 2) {
    const key = targetOf(children[at] as YamlNode);
    const value = children[at + 1] as YamlNode;
    if (key.kind === 'scalar' && key.text === name) return { line: (children[at] as YamlNode).line, value };
  }
  return undefined;
}

/** `name="web"`, `containerPort=80,protocol="TCP"`. */
function hasKeys(item: YamlNode, keys: string): boolean {
  if (item.kind !== 'mapping') return false;
  return [...keys.matchAll(/(?<=^|,)([^=,]*)=("(?:[^"\\]|\\.)*"|[^,]*)/g)].every(([, key = '', wanted = '']) => {
    const value = memberNamed(item.children, key)?.value;
    return value?.kind === 'scalar' && value.text === unquoted(wanted);
  });
}

function unquoted(word: string): string {
  return /^".*"$/.test(word) ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word;
}
