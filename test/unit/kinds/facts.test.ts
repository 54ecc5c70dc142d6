/**
 * Compares every built-in kind with the facts about the reference server's types: the same fields in the same order, with
 * the same required fields and merge rules.
 */
import type { Kind } from 'orchplane';
import { builtInKinds } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { decode } from '../../../src/schema/decode.js';
import type { Field, ObjectNode, SchemaNode } from '../../../src/schema/schema-node.js';
import { readVectors, readWireVectors } from '../../vectors/read.js';

interface FactField {
  readonly ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly required?: boolean;
  readonly list?: FactField;
  readonly map?: FactField;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
}

interface FactType {
  readonly type?: string;
  readonly fields?: Readonly<Record<string, FactField>>;
  readonly mapType?: string;
  readonly gvk?: { readonly group: string; readonly version: string; readonly kind: string };
}

describe('built-in kinds', () => {
  const facts = readVectors('types') as Record<string, FactType>;
  const byKind = new Map<string, string>();
  for (const [name, { gvk }] of Object.entries(facts)) {
    if (gvk !== undefined) byKind.set(`${gvk.group}/${gvk.version}/${gvk.kind}`, name);
  }

  for (const kind of builtInKinds) {
    const name = byKind.get(`${kind.group}/${kind.version}/${kind.kind}`);
    test(`has the fields of the reference server in ${kind.kind} of ${kind.group}/${kind.version}`, () => {
      expect(name, 'the type is among the facts').toBeDefined();
      const findings: string[] = [];
      compareObject(kind.schema, name ?? '', '', { facts, findings, seen: new Set() });
      expect(findings).toEqual([]);
    });
  }
});

interface Walk {
  readonly facts: Readonly<Record<string, FactType>>;
  readonly findings: string[];
  readonly seen: Set<string>;
}

function compareObject(node: ObjectNode, typeName: string, path: string, walk: Walk): void {
  const visit = `${typeName} ${node.goName}`;
  if (walk.seen.has(visit)) return;
  walk.seen.add(visit);
  const type = walk.facts[typeName];
  const expected = type?.fields ?? {};
  const note = (text: string) => walk.findings.push(`${path || typeName}: ${text}`);
  for (const name of Object.keys(expected)) if (!node.fields.has(name)) note(`lacks ${name}`);
  if ((type?.mapType === 'atomic') !== node.atomic) note(`is ${node.atomic ? '' : 'not '}atomic`);
  for (const [name, field] of node.fields) {
    const fact = expected[name];
    if (fact === undefined) note(`has ${name}, which is unknown`);
    else compareField(field, fact, path === '' ? name : `${path}.${name}`, walk);
  }
}

function compareField(field: Field, fact: FactField, path: string, walk: Walk): void {
  // The server sets apiVersion and kind, regardless of the schema.
  const own = !['apiVersion', 'kind', 'metadata'].includes(path);
  // Clients may omit fields that the server sets.
  const filledIn = field.node.default !== undefined;
  if (own && !filledIn && field.required !== (fact.required ?? false)) {
    walk.findings.push(`${path}: is ${field.required ? '' : 'not '}required`);
  }
  compareNode(field.node, fact, path, walk);
}

function compareNode(node: SchemaNode, fact: FactField, path: string, walk: Walk): void {
  const note = (text: string) => walk.findings.push(`${path}: ${text}`);
  const expected = formOf(fact, walk);
  const actual = node.type === 'scalar' ? scalarForm(node.scalar) : node.type;
  if (expected !== actual) {
    note(`is ${actual}, expected ${expected}`);
    return;
  }
  if (node.type === 'list') {
    const { listType = 'atomic', listMapKeys = [], patchStrategy, patchMergeKey } = fact;
    if (node.listType !== listType) note(`is a ${node.listType} list, expected ${listType}`);
    if (node.mapKeys.join() !== listMapKeys.join())
      note(`has keys ${node.mapKeys.join()}, expected ${listMapKeys.join()}`);
    if (node.patchStrategy !== patchStrategy) note(`patchStrategy ${node.patchStrategy}, expected ${patchStrategy}`);
    if (node.patchMergeKey !== patchMergeKey) note(`patchMergeKey ${node.patchMergeKey}, expected ${patchMergeKey}`);
    if (fact.list !== undefined) compareNode(node.items, fact.list, `${path}[]`, walk);
  } else if (node.type === 'map') {
    if (node.atomic !== (fact.mapType === 'atomic')) note(`is ${node.atomic ? '' : 'not '}atomic`);
    if (fact.map !== undefined) compareNode(node.values, fact.map, `${path}{}`, walk);
  } else if (node.type === 'object' && fact.ref !== undefined) {
    if (node.patchStrategy !== fact.patchStrategy)
      note(`patchStrategy ${node.patchStrategy}, expected ${fact.patchStrategy}`);
    compareObject(node, fact.ref, path, walk);
  }
}

const SCALAR_REFS: Readonly<Record<string, string>> = {
  'api.resource.Quantity': 'quantity',
  'meta.v1.Time': 'time',
  'meta.v1.MicroTime': 'microTime',
  'util.intstr.IntOrString': 'intOrString',
  'runtime.RawExtension': 'any',
  'meta.v1.FieldsV1': 'any',
};

function formOf(fact: FactField, walk: Walk): string {
  if (fact.list !== undefined) return 'list';
  if (fact.map !== undefined) return 'map';
  if (fact.ref !== undefined) {
    const scalar = SCALAR_REFS[fact.ref];
    if (scalar !== undefined) return scalar;
    const type = walk.facts[fact.ref];
    return type?.fields === undefined && type?.type !== 'object' ? 'any' : 'object';
  }
  if (fact.format === 'byte') return 'bytes';
  if (fact.type === 'integer') return fact.format === 'int64' ? 'int64' : 'int32';
  return fact.type ?? 'any';
}

function scalarForm(scalar: string): string {
  return scalar === 'duration' ? 'string' : scalar;
}

describe('decoding of an object with all fields set', () => {
  const { documents } = readWireVectors();
  for (const kind of builtInKinds) {
    const value = documents[wireName(kind)];
    if (value === undefined) continue;
    test(`keeps the fields of ${kind.kind} in ${kind.group}/${kind.version} and their order`, () => {
      const { value: decoded, findings } = decode(kind.schema, { value });
      expect(findings).toEqual([]);
      expect(JSON.stringify(decoded, null, 1)).toBe(JSON.stringify(value, null, 1));
    });
  }
});

/** The name of a kind's vector: the group in the Kubernetes dialect, the version and the kind. */
function wireName({ group, version, kind }: Kind): string {
  const spelled = group.replace(/\.orch\.io$/, '.k8s.io');
  return `${spelled === '' ? 'core' : spelled}.${version}.${kind}`;
}
