/**
 * The protobuf codec as handlers use it: media types, envelopes, lists, events, caching and errors.
 */
import { describe, expect, test } from 'vitest';
import { protobuf, UnknownTypeError } from '../../../../src/codec/protobuf/protobuf.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import { deepFreeze } from '../../../../src/util/json.js';
import { fromHex, toHex } from './bytes.js';

const options = { dialect: kubernetesDialect, pretty: false };
const encode = (document: object): string => toHex(protobuf.encode(document, options));
const latin = (document: object): string => String.fromCharCode(...fromHex(encode(document)));

const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n' },
  data: { k: 'v' },
};

describe('protobuf media types', () => {
  test.each([
    [orchDialect, 'application/vnd.orch.protobuf'],
    [kubernetesDialect, 'application/vnd.kubernetes.protobuf'],
  ])('returns the media types of the dialect $name', (dialect, name) => {
    expect(protobuf.mediaType(dialect)).toBe(name);
    expect(protobuf.stream?.mediaType(dialect)).toBe(`${name};stream=watch`);
    expect(protobuf.stream?.contentType(dialect)).toBe(`${name};stream=watch`);
  });

  test('supports only built-in kinds, in every cluster', () => {
    expect(protobuf.carries).toBe('built-in kinds');
    expect(protobuf.gate).toBeUndefined();
  });
});

describe('protobuf documents', () => {
  test('encodes empty strings, numbers and structs, but pointers, lists and maps only when set', () => {
    const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '5', labels: {}, finalizers: [] };
    expect(
      latin({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { ...metadata, creationTimestamp: '2023-11-14T22:13:20Z' },
      }),
    ).toBe(
      'k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12\x1e\n\x1c\n\x01a\x12\0\x1a\x01n"\0*\x01u2\x0158\0B\x08\x08\x80\xe2\xcf\xaa\x06\x10\0\x1a\0"\0',
    );
  });

  test('encodes discovery documents as recorded', () => {
    const version = { groupVersion: 'policy/v1', version: 'v1' };
    const group = {
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'policy',
      versions: [version],
      preferredVersion: version,
    };
    expect(latin(group)).toBe(
      'k8s\0\n\x0e\n\x02v1\x12\x08APIGroup\x12*\n\x06policy\x12\x0f\n\tpolicy/v1\x12\x02v1\x1a\x0f\n\tpolicy/v1\x12\x02v1\x1a\0"\0',
    );
  });

  test('encodes list items without a type', () => {
    const list = (items: readonly object[]) => encode({ apiVersion: 'v1', kind: 'ConfigMapList', metadata: {}, items });
    const { apiVersion: _version, kind: _kind, ...bare } = configMap;
    expect(list([bare, bare])).toBe(list([configMap, deepFreeze({ ...configMap })]));
  });

  test('encodes maps in byte order of their keys', () => {
    const data = { '\u{1f600}': '1', '\uff5e': '2', b: '3', a: '4' };
    const sorted = { a: '4', b: '3', '\uff5e': '2', '\u{1f600}': '1' };
    const bytes = encode({ ...configMap, data });
    const positions = Object.keys(sorted).map((key) => bytes.indexOf(toHex(new TextEncoder().encode(`${key}\u0012`))));
    expect(positions).toEqual([...positions].sort((left, right) => left - right));
    expect(positions).not.toContain(-1);
  });

  test('replaces lone surrogates', () => {
    expect(encode({ ...configMap, data: { k: 'a\ud800' } })).toBe(encode({ ...configMap, data: { k: 'a\ufffd' } }));
  });

  test('encodes schema extensions with the names of the dialect', () => {
    const definition = (group: string, extension: string) => ({
      apiVersion: `apiextensions.${group}/v1`,
      kind: 'CustomResourceDefinition',
      spec: {
        versions: [{ name: 'v1', schema: { openAPIV3Schema: { [extension]: 'map', additionalProperties: false } } }],
      },
    });
    const orch = protobuf.encode(definition('orch.io', 'x-orch-list-type'), { ...options, dialect: orchDialect });
    expect(toHex(orch).slice(-80)).toBe(encode(definition('k8s.io', 'x-kubernetes-list-type')).slice(-80));
    expect(protobuf.body(orch as Uint8Array, orchDialect).read().value).toMatchObject(
      definition('orch.io', 'x-orch-list-type'),
    );
  });

  test('encodes a frozen document once', () => {
    let reads = 0;
    const counted = Object.freeze({
      ...configMap,
      get data() {
        reads++;
        return { k: 'v' };
      },
    });
    const alone = encode(counted);
    encode({ apiVersion: 'v1', kind: 'ConfigMapList', items: [counted] });
    protobuf.stream?.encode({ type: 'ADDED', object: counted }, kubernetesDialect);
    expect(alone).toBe(encode(configMap));
    expect(encode(counted)).toBe(alone);
    expect(reads).toBe(1);
  });

  test('encodes a document that is not frozen each time', () => {
    const changing = { ...configMap };
    const before = encode(changing);
    changing.data = { k: 'w' };
    expect(encode(changing)).not.toBe(before);
  });

  test.each([
    ['example.com/v1', 'Widget'],
    ['meta.k8s.io/v1', 'Table'],
    ['v1', undefined],
    [undefined, undefined],
  ])('rejects documents of type %s %s', (apiVersion, kind) => {
    const document = { ...(apiVersion && { apiVersion }), ...(kind && { kind }) };
    expect(() => encode(document)).toThrow(UnknownTypeError);
    expect(() => encode(document)).toThrow(/no protobuf message type/);
  });

  test('throws for a document that does not match its type', () => {
    expect(() => encode({ ...configMap, data: 'text' })).toThrow('the field data is a map of string, not a string');
    expect(() => encode({ ...configMap, data: { k: 1 } })).toThrow('the field data is a map of string, not a number');
    // The failed encoding does not affect the next one.
    expect(encode(configMap)).toBe(encode({ ...configMap }));
  });
});

describe('protobuf events', () => {
  test('frames an event by its length with the whole document', () => {
    const frame = (type: string) =>
      toHex(protobuf.stream?.encode({ type, object: configMap }, kubernetesDialect) ?? '');
    const object =
      '6b3873000a0f0a0276311209436f6e6669674d6170121c0a120a016112001a016e22002a0032003800420012060a016b1201761a002200';
    expect(encode(configMap)).toBe(object);
    expect(frame('ADDED')).toBe(`000000420a05414444454412390a37${object}`);
    expect(frame('MODIFIED')).toBe(`000000450a084d4f44494649454412390a37${object}`);
  });
});
