/** Conversion of the result of a strategic merge to a document of its kind, with the server's errors. */
import { ConfigMap, Deployment, Secret, Service } from 'orchplane/kinds';
import { describe, expect, it, test } from 'vitest';
import { RestoreError, restore } from '../../../src/merge/restore.js';
import { deepFreeze } from '../../../src/util/json.js';

/** By name, because a kind is too large for a test name. */
const kinds = { ConfigMap, Deployment, Secret };

const surge = (maxSurge: unknown) => ({ spec: { strategy: { rollingUpdate: { maxSurge } } } });

describe('restoring an invalid document', () => {
  const cases: readonly (readonly [kind: keyof typeof kinds, document: unknown, message: string])[] = [
    ['Deployment', { metadata: 'x' }, 'cannot restore struct from: string'],
    ['Deployment', { spec: [] }, 'cannot restore struct from: slice'],
    ['Deployment', { spec: 1.5 }, 'cannot restore struct from: float64'],
    ['Deployment', { spec: { template: { spec: { containers: {} } } } }, 'cannot restore slice from map'],
    ['Deployment', { spec: { template: { spec: { containers: ['x'] } } } }, 'cannot restore struct from: string'],
    ['Deployment', { spec: { replicas: 'three' } }, 'unrecognized type: int32'],
    ['Deployment', { spec: { replicas: 2.5 } }, 'cannot convert float64 to int32'],
    ['Deployment', { spec: { replicas: true } }, 'unrecognized type: int32'],
    ['Deployment', { spec: { paused: 'yes' } }, 'unrecognized type: bool'],
    ['Deployment', { spec: { paused: 1 } }, 'unrecognized type: bool'],
    ['Deployment', { spec: { strategy: { type: 1 } } }, 'cannot convert int64 to v1.DeploymentStrategyType'],
    ['ConfigMap', { metadata: { labels: { a: 1 } } }, 'cannot convert int64 to string'],
    ['ConfigMap', { metadata: { labels: { a: 1.5 } } }, 'unrecognized type: string'],
    ['ConfigMap', { metadata: { labels: [] } }, 'cannot restore map from slice'],
    ['ConfigMap', { metadata: { finalizers: 'x' } }, 'cannot restore slice from string'],
    ['ConfigMap', { metadata: { finalizers: [{ a: 'b' }] } }, 'unrecognized type: string'],
    ['Secret', { data: { a: '!' } }, 'error decoding from json: illegal base64 data at input byte 0'],
    ['Secret', { data: { a: 1 } }, 'cannot restore slice from int64'],
    ['Secret', { data: { a: [1.5] } }, 'cannot convert float64 to uint8'],
    ['Secret', { data: { a: ['x'] } }, 'unrecognized type: uint8'],
    ['Secret', { data: { a: [{}] } }, 'unrecognized type: uint8'],
    // A type with its own decoder does not report the path.
    ['ConfigMap', { metadata: { creationTimestamp: 5 } }, 'json: cannot unmarshal number into Go value of type string'],
    ['Deployment', surge(true), 'json: cannot unmarshal bool into Go value of type int32'],
    ['Deployment', surge(1.5), 'json: cannot unmarshal number 1.5 into Go value of type int32'],
    ['Deployment', surge(2 ** 31), 'json: cannot unmarshal number 2147483648 into Go value of type int32'],
    // The first in the order of the kind's fields.
    ['Deployment', { spec: { replicas: 'x' }, metadata: { name: 1 } }, 'cannot convert int64 to string'],
  ];
  it.each(cases)('rejects a %s with %j', (kind, document, message) => {
    expect(() => restore(kinds[kind].schema, document)).toThrow(new RestoreError(message));
  });
});

test('reports unknown fields in alphabetical order', () => {
  const containers = [
    { name: 'a', foo: 1 },
    { bar: 2, name: 'b' },
  ];
  const document = { zzz: 1, spec: { template: { spec: { containers } }, nope: {} }, aaa: {} };
  expect(restore(Deployment.schema, document).findings).toEqual([
    'unknown field "aaa"',
    'unknown field "spec.nope"',
    'unknown field "spec.template.spec.containers[0].foo"',
    'unknown field "spec.template.spec.containers[1].bar"',
    'unknown field "zzz"',
  ]);
});

test('truncates integers to the size of their field', () => {
  const document = deepFreeze({
    spec: { ports: [{ port: 2 ** 32 + 80, name: 'x' }, { port: 53 }], healthCheckNodePort: -1 },
  });
  const { value } = restore(Service.schema, document);
  expect(value).toEqual({ spec: { ports: [{ port: 80, name: 'x' }, { port: 53 }], healthCheckNodePort: -1 } });
});

test('converts a list of numbers to bytes', () => {
  const document = { data: { a: [104, 105], b: [300, -1, null, 2n ** 62n], c: [] } };
  expect(restore(Secret.schema, document).value).toEqual({ data: { a: 'aGk=', b: 'LP8AAA==', c: '' } });
});

test('returns a valid document unchanged', () => {
  const document = deepFreeze({ metadata: { labels: { a: 'b' }, creationTimestamp: null }, spec: { replicas: 3 } });
  expect(restore(Deployment.schema, document)).toEqual({ value: document, findings: [] });
  expect(restore(Deployment.schema, document).value).toBe(document);
});
