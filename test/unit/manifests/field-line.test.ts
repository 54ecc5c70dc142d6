/** The lines of fields in manifests. */
import { describe, expect, test } from 'vitest';
import { lineOf } from '../../../src/manifests/field-line.js';
import { type Manifest, readManifests } from '../../../src/manifests/read.js';

const TEXT = `spec:
  containers:
  - name: web
    ports:
    - { containerPort: 80, protocol: TCP }
  - name: "log"
    image: &image log:1
  copy: *image
  "a.b/c": 1
`;

describe('lineOf', () => {
  const source = { text: TEXT, linesBefore: 10, path: '' };

  test.each([
    ['', 11],
    ['spec', 11],
    ['spec.containers[0]', 13],
    ['spec.containers[1].image', 17],
    ['spec.containers[name="log"].image', 17],
    ['spec.containers[0].ports[containerPort=80,protocol="TCP"].containerPort', 15],
    ['spec.containers.image', 17],
    ['spec.containers[0].image', 13],
    ['spec.containers[7].image', 12],
    ['spec[a.b/c]', 19],
    ['spec["a.b/c"]', 19],
    ['spec.copy', 18],
    ['status', 11],
  ])('finds %s', (path, line) => {
    expect(lineOf(source, path)).toBe(line);
  });
});

test('uses the first line of JSON that is not YAML', () => {
  expect(lineOf({ text: '{"a": "\\ud83d\\ude00",\n"b": 1}', linesBefore: 2, path: '' }, 'b')).toBe(3);
});

test('the lines of items are those of the file', () => {
  const text = `# comment
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: List
  items:
  - apiVersion: v1
    kind: ConfigMap
    metadata:
      name: a
---
{"apiVersion": "v1", "kind": "ConfigMap",
 "metadata": {"name": "b"}}
`;
  const lines = (readManifests({ text }) as Manifest[]).map(({ source }) => source && lineOf(source, 'metadata.name'));
  expect(lines).toEqual([11, 14]);
});
