/**
 * Formats documents as YAML as kubectl does: sorted keys, lists not indented, texts quoted only where necessary.
 */
import { isJson } from './json.js';

export function yamlText(value: unknown): string {
  return `${block(value, '').replace(/^\n/, '').trimStart()}\n`;
}

/** The text after a key or a dash: ` text`, or a line break and the lines below it. */
function block(value: unknown, indent: string): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []';
    return value.map((item) => `\n${indent}-${inItem(item, indent)}`).join('');
  }
  if (isJson(value)) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined);
    if (entries.length === 0) return ' {}';
    entries.sort(([left], [right]) => (left < right ? -1 : 1));
    return entries.map(([key, each]) => `\n${indent}${keyText(key)}:${below(each, indent)}`).join('');
  }
  return ` ${scalar(value, indent)}`;
}

/** Lists have the indentation of their key, maps two blanks more. */
function below(value: unknown, indent: string): string {
  if (Array.isArray(value)) return block(value, indent);
  return block(value, `${indent}  `);
}

/** The first key of a map follows the dash. */
function inItem(value: unknown, indent: string): string {
  const text = block(value, `${indent}  `);
  return text.startsWith('\n') ? ` ${text.slice(indent.length + 3)}` : text;
}

function keyText(key: string): string {
  return isPlain(key) ? key : JSON.stringify(key);
}

function scalar(value: unknown, indent: string): string {
  if (typeof value !== 'string') return value === null || value === undefined ? 'null' : String(value);
  if (isBlockText(value)) {
    const lines = value.replace(/\n$/, '').split('\n');
    const chomp = value.endsWith('\n') ? '' : '-';
    return `|${chomp}${lines.map((line) => (line === '' ? '\n' : `\n${indent}${line}`)).join('')}`;
  }
  return isPlain(value) ? value : JSON.stringify(value);
}

/**
 * Whether a text can be a literal block: several lines, no escapes, and no leading blank, which would need an
 * indentation indicator.
 */
function isBlockText(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  return text.includes('\n') && !/^[\s]|\n\n$|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufeff]| \n/.test(text);
}

const WORDS = /^(?:true|false|yes|no|on|off|y|n|null|~|nan|\.nan|[-+]?\.inf)$/i;
const NUMBER =
  /^[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|\.[0-9]+|0x[0-9a-f]+|0o[0-7]+|0b[01]+|[0-9]+(?::[0-9]+)+)$/i;
const DATE = /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}/;

function isPlain(text: string): boolean {
  if (text === '' || WORDS.test(text) || NUMBER.test(text) || DATE.test(text)) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
  if (/[\u0000-\u001f\u007f-\u009f\ufeff]|^\s|\s$|: |:$| #/.test(text)) return false;
  return !/^[-?](?: |$)|^[[\]{},#&*!|>'"%@`=]|^---|^\.\.\./.test(text);
}
