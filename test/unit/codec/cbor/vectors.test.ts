/** CBOR round trips of one object of every kind with all fields set. */
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { readWireVectors } from '../../../vectors/read.js';

describe('CBOR codec', () => {
  test.each(Object.entries(readWireVectors().documents))('decodes what it encodes of %s', (_name, document) => {
    const bytes = cbor.encode(document, { dialect: orchDialect, pretty: false }) as Uint8Array;
    const body = cbor.body(bytes, orchDialect);
    expect(JSON.stringify(body.read().value)).toBe(JSON.stringify(document));
    expect(body.typeMeta?.()).toMatchObject({ apiVersion: '', kind: '', ...typeOf(document) });
  });
});

function typeOf(document: { readonly apiVersion?: string; readonly kind?: string }): object {
  const { apiVersion, kind } = document;
  return { ...(apiVersion === undefined ? {} : { apiVersion }), ...(kind === undefined ? {} : { kind }) };
}
