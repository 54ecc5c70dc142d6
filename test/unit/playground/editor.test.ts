/** The parts of the playground's editor that need no page: cursor paths, path lookup, and objects as lines. */
import { parser } from '@lezer/yaml';
import { describe, expect, test } from 'vitest';
import { cursorPath } from '../../../examples/playground/src/editor/cursor-path.js';
import { findPath, outlineOf, stepsOf } from '../../../examples/playground/src/editor/outline.js';
import { changedFields, diffLines } from '../../../examples/playground/src/yaml/diff.js';
import { toYaml, yamlLines } from '../../../examples/playground/src/yaml/lines.js';

const POD = `apiVersion: v1
kind: Pod
metadata:
  name: web # a comment
spec:
  containers:
  - name: web
    image: "web:1"
    ports:
    - containerPort: 80
    - containerPort: 90
      pro
  - name: side
    command: [a, "b"]
  tolerations:
    - key: x
      eff`;

describe('cursor path', () => {
  const at = (row: number, line: string) => {
    const lines = POD.split('\n').with(row, line);
    const found = cursorPath(lines, row, line.length);
    return found === undefined ? undefined : `${found.expects} ${found.path.join('/')} ${found.word}`;
  };

  test.each([
    [0, 'apiVersion: v', 'value apiVersion v'],
    [3, '  na', 'key metadata na'],
    [7, '    image: we', 'value spec/containers/0/image we'],
    [11, '      pro', 'key spec/containers/0/ports/1 pro'],
    [12, '  - na', 'key spec/containers/1 na'],
    [13, '    co', 'key spec/containers/1 co'],
    [14, '  to', 'key spec to'],
    [16, '      eff', 'key spec/tolerations/0 eff'],
  ])('finds in line %i at %j the path %s', (row, line, expected) => expect(at(row, line)).toBe(expected));

  test('finds no path in a comment or a flow collection', () => {
    expect(at(3, '  # na')).toBeUndefined();
    expect(at(3, '  labels: { a')).toBeUndefined();
  });
});

describe('path lookup', () => {
  const [document] = outlineOf(parser.parse(POD), POD);
  const textAt = (path: string) => {
    if (document?.root === undefined) throw new Error('there is a document');
    const { node, at, isComplete } = findPath(document.root, path);
    return isComplete && node !== undefined ? POD.slice(node.from, node.to) : `near ${POD.slice(at.from, at.to)}`;
  };

  test('reads apiVersion, kind and name of a document', () =>
    expect(document).toMatchObject({ apiVersion: 'v1', kind: 'Pod', name: 'web', namespace: undefined }));

  test.each([
    ['spec.containers[0].image', '"web:1"'],
    ['.spec.containers[name="web"].image', '"web:1"'],
    ['.spec.containers[name="web"].ports[containerPort=90,protocol="TCP"].containerPort', '90'],
    ['spec.containers[1].command[1]', '"b"'],
    ['metadata.labels', 'near metadata'],
    ['.spec.containers[name="gone"].image', 'near containers'],
  ])('finds %s', (path, expected) => expect(textAt(path)).toBe(expected));

  test('splits paths with dots and brackets in keys', () =>
    expect(stepsOf('.a[key="b.c]"].d')).toEqual(['a', '[key="b.c]"]', 'd']));
});

describe('objects as lines', () => {
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', annotations: { 'x.io/y': 'true' } },
    data: { text: 'one\ntwo\n', number: '017', url: 'http://a', empty: '' },
    items: [{ name: 'b', list: [1, 'c'] }, [], {}],
  };

  test('prints fields in conventional order and quotes only where needed', () =>
    expect(toYaml(object)).toBe(`apiVersion: v1
kind: ConfigMap
metadata:
  name: a
  annotations:
    x.io/y: "true"
data:
  empty: ""
  number: "017"
  text: |
    one
    two
  url: http://a
items:
- name: b
  list:
  - 1
  - c
- []
- {}
`));

  test('returns the path of each line', () =>
    expect(yamlLines(object).find(({ value }) => value === 'c')).toMatchObject({
      path: '.items[0].list[1]',
      keyedPath: '.items[name="b"].list[="c"]',
    }));

  test('returns differences as fields and as lines', () => {
    const other = { ...object, data: { ...object.data, number: '018' }, metadata: { ...object.metadata, uid: 'u' } };
    expect(changedFields(object, other)).toEqual([{ path: '.data.number', before: '017', after: '018' }]);
    const lines = diffLines(object, { ...object, data: { ...object.data, number: '018' } }, 1);
    expect(lines.map((line) => (line === 'gap' ? line : `${line.sign}${line.text}`))).toEqual([
      'gap',
      '   empty: ""',
      '-  number: "017"',
      '+  number: "018"',
      '   text: |',
      'gap',
    ]);
  });
});
