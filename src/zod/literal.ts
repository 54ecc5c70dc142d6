/**
 * Prints values as TypeScript source text.
 */
import { escapeInvisible, isRecord } from '../util/json.js';

/** A JSON value as an expression. `indent` is the indentation of the line that it begins in. */
export function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => literal(item, `${indent}  `));
    return block('[', items, ']', indent);
  }
  if (!isRecord(value)) return JSON.stringify(value) ?? 'undefined';
  const members = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .map(([key, inner]) => `${propertyName(key)}: ${literal(inner, `${indent}  `)}`);
  return block('{', members, '}', indent);
}

/** In one line if it fits, otherwise one part for each line. */
function block(open: string, parts: readonly string[], close: string, indent: string): string {
  if (parts.length === 0) return open + close;
  const space = open === '{' ? ' ' : '';
  const line = `${open}${space}${parts.join(', ')}${space}${close}`;
  if (!line.includes('\n') && indent.length + line.length <= 100) return line;
  return `${open}\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}${close}`;
}

/** A string in single quotes. */
export function quoted(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${escapeInvisible(inner)}'`;
}

/** The name of a property in an object literal. */
export function propertyName(name: string): string {
  // An object literal would set the prototype instead of a property.
  if (name === '__proto__') return "['__proto__']";
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}

/** A documentation comment; empty without a text. */
export function docComment(text: string | undefined, indent: string): string {
  const lines = (text ?? '')
    .replaceAll('*/', '*\\/')
    .trim()
    .split('\n')
    .flatMap((line) => wrapped(line, 116 - indent.length));
  if (lines.length === 0 || (lines.length === 1 && lines[0] === '')) return '';
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.trimEnd().split(' ')) {
    if (line !== '' && line.length + word.length >= width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
