/**
 * One filled object of each kind, through CBOR and back.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';

const VECTORS = new URL('../../../../../shared/vectors/wire/', import.meta.url);

describe.skipIf(!existsSync(VECTORS))('kinds (skipped without the vectors beside the repository)', () => {
  const files = existsSync(VECTORS) ? readdirSync(VECTORS).filter((file) => file.endsWith('.json')) : [];

  test('there are some', () => {
    expect(files.length).toBeGreaterThan(100);
  });

  test.each(files)('%s', (file) => {
    const document = JSON.parse(readFileSync(new URL(file, VECTORS), 'utf8')) as object;
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
