/**
 * Malformed and unusual protobuf bodies; the expected messages and values come from the reference server's decoder.
 */
import { describe, expect, test } from 'vitest';
import { protobuf } from '../../../../src/codec/protobuf/index.js';
import { ProtobufBodyError, protobufBody, wrap } from '../../../../src/codec/protobuf/protobuf.js';
import { writeBytes } from '../../../../src/codec/protobuf/write.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import { BodyError } from '../../../../src/protocol/body.js';
import { fromHex } from './bytes.js';

const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

function configMap(raw: string): Uint8Array {
  return wrap({ apiVersion: 'v1', kind: 'ConfigMap', raw: fromHex(raw) });
}

function read(bytes: Uint8Array): unknown {
  return protobuf.body(bytes, kubernetesDialect).read().value;
}

function rejection(bytes: Uint8Array): unknown {
  try {
    read(bytes);
  } catch (error) {
    expect(error).toBeInstanceOf(BodyError);
    if (error instanceof ProtobufBodyError) return { message: error.message, claimed: error.claimed };
    throw error;
  }
  return 'nothing';
}

const NOT_TAG = (28 << 3) | 2;

/** A CRD whose schema is nested `depth` levels deep in the field `not`. */
function nestedDefinition(depth: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let length = 0;
  const around = (tag: number) => {
    const head = writeBytes((writer) => writer.uint32(tag).uint32(length));
    parts.push(head);
    length += head.length;
  };
  for (let level = 0; level < depth; level++) around(NOT_TAG);
  // The field numbers of openAPIV3Schema, schema, versions and spec.
  for (const number of [1, 4, 7, 2]) around((number << 3) | 2);
  const raw = Uint8Array.from(parts.reverse().flatMap((part) => [...part]));
  return wrap({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', raw });
}

describe('protobuf bodies', () => {
  test.each([
    ['an empty body', '', 'empty data', undefined],
    [
      'a JSON body',
      '7b2261706956657273696f6e223a227631222c226b696e64223a22436f6e6669674d6170227d',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
      undefined,
    ],
    [
      'a truncated prefix',
      '6b38',
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
      undefined,
    ],
    ['a prefix without an envelope', '6b387300', 'empty body', undefined],
    ['a truncated envelope', '6b3873000a0f0a0276', 'unexpected EOF', undefined],
    ['an envelope that ends in a group', '6b3873000c', 'proto: Unknown: wiretype end group for non-group', undefined],
    ['an envelope with field number 0', '6b3873000000', 'proto: Unknown: illegal tag 0 (wire type 0)', undefined],
    ['an envelope whose type is a number', '6b3873000801', 'proto: wrong wireType = 0 for field TypeMeta', undefined],
    [
      'an envelope without a type',
      '6b38730012020a00',
      `Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:""}'`,
      undefined,
    ],
    [
      'an envelope without an apiVersion',
      '6b3873000a0d0a001209436f6e6669674d617012001a002200',
      `Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:"", Kind:"ConfigMap"}'`,
      { group: '', version: '', kind: 'ConfigMap' },
    ],
    [
      'an envelope without a kind',
      '6b3873000a060a027631120012001a002200',
      `Object 'Kind' is missing in 'runtime.TypeMeta{APIVersion:"v1", Kind:""}'`,
      undefined,
    ],
    [
      'an envelope with an invalid apiVersion',
      '6b3873000a120a05612f622f631209436f6e6669674d617012001a002200',
      `Object 'apiVersion' is missing in 'runtime.TypeMeta{APIVersion:"a/b/c", Kind:"ConfigMap"}'`,
      { group: '', version: '', kind: 'ConfigMap' },
    ],
    [
      'an envelope with an unknown kind',
      '6b3873000a0c0a027631120657696467657412001a002200',
      'no kind "Widget" is registered for version "v1" in scheme "pkg/api/legacyscheme/scheme.go:30"',
      { group: '', version: 'v1', kind: 'Widget' },
    ],
    [
      'an envelope with an unknown version',
      '6b3873000a150a07617070732f7639120a4465706c6f796d656e7412001a002200',
      'no kind "Deployment" is registered for version "apps/v9" in scheme "pkg/api/legacyscheme/scheme.go:30"',
      { group: 'apps', version: 'v9', kind: 'Deployment' },
    ],
  ])('rejects %s', (_name, hex, message, claimed) => {
    expect(rejection(fromHex(hex))).toEqual({ message, claimed });
  });

  test.each([
    ['a truncated object', '0a050a0161', 'unexpected EOF'],
    ['a tag without its number', '20', 'unexpected EOF'],
    ['an unfinished number', '2080', 'unexpected EOF'],
    ['a length beyond the end', '0affffffff7f', 'unexpected EOF'],
    ['a length of 64 bits', '0affffffffffffffffff01', 'proto: negative length found during unmarshaling'],
    ['a length of more than 63 bits', '0affffffffffffffff7f', 'proto: negative length found during unmarshaling'],
    ['an eleven-byte number', '08ffffffffffffffffffff01', 'proto: wrong wireType = 0 for field ObjectMeta'],
    ['an eleven-byte length', '0affffffffffffffffffff01', 'proto: integer overflow'],
    ['an eleven-byte tag', '8a8080808080808080808001', 'proto: integer overflow'],
    ['a wrong wire type', '0801', 'proto: wrong wireType = 0 for field ObjectMeta'],
    ['a wrong wire type inside', '0a022801', 'proto: wrong wireType = 0 for field UID'],
    ['a wrong wire type of a time', '0a04420208', 'unexpected EOF'],
    ['a string in place of seconds', '0a0542030a0161', 'proto: wrong wireType = 2 for field Seconds'],
    ['an unexpected group end', '0c', 'proto: ConfigMap: wiretype end group for non-group'],
    ['an unclosed group', '5b6001', 'unexpected EOF'],
    ['a group in place of a known field', '0b0c', 'proto: wrong wireType = 3 for field ObjectMeta'],
    ['field number 0', '0201', 'proto: ConfigMap: illegal tag 0 (wire type 2)'],
    [
      'a field number of 64 bits',
      'faffffffffffffffff01',
      'proto: ConfigMap: illegal tag -1 (wire type 18446744073709551610)',
    ],
    ['wire type 6', '5e', 'proto: illegal wireType 6'],
    ['wire type 7', '0f', 'proto: wrong wireType = 7 for field ObjectMeta'],
    ['wire type 6 of an unknown field', '5e00', 'proto: illegal wireType 6'],
    ['a truncated unknown field', '520561', 'unexpected EOF'],
    ['a truncated unknown fixed field', '5561', 'unexpected EOF'],
    ['a map entry with a key beyond its end', '12020a0461626364', 'unexpected EOF'],
  ])('rejects a document with %s and reports its type', (_name, raw, message) => {
    expect(rejection(configMap(raw))).toEqual({ message, claimed: CONFIG_MAP });
  });

  test.each([
    ['a group of an unknown field', '5b60015c', {}],
    ['an unknown field', '520161', {}],
    ['invalid UTF-8', '0a040a02ff61', { metadata: { name: '\ufffda' } }],
    ['a repeated string', '0a060a01610a0162', { metadata: { name: 'b' } }],
    ['a repeated string that ends empty', '0a050a01610a00', { metadata: {} }],
    ['a repeated message', '0a030a01610a031a0162', { metadata: { name: 'a', namespace: 'b' } }],
    ['a map entry without a key', '1203120176', { data: { '': 'v' } }],
    ['a map entry without a value', '12030a016b', { data: { k: '' } }],
    ['a number of ten bytes', '0a0b38ffffffffffffffffff01', { metadata: { generation: -1 } }],
    ['an empty object', '', {}],
  ])('decodes a document with %s', (_name, raw, fields) => {
    expect(read(configMap(raw))).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', ...fields });
  });

  test('takes the type from the request when the envelope has none', () => {
    const bare = wrap({ apiVersion: '', kind: '', raw: fromHex('0a030a0161') });
    const expected = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(protobufBody(bare, orchDialect).read(CONFIG_MAP).value).toEqual(expected);
    const other = wrap({ apiVersion: 'apps/v1', kind: '', raw: fromHex('') });
    expect(protobufBody(other, orchDialect).read({ ...CONFIG_MAP, kind: 'Deployment' }).value).toEqual({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
    });
  });

  test('reads the type of a body without decoding the document', () => {
    const typeMeta = (bytes: Uint8Array) => protobuf.body(bytes, orchDialect).typeMeta?.();
    expect(typeMeta(configMap('0801'))).toEqual({ apiVersion: 'v1', kind: 'ConfigMap' });
    expect(typeMeta(fromHex('6b3873000c'))).toBeUndefined();
  });

  test('uses group names of the dialect in types', () => {
    const lease = { apiVersion: 'coordination.orch.io/v1', kind: 'Lease' };
    const bytes = wrap({ ...lease, raw: fromHex('0a00') });
    expect(protobuf.body(bytes, orchDialect).read().value).toEqual({ ...lease, metadata: {} });
    expect(rejection(bytes)).toMatchObject({
      claimed: { group: 'coordination.orch.io', version: 'v1', kind: 'Lease' },
    });
  });

  test('rejects a raw value that is not JSON after the rest is decoded', () => {
    const revision = (raw: string) => wrap({ apiVersion: 'apps/v1', kind: 'ControllerRevision', raw: fromHex(raw) });
    const claimed = { group: 'apps', version: 'v1', kind: 'ControllerRevision' };
    const message = "invalid character '}' looking for beginning of value";
    expect(rejection(revision('12030a017d'))).toEqual({ message, claimed });
    expect(rejection(revision('12030a017d1a00'))).toEqual({
      message: 'proto: wrong wireType = 2 for field Revision',
      claimed,
    });
  });

  test('rejects messages that are nested too deeply', () => {
    expect(rejection(nestedDefinition(5_000))).toMatchObject({ message: 'exceeded max depth' });
    expect(read(nestedDefinition(300))).toMatchObject({ kind: 'CustomResourceDefinition' });
  });

  test.each([
    ['an empty body', '', '<empty>'],
    ['a JSON body', '7b22617069566572', '{"apiVer'],
    ['a protobuf body', '6b387300ff', '6b387300ff'],
    ['a body of thirty bytes', '00'.repeat(30), '00'.repeat(30)],
    ['a longer body', '01'.repeat(31), `${'01'.repeat(30)} ...`],
  ])('summarizes %s', (_name, hex, summary) => {
    expect(protobuf.body(fromHex(hex), orchDialect).summary()).toBe(summary);
  });

  test('copies the bytes of a detached body', () => {
    const bytes = configMap('0a030a0161');
    const body = protobuf.body(bytes, orchDialect).detach?.();
    bytes.fill(0);
    expect(body?.read().value).toMatchObject({ metadata: { name: 'a' } });
  });
});
