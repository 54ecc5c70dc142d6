/**
 * Hashes of pod templates, equal to those of the reference server. It hashes a printout of the Go structs with field types,
 * `{Name:(string)c Ports:([]v1.ContainerPort)<nil>}`. Names of ReplicaSets and labels of pods depend on every character.
 * upstream: pkg/controller/controller_utils.go ComputeHash
 */

import { Quantity } from '../../meta/quantity.js';
import { timeToMs } from '../../text/time/time.js';
import { NAME_ALPHABET } from '../../util/ids.js';
import { isRecord } from '../../util/json.js';
import { POD_TEMPLATE_TYPES } from './pod-template-types.js';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const COUNT_BYTES = 8;

/** The hash of a pod template for use in a name. `collisions` distinguishes templates with equal hashes. */
export function nameHash(template: unknown, collisions?: number): string {
  let hash = fnv(FNV_OFFSET, new TextEncoder().encode(printPodTemplate(template)));
  if (collisions !== undefined) {
    const count = new Uint8Array(COUNT_BYTES);
    new DataView(count.buffer).setUint32(0, collisions, true);
    hash = fnv(hash, count);
  }
  // Maps each digit to a letter of an alphabet without vowels.
  return [...String(hash)].map((digit) => NAME_ALPHABET[digit.charCodeAt(0) % NAME_ALPHABET.length]).join('');
}

function fnv(start: number, bytes: Uint8Array): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME) >>> 0;
  return hash >>> 0;
}

interface Field {
  readonly name: string;
  /** Undefined: an embedded struct, whose JSON fields are inlined. */
  readonly json: string | undefined;
  /** The printed type. */
  readonly type: string;
}

type Structures = ReadonlyMap<string, readonly Field[]>;

let structures: Structures | undefined;

function printPodTemplate(template: unknown): string {
  structures ??= readStructures();
  return `(v1.PodTemplateSpec)${new GoPrinter(structures).value('v1.PodTemplateSpec', template)}`;
}

function readStructures(): Structures {
  const all = new Map<string, readonly Field[]>();
  // An indented line continues the previous one.
  for (const line of POD_TEMPLATE_TYPES.trim().replaceAll('\n  ', ' ').split('\n')) {
    const [name = '', ...fields] = line.split(' ');
    all.set(`v1.${name}`, fields.map(readField));
  }
  return all;
}

function readField(text: string): Field {
  if (text.startsWith('+')) return { name: text.slice(1), json: undefined, type: `v1.${text.slice(1)}` };
  const colon = text.indexOf(':');
  const [names, type] = colon < 0 ? [text, 'string'] : [text.slice(0, colon), text.slice(colon + 1)];
  const [first = '', json = first] = names.split('=');
  const name = first === json ? first.charAt(0).toUpperCase() + first.slice(1) : first;
  // Capitalized type names without package belong to v1.
  return { name, json, type: type.replace(/^((?:\*|\[\])?)([A-Z])/, '$1v1.$2') };
}

const NUMBERS: ReadonlySet<string> = new Set(['int32', 'int64']);

const MAPS: Readonly<Record<string, string>> = {
  'map[string]string': 'string',
  'v1.ResourceList': 'resource.Quantity',
};

class GoPrinter {
  readonly #structures: Structures;

  constructor(all: Structures) {
    this.#structures = all;
  }

  /** Prints a value without its type. Empty lists and maps print as nil, because storage drops them. */
  value(type: string, value: unknown): string {
    if (type.startsWith('*')) return isAbsent(value) ? '<nil>' : this.value(type.slice(1), value);
    if (type.startsWith('[]')) return this.#list(type.slice(2), value);
    const item = MAPS[type];
    if (item !== undefined) return this.#map(item, value);
    const fields = this.#structures.get(type);
    if (fields !== undefined) return this.#structure(fields, isRecord(value) ? value : {});
    if (type === 'v1.Time') return time(value);
    if (type === 'resource.Quantity') return quantity(String(Quantity.parse(String(value ?? '0'))));
    if (type === 'intstr.IntOrString') return intOrString(value);
    if (type === 'bool') return String(value === true);
    if (NUMBERS.has(type)) return isAbsent(value) ? '0' : String(value);
    return isAbsent(value) ? '' : String(value);
  }

  #structure(fields: readonly Field[], value: Readonly<Record<string, unknown>>): string {
    const printed = fields.map(({ name, json, type }) => {
      const part = json === undefined ? value : value[json];
      return `${name}:(${type})${this.value(type, part)}`;
    });
    return `{${printed.join(' ')}}`;
  }

  #list(type: string, value: unknown): string {
    // Managed fields in a template are not supported.
    if (!Array.isArray(value) || value.length === 0 || type === 'v1.ManagedFieldsEntry') return '<nil>';
    return `[${value.map((item) => this.value(type, item)).join(' ')}]`;
  }

  #map(type: string, value: unknown): string {
    const keys = isRecord(value) ? Object.keys(value).sort() : [];
    if (!isRecord(value) || keys.length === 0) return '<nil>';
    return `map[${keys.map((key) => `${key}:${this.value(type, value[key])}`).join(' ')}]`;
  }
}

/** Seconds from year 1 to 1970. */
const UNIX_EPOCH = 62_135_596_800;

const UTC =
  '{name:(string) zone:([]time.zone)<nil> tx:([]time.zoneTrans)<nil> extend:(string) cacheStart:(int64)0 cacheEnd:(int64)0 cacheZone:(*time.zone)<nil>}';

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

const NANO = -9;

/** So many decimal digits always fit in 64 bits. */
const SAFE_DIGITS = 18;

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

function intOrString(value: unknown): string {
  const [type, int, text] = typeof value === 'string' ? [1, 0, value] : [0, isAbsent(value) ? 0 : Number(value), ''];
  return `{Type:(intstr.Type)${type} IntVal:(int32)${int} StrVal:(string)${text}}`;
}

function time(value: unknown): string {
  const seconds = typeof value === 'string' ? Math.floor(timeToMs(value) / 1000) + UNIX_EPOCH : 0;
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)${seconds === 0 ? '<nil>' : UTC}}}`;
}

/**
 * Prints a quantity in its in-memory form. Small ones are an int64 and a scale; the canonical text is cached where the
 * parser's fast path recognizes it. All others are an arbitrary-precision number of billionths.
 */
function quantity(text: string): string {
  const [, sign = '', zeros = '', digits = '', suffix = ''] = /^([+-]?)(0*)([0-9]*)(.*)$/.exec(text) ?? [];
  const number = digits === '' && zeros !== '' ? '0' : digits;
  const { format, exponent } = suffixOf(suffix);
  const scale = format === 'BinarySI' ? 0 : exponent;
  const spareDigits =
    format === 'BinarySI' ? 15 - number.length - Math.trunc((exponent * 3) / 10) - 1 : SAFE_DIGITS - number.length;
  const factor = format === 'BinarySI' ? 2n ** BigInt(exponent) : 1n;
  const value = BigInt(number === '' ? '0' : number) * factor * (sign === '-' ? -1n : 1n);
  if (spareDigits < 0 || scale < NANO)
    return quantityParts(0n, 0, { wide: wideNumber(value, scale), text: '', format });
  const isCanonical =
    text === '0' ||
    (format === 'BinarySI'
      ? exponent % 10 === 0 && BigInt(number) % 8n !== 0n
      : scale % 3 === 0 && !number.endsWith('000') && !number.startsWith('0'));
  return quantityParts(value, scale, { wide: '<nil>', text: isCanonical ? text : '', format });
}

function suffixOf(suffix: string): { readonly format: string; readonly exponent: number } {
  const power = /^[eE]([+-]?[0-9]+)$/.exec(suffix)?.[1];
  if (power !== undefined) return { format: 'DecimalExponent', exponent: Number(power) };
  const binary = BINARY.indexOf(suffix);
  if (binary > 0) return { format: 'BinarySI', exponent: binary * 10 };
  return { format: 'DecimalSI', exponent: (Math.max(0, DECIMAL.indexOf(suffix)) - 3) * 3 };
}

function quantityParts(
  value: bigint,
  scale: number,
  facts: { readonly wide: string; readonly text: string; readonly format: string },
): string {
  const small = `i:(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
  const wide = `d:(resource.infDecAmount){Dec:(*inf.Dec)${facts.wide}}`;
  return `{${small} ${wide} s:(string)${facts.text} Format:(resource.Format)${facts.format}}`;
}

function wideNumber(value: bigint, scale: number): string {
  const words: bigint[] = [];
  let rest = (value < 0n ? -value : value) * 10n ** BigInt(Math.max(0, scale - NANO));
  for (; rest > 0n; rest >>= 64n) words.push(BigInt.asUintN(64, rest));
  return `{unscaled:(big.Int){neg:(bool)${value < 0n} abs:(big.nat)[${words.join(' ')}]} scale:(inf.Scale)${-NANO}}`;
}
