/** Declarations of built-in types: when a field is on the wire, whether it is required, and its schema node. */
import { describe, expect, test } from 'vitest';
import {
  always,
  anything,
  applyMapList,
  atomic,
  bytes,
  type Declaration,
  defaulted,
  defaultedPointer,
  hint,
  int32,
  list,
  map,
  mapList,
  namedString,
  nullable,
  objectNode,
  optional,
  pointer,
  requiredPointer,
  resourceList,
  setList,
  string,
  struct,
  type Type,
  timeOrNull,
  type,
} from '../../../src/schema/declare.js';

/** The declared field as its struct has it. */
function fieldOf(declaration: Declaration) {
  const field = objectNode('Thing', { field: declaration }).fields.get('field');
  if (field === undefined) throw new Error('the field is missing');
  return field;
}

describe('the presence of a declared field', () => {
  test.each([
    ['a required scalar', string(), 'always', true],
    ['an optional scalar', optional(string()), 'omitEmpty', false],
    ['an optional struct', optional(struct('Part', {})), 'pointer', false],
    ['a pointer', pointer(string()), 'pointer', false],
    ['a required pointer', requiredPointer(int32()), 'pointer', true],
    ['a field that is always present', always(list(string())), 'always', false],
    ['a time or null', timeOrNull(), 'always', false],
    ['a default', defaulted(string(), 'a'), 'omitEmpty', false],
    ['a default of a pointer', defaultedPointer(int32(), 1), 'pointer', false],
    ['a presence that is set by a hint', hint(optional(string()), { presence: 'always' }), 'always', false],
  ])('is derived for %s', (_name, declaration, presence, required) => {
    expect(fieldOf(declaration)).toMatchObject({ presence, required });
  });
});

describe('the schema node of a declaration', () => {
  test.each([
    ['bytes', bytes(), { type: 'scalar', scalar: 'bytes', goType: '[]uint8' }],
    ['a named string', namedString('v1.SecretType'), { type: 'scalar', scalar: 'string', goType: 'v1.SecretType' }],
    ['arbitrary JSON', anything(), { type: 'any', atomic: true, goType: 'interface {}' }],
    ['a map', map(int32()), { type: 'map', goType: 'map[string]int32', atomic: false }],
    ['an atomic map', atomic(map(string())), { type: 'map', atomic: true }],
    ['a resource list', resourceList(), { type: 'map', goType: 'v1.ResourceList' }],
    ['a list', list(string()), { type: 'list', goType: '[]string', listType: 'atomic' }],
    ['a set', setList(string()), { listType: 'set' }],
    ['a nullable value', nullable(string()), { nullable: true }],
    ['a default', defaulted(list(string()), ['a']), { default: ['a'] }],
    [
      'a map list',
      mapList(struct('Part', { name: string() }), 'name'),
      { goType: '[]v1.Part', listType: 'map', mapKeys: ['name'], patchMergeKey: 'name', patchStrategy: 'merge' },
    ],
    ['a map list of apply', applyMapList(struct('Part', { name: string() }), ['name']), { patchMergeKey: undefined }],
  ])('has the properties of %s', (_name, { node }, expected) => {
    expect(node).toMatchObject(expected);
  });

  test('keeps the order of the fields of a struct', () => {
    expect([...objectNode('Thing', { b: string(), a: string() }).fields.keys()]).toEqual(['b', 'a']);
  });

  test('freezes defaults', () => {
    expect(Object.isFrozen(defaulted(list(string()), ['a']).node.default)).toBe(true);
  });
});

describe('a named type', () => {
  test('is built on its first call and shared by all fields that have it', () => {
    let built = 0;
    const part: Type = type('v1beta1.Part', () => {
      built += 1;
      return { name: string() };
    });
    expect(built).toBe(0);
    expect(part().node).toBe(pointer(part()).node);
    expect(built).toBe(1);
    expect(part().node).toMatchObject({ goName: 'Part', goType: 'v1beta1.Part' });
  });

  test('may contain itself', () => {
    const tree: Type = type('Tree', () => ({ children: optional(list(tree())) }));
    const children = objectNode('Root', { tree: tree() }).fields.get('tree')?.node;
    expect(children).toMatchObject({ type: 'object' });
    expect(tree().node).toMatchObject({ fields: expect.any(Map) });
  });

  test('is not changed by a hint on a field', () => {
    const part: Type = type('Part', () => ({ name: string() }));
    expect(hint(part(), { atomic: true }).node).toMatchObject({ atomic: true });
    expect(part().node).toMatchObject({ atomic: false });
  });
});
