/**
 * Objects of many kinds that are filled in part, at random: empty texts, absent pointers, lists and maps without
 * anything in them, zero times, the largest integers. `partial-objects.txt` has one in each line: its JSON, a tab, and
 * the bytes that the reference server's encoder makes of it, in base64.
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

describe('partly filled objects', () => {
  test.each(cases)('$name', ({ json, document, bytes }) => {
    expect(toHex(encode(document))).toBe(toHex(bytes));
    const decoded = decodeDocument(bytes, kubernetesDialect) as Document;
    // An entry of a map of bytes that is null comes back as one that is empty, there as here.
    if (!/"(binaryData|data)":\{[^}]*:null/.test(json)) expect(toHex(encode(decoded))).toBe(toHex(bytes));
  });
});
