/**
 * Random, partially filled objects of many kinds: empty strings, absent pointers, empty lists and maps, zero times, the
 * largest integers. Each line of `partial-objects.txt` contains one object: its JSON, a tab, and the bytes of the reference
 * server's encoder in base64.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Document } from '../../../../src/codec/codec.js';
import { protobuf } from '../../../../src/codec/protobuf/index.js';
import { decodeDocument } from '../../../../src/codec/protobuf/protobuf.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { parseJson } from '../../../../src/text/json/parse-json.js';
import { toHex } from './bytes.js';

const cases = readFileSync(new URL('partial-objects.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => {
    const [json = '', base64 = ''] = line.split('\t');
    const document = parseJson(json).value as Document;
    return { name: `${document.apiVersion} ${document.kind}`, json, document, bytes: Buffer.from(base64, 'base64') };
  });

const encode = (document: Document) => protobuf.encode(document, { dialect: kubernetesDialect, pretty: false });

describe('partially filled protobuf objects', () => {
  test.each(cases)('encodes and decodes $name like the reference server', ({ json, document, bytes }) => {
    expect(toHex(encode(document))).toBe(toHex(bytes));
    const decoded = decodeDocument(bytes, kubernetesDialect) as Document;
    // A null entry in a map of bytes is decoded as an empty one, as in the reference server.
    if (!/"(binaryData|data)":\{[^}]*:null/.test(json)) expect(toHex(encode(decoded))).toBe(toHex(bytes));
  });
});
