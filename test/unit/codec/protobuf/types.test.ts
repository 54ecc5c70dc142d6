/**
 * The protobuf message types, compared with the schemas of the built-in kinds and with the facts about the reference
 * server's types.
 */
import { describe, expect, test } from 'vitest';
import { groups } from '../../../../src/codec/protobuf/message-types.js';
import type { Message, MessageField } from '../../../../src/codec/protobuf/notation.js';
import { typesIn } from '../../../../src/codec/protobuf/protobuf.js';
import { builtInKinds } from '../../../../src/kinds/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { apiVersionOf } from '../../../../src/meta/gvk.js';
import type { ObjectNode, ScalarType, SchemaNode } from '../../../../src/schema/schema-node.js';
import { readVectors } from '../../../vectors/read.js';

const types = typesIn(orchDialect);

/** The fields of a document, including the fields of inlined messages. */
function fieldsOf(message: Message): ReadonlyMap<string, MessageField> {
  const fields = new Map<string, MessageField>();
  for (const field of message.fields) {
    if (field.name !== '') fields.set(field.name, field);
    else for (const [name, inner] of fieldsOf(field.message)) fields.set(name, inner);
  }
  return fields;
}

/** The type name of one value of the field. */
function valueType(field: MessageField): string {
  return field.type === 'message' ? field.message.name : field.type;
}

const TYPE_FIELDS = new Set(['apiVersion', 'kind']);

describe('protobuf message types', () => {
  test('has increasing field numbers and all referenced types', () => {
    const findings: string[] = [];
    const seen = new Set<Message>();
    const visit = (message: Message): void => {
      if (seen.has(message)) return;
      seen.add(message);
      let last = 0;
      for (const field of message.fields) {
        if (field.number <= last) findings.push(`${message.name}.${field.name}: ${field.number} after ${last}`);
        last = field.number;
        if (field.type === 'message') visit(field.message);
      }
    };
    for (const { group, versions } of groups) {
      for (const { version, kinds } of versions) {
        const apiVersion = apiVersionOf({ group, version });
        for (const name of kinds.match(/\S+/g) ?? []) {
          const message = types.ofKind(apiVersion, name.replace('+', ''));
          if (message === undefined) findings.push(`${apiVersion} ${name}`);
          else visit(message);
        }
      }
    }
    expect(findings).toEqual([]);
    expect(seen.size).toBeGreaterThan(900);
  });

  test.each([
    'v1 Table',
    'meta.orch.io/v1 Table',
    'example.com/v1 Widget',
    'apps/v1beta1 DaemonSet',
    'core/v1 Pod',
    'v1 PodSpec',
  ])('has no document type %s', (name) => {
    const [apiVersion = '', kind = ''] = name.split(' ');
    expect(types.ofKind(apiVersion, kind)).toBeUndefined();
  });

  test('has DeleteOptions for user-defined groups', () => {
    expect(types.ofKind('example.com/v1', 'DeleteOptions')).toBe(types.ofKind('other.com/v2', 'DeleteOptions'));
    expect(types.ofKind('example.com/v1', 'DeleteOptions')?.name).toBe('DeleteOptions');
  });
});

describe('protobuf types and schemas', () => {
  test.each(builtInKinds.map((kind) => [apiVersionOf(kind), kind.kind, kind.schema] as const))(
    'has a message field for every field of %s %s',
    (apiVersion, kind, schema) => {
      const message = types.ofKind(apiVersion, kind);
      const findings: string[] = [];
      if (message === undefined) findings.push('there is no message type');
      else compareObject(schema, message, '', { findings, seen: new Set() });
      expect(findings).toEqual([]);
      expect(types.ofKind(apiVersion, `${kind}List`)?.byNumber[2]?.message ?? message).toBe(message);
    },
  );
});

interface Walk {
  readonly findings: string[];
  readonly seen: Set<SchemaNode>;
}

/** Fields that are pointers on the wire and null in JSON when absent. */
const SHOWN_AS_NULL: ReadonlySet<string> = new Set(['.status.allocation.devices.results[].adminAccess']);

function compareObject(node: ObjectNode, message: Message, path: string, walk: Walk): void {
  if (walk.seen.has(node)) return;
  walk.seen.add(node);
  const fields = fieldsOf(message);
  for (const [name, { node: inner, presence }] of node.fields) {
    if (path === '' && TYPE_FIELDS.has(name)) continue;
    const place = `${path}.${name}`;
    const field = fields.get(name);
    if (field === undefined) {
      // Options inside a document have their own type in JSON, which the wire omits.
      if (!TYPE_FIELDS.has(name)) walk.findings.push(`${place}: no field in ${message.name}`);
      continue;
    }
    compareNode(inner, field, { path: place, form: field.form }, walk);
    // Bytes need no pointer to be optional, and empty messages are not omitted.
    const single = field.form === 'one' && inner.type === 'scalar' && !['bytes', 'message'].includes(field.type);
    if (single && (presence === 'pointer') !== field.pointer && !SHOWN_AS_NULL.has(place)) {
      walk.findings.push(`${place}: ${presence}, but ${field.pointer ? 'a' : 'no'} pointer`);
    }
  }
}

const SCALARS: Readonly<Record<ScalarType, string>> = {
  string: 'string',
  int32: 'int32',
  int64: 'int64',
  number: 'double',
  boolean: 'bool',
  bytes: 'bytes',
  time: 'Time',
  microTime: 'MicroTime',
  quantity: 'Quantity',
  intOrString: 'IntOrString',
  duration: 'Duration',
};

const LISTS = new Set(['Verbs', 'ExtraValue']);
const ANYTHING = /^(RawExtension|FieldsV1|JSON|JSONSchemaPropsOr\w+)$/;

/** `form` is the remaining form: the items of a list are single values. */
function compareNode(node: SchemaNode, field: MessageField, place: Place, walk: Walk): void {
  const { path, form } = place;
  const type = valueType(field);
  const found = (what: string) => walk.findings.push(`${path}: ${what}, but ${form} ${type}`);
  if (node.type === 'list' && form !== 'list') {
    if (!LISTS.has(type)) found('a list');
  } else if (node.type === 'map' && form !== 'map') found('a map');
  else if (node.type === 'list') compareNode(node.items, field, { path: `${path}[]`, form: 'one' }, walk);
  else if (node.type === 'map') compareNode(node.values, field, { path: `${path}{}`, form: 'one' }, walk);
  else if (form !== 'one') found('one');
  else if (node.type === 'scalar' && SCALARS[node.scalar] !== type) found(node.scalar);
  else if (node.type === 'any' && !ANYTHING.test(type)) found('anything');
  else if (node.type === 'object') {
    if (field.type === 'message') compareObject(node, field.message, path, walk);
    else found('an object');
  }
}

interface Place {
  readonly path: string;
  readonly form: MessageField['form'];
}

interface FactType {
  readonly gvk?: { readonly group: string; readonly version: string; readonly kind: string };
  readonly fields?: Readonly<Record<string, FactField>>;
}

interface FactField {
  readonly ref?: string;
  readonly list?: FactField;
  readonly map?: FactField;
  readonly proto?: number;
  readonly protoType?: string;
}

describe('protobuf types and reference facts', () => {
  test('has the number and type of every field of the reference', () => {
    const facts = readVectors('types') as Record<string, FactType>;
    const findings: string[] = [];
    const seen = new Set<string>();
    let compared = 0;

    const compare = (name: string, message: Message): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const fields = fieldsOf(message);
      for (const [key, fact] of Object.entries(facts[name]?.fields ?? {})) {
        const field = fields.get(key);
        if (field === undefined) {
          if (!TYPE_FIELDS.has(key)) findings.push(`${name}.${key} has no field`);
          continue;
        }
        // Fields of inlined messages have no number in the facts.
        if (fact.proto !== undefined && message.fields.includes(field)) {
          compared++;
          if (fact.proto !== field.number) findings.push(`${name}.${key}: ${fact.proto}, but ${field.number}`);
          const type = fact.protoType?.replace(/^map<string, (.*)>$/, '$1').replace(/^.*\./, '');
          if (type !== valueType(field)) findings.push(`${name}.${key}: ${type}, but ${valueType(field)}`);
        }
        const ref = fact.ref ?? fact.list?.ref ?? fact.map?.ref;
        if (ref !== undefined && field.type === 'message' && field.message.shape === undefined) {
          compare(ref, field.message);
        }
      }
    };

    for (const [name, { gvk }] of Object.entries(facts)) {
      if (gvk === undefined) continue;
      const message = types.ofKind(apiVersionOf(gvk), gvk.kind);
      if (message === undefined) findings.push(`${name} is no document`);
      else compare(name, message);
    }
    expect(findings).toEqual([]);
    expect(compared).toBeGreaterThan(2000);
  });
});
