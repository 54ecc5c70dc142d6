/**
 * The CEL objects of mutating policies: `Object{spec: Object.spec{replicas: 3}}` is a partial object for a merge,
 * `JSONPatch{op: 'add', path: '/a', value: 1}` is a JSON patch operation. The fields of an `Object` have no types at
 * compile time; its type name is checked when it is used.
 */
import {
  CelError,
  CelObject,
  type CelValue,
  celEquals,
  DYN,
  goTypeName,
  objectType,
  STRING,
  type TypeProvider,
} from '../../../cel/index.js';

/** The type of `Object{}`. */
export const OBJECT_TYPE = objectType('Object');
/** The type of `JSONPatch{}`. */
export const JSON_PATCH_TYPE = objectType('JSONPatch');

type Fields = ReadonlyMap<string, CelValue>;

/** A value of `Object{}` or of a nested type such as `Object.spec{}`. */
export class PatchObject extends CelObject {
  constructor(
    readonly typeName: string,
    readonly fields: Fields,
  ) {
    super();
  }

  get(field: string): CelValue | undefined {
    return this.fields.get(field);
  }

  has(field: string): boolean {
    return this.fields.has(field);
  }

  fieldNames(): readonly string[] {
    return [...this.fields.keys()];
  }

  override equals(other: CelValue): boolean {
    if (!(other instanceof PatchObject) || other.typeName !== this.typeName) return false;
    if (other.fields.size !== this.fields.size) return false;
    return [...this.fields].every(([name, value]) => {
      const theirs = other.fields.get(name);
      return theirs !== undefined && celEquals(value, theirs);
    });
  }
}

const TEXT_FIELDS = ['op', 'from', 'path'] as const;

/** A `JSONPatch{}`. Absent text fields are empty; only the value may be absent. */
export class PatchStep extends CelObject {
  readonly typeName = JSON_PATCH_TYPE.name;

  constructor(
    readonly texts: Readonly<Record<(typeof TEXT_FIELDS)[number], string>>,
    readonly value: CelValue | undefined,
  ) {
    super();
  }

  get(field: string): CelValue | undefined {
    const name = textField(field);
    if (name !== undefined) return this.texts[name];
    if (field === 'value') return this.value;
    throw new CelError(`unsupported indexer: ${field}`);
  }

  has(field: string): boolean {
    const name = textField(field);
    if (name !== undefined) return this.texts[name] !== '';
    if (field === 'value') return this.value !== undefined;
    throw new CelError(`unsupported field: ${field}`);
  }

  fieldNames(): readonly string[] {
    return [...TEXT_FIELDS, 'value'].filter((field) => this.has(field));
  }

  override equals(other: CelValue): boolean {
    if (!(other instanceof PatchStep)) return false;
    if (TEXT_FIELDS.some((name) => this.texts[name] !== other.texts[name])) return false;
    if (this.value === undefined || other.value === undefined) return this.value === other.value;
    return celEquals(this.value, other.value);
  }
}

function textField(field: string): (typeof TEXT_FIELDS)[number] | undefined {
  return TEXT_FIELDS.find((name) => name === field);
}

function isObjectType(name: string): boolean {
  return name === OBJECT_TYPE.name || name.startsWith(`${OBJECT_TYPE.name}.`);
}

/** The type of undeclared fields. The checker accepts them, but only with dynamic values. */
const NO_TYPE = objectType('');

export const PATCH_TYPES: TypeProvider = {
  hasType: (name) => name === JSON_PATCH_TYPE.name || isObjectType(name),
  fieldType: (typeName, field) => {
    if (isObjectType(typeName)) return DYN;
    if (textField(field) !== undefined) return STRING;
    return field === 'value' ? DYN : NO_TYPE;
  },
  fieldNames: (typeName) => (typeName === JSON_PATCH_TYPE.name ? [...TEXT_FIELDS, 'value'] : []),
  construct: (typeName, fields) =>
    typeName === JSON_PATCH_TYPE.name ? patchStep(fields) : new PatchObject(typeName, fields),
};

function patchStep(fields: Fields): PatchStep {
  const texts = { op: '', from: '', path: '' };
  for (const name of TEXT_FIELDS) {
    const value = fields.get(name) ?? '';
    // Texts whose type was not known when the expression was compiled.
    if (typeof value !== 'string') {
      throw new CelError(`unexpected type ${nativeClass(value)} for JSONPatchType '${name}' field`);
    }
    texts[name] = value;
  }
  const other = [...fields.keys()].find((field) => field !== 'value' && textField(field) === undefined);
  if (other !== undefined) throw new CelError(`unexpected JSONPatchType field: ${other}`);
  return new PatchStep(texts, fields.get('value'));
}

/** The Go type of a value in messages. */
function nativeClass(value: CelValue): string {
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'number') return 'float64';
  return typeof value === 'boolean' ? 'bool' : goTypeName(value);
}
