/** One object of every kind with all fields set, as the reference server encodes it in JSON and in protobuf. */
import { describe, expect, test } from 'vitest';
import type { Document } from '../../../../src/codec/codec.js';
import { protobuf } from '../../../../src/codec/protobuf/index.js';
import { decodeDocument } from '../../../../src/codec/protobuf/protobuf.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { readWireVectors } from '../../../vectors/read.js';
import { fromHex, toHex } from './bytes.js';

describe('protobuf vectors', () => {
  const { documents, protobuf: encodings } = readWireVectors();

  test('contains vectors for 180 kinds', () => {
    expect(Object.keys(documents)).toHaveLength(180);
  });

  test.each(Object.entries(documents))('decodes and encodes %s', (name, document) => {
    const hex = encodings[name] ?? '';
    const json = document as Document;
    // The JSON of a watch event has no kind.
    const type = json.kind === undefined ? { apiVersion: 'v1', kind: 'WatchEvent' } : {};
    const expected = { group: '', version: 'v1', kind: 'WatchEvent' };
    expect(decodeDocument(fromHex(hex), kubernetesDialect, expected)).toEqual({ ...json, ...type });
    const encoded = protobuf.encode({ ...json, ...type }, { dialect: kubernetesDialect, pretty: false });
    expect(toHex(encoded)).toBe(hex);
  });
});
