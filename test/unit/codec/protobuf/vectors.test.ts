/**
 * One filled object of every kind, as the reference server writes it in JSON and in this encoding. The files are not
 * part of this repository; without them there is nothing to compare.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Document } from '../../../../src/codec/codec.js';
import { decodeDocument } from '../../../../src/codec/protobuf/body.js';
import { protobuf } from '../../../../src/codec/protobuf/index.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { toHex } from './bytes.js';

const WIRE = new URL('../../../../../shared/vectors/wire/', import.meta.url);

const available = existsSync(WIRE);
if (!available) console.warn(`skipped: the vectors at ${WIRE.pathname} are not there, so bytes are not compared`);

describe.skipIf(!available)('vectors', () => {
  const names = available ? readdirSync(WIRE).filter((name) => name.endsWith('.pb')) : [];

  test('are there for every kind', () => {
    expect(names).toHaveLength(180);
  });

  test.each(names.map((name) => name.slice(0, -'.pb'.length)))('%s', (name) => {
    const bytes = new Uint8Array(readFileSync(new URL(`${name}.pb`, WIRE)));
    const json = JSON.parse(readFileSync(new URL(`${name}.json`, WIRE), 'utf8')) as Document;
    // An event does not say what it is.
    const type = json.kind === undefined ? { apiVersion: 'v1', kind: 'WatchEvent' } : {};
    const expected = { group: '', version: 'v1', kind: 'WatchEvent' };
    expect(decodeDocument(bytes, kubernetesDialect, expected)).toEqual({ ...json, ...type });
    const encoded = protobuf.encode({ ...json, ...type }, { dialect: kubernetesDialect, pretty: false });
    expect(toHex(encoded)).toBe(toHex(bytes));
  });
});
