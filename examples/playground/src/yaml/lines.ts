/**
 * An object as lines of YAML, each with the path of its field: used to colour owners, to show differences, and to find
 * a line again after the object has changed.
 */
import { isMap } from './paths.js';

export interface YamlLine {
  /** The indentation in characters. */
  readonly indent: number;
  /** One `- ` for each item that begins in this line. */
  readonly dashes: string;
  /** Absent for items that are not maps, and for continuation lines of a text. */
  readonly key?: string;
  /** Absent if the value is in the lines below. */
  readonly value?: string;
  readonly valueType?: 'text' | 'number' | 'word';
  /** The path as the server writes it, with items by index: `.spec.containers[0].image`. */
  readonly path: string;
  /** The path with items by their keys where they have one: `.spec.containers[name="web"].image`. */
  readonly keyedPath: string;
}

/** Fields in their usual order; all others follow, sorted by name. */
const FIRST = [
  'apiVersion',
  'kind',
  'metadata',
  'name',
  'namespace',
  'generateName',
  'labels',
  'annotations',
  'type',
  'spec',
  'data',
];

export function yamlLines(object: unknown): readonly YamlLine[] {
  const lines: YamlLine[] = [];
  if (isMap(object)) writeMap(object, { indent: 0, dashes: '', path: '', keyedPath: '' }, lines);
  return lines;
}

export function lineText({ indent, dashes, key, value }: YamlLine): string {
  const head = key === undefined ? '' : `${key}:`;
  return `${' '.repeat(indent)}${dashes}${head}${value === undefined ? '' : `${head === '' ? '' : ' '}${value}`}`;
}

/** Formats an object as YAML text. */
export function toYaml(object: unknown): string {
  return `${yamlLines(object).map(lineText).join('\n')}\n`;
}

type Position = Pick<YamlLine, 'indent' | 'dashes' | 'path' | 'keyedPath'>;

function writeMap(map: Readonly<Record<string, unknown>>, position: Position, lines: YamlLine[]): void {
  const { indent, dashes } = position;
  // The first key follows the dashes, the others are below it.
  let here: Position = position;
  for (const key of inOrder(Object.keys(map))) {
    const value = map[key];
    if (value === undefined) continue;
    const name = `.${key}`;
    writeField(
      plainKey(key),
      value,
      { ...here, path: position.path + name, keyedPath: position.keyedPath + name },
      lines,
    );
    here = { ...position, indent: indent + dashes.length, dashes: '' };
  }
}

function writeField(key: string, value: unknown, position: Position, lines: YamlLine[]): void {
  const { indent, dashes } = position;
  const column = indent + dashes.length;
  if (isMap(value) && Object.keys(value).length > 0) {
    lines.push({ ...position, key });
    writeMap(value, { ...position, indent: column + 2, dashes: '' }, lines);
  } else if (Array.isArray(value) && value.length > 0) {
    lines.push({ ...position, key });
    writeList(value, { ...position, indent: column, dashes: '' }, lines);
  } else writeScalar(key, value, position, lines);
}

function writeList(list: readonly unknown[], position: Position, lines: YamlLine[]): void {
  for (const [index, item] of list.entries()) {
    const here = {
      indent: position.indent,
      dashes: `${position.dashes}- `,
      path: `${position.path}[${index}]`,
      keyedPath: `${position.keyedPath}${keyOfItem(item, index)}`,
    };
    if (isMap(item) && Object.keys(item).length > 0) writeMap(item, here, lines);
    else if (Array.isArray(item) && item.length > 0) writeList(item, here, lines);
    else writeScalar(undefined, item, here, lines);
  }
}

/** The key by which most lists identify their items; other items are identified by index. */
function keyOfItem(item: unknown, index: number): string {
  if (typeof item === 'string') return `[=${JSON.stringify(item)}]`;
  if (!isMap(item)) return `[${index}]`;
  const { name, type, uid, containerPort, port, ip, key, mountPath, protocol } = item;
  if (typeof uid === 'string' && item['kind'] !== undefined) return `[uid=${JSON.stringify(uid)}]`;
  if (containerPort !== undefined) return `[containerPort=${containerPort},protocol=${JSON.stringify(protocol)}]`;
  if (port !== undefined) return `[port=${port},protocol=${JSON.stringify(protocol)}]`;
  if (mountPath !== undefined) return `[mountPath=${JSON.stringify(mountPath)}]`;
  for (const [field, value] of Object.entries({ name, type, ip, key })) {
    if (typeof value === 'string') return `[${field}=${JSON.stringify(value)}]`;
  }
  return `[${index}]`;
}

function writeScalar(key: string | undefined, value: unknown, position: Position, lines: YamlLine[]): void {
  const named = key === undefined ? position : { ...position, key };
  if (typeof value === 'string' && value.includes('\n') && !/[ \t]\n|^\s/.test(value)) {
    const chomp = value.endsWith('\n') ? '' : '-';
    lines.push({ ...named, value: `|${chomp}`, valueType: 'word' });
    const indent = position.indent + position.dashes.length + (key === undefined ? 0 : 2);
    for (const line of value.replace(/\n$/, '').split('\n')) {
      lines.push({ ...position, indent, dashes: '', value: line, valueType: 'text' });
    }
    return;
  }
  lines.push({ ...named, value: scalarText(value), valueType: typeOf(value) });
}

function typeOf(value: unknown): 'text' | 'number' | 'word' {
  if (typeof value === 'string') return 'text';
  return typeof value === 'number' ? 'number' : 'word';
}

function scalarText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  // Quote every text that YAML could read as something else.
  const isPlain = /^[A-Za-z/_][\w ./@+-]*$/.test(value) || /^[A-Za-z_/][\w./@+-]*(:[\w./@+-]+)+$/.test(value);
  const isOther = /^(true|false|yes|no|on|off|null|y|n|~)$/i.test(value) || /\s$/.test(value);
  return isPlain && !isOther ? value : JSON.stringify(value);
}

function plainKey(key: string): string {
  return /^[A-Za-z_][\w./-]*$/.test(key) && !/^(true|false|yes|no|on|off|null|y|n)$/i.test(key)
    ? key
    : JSON.stringify(key);
}

function inOrder(keys: readonly string[]): readonly string[] {
  const rank = (key: string): number => {
    const at = FIRST.indexOf(key);
    return key === 'status' ? FIRST.length + 1 : at < 0 ? FIRST.length : at;
  };
  return [...keys].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}
