/**
 * Random documents of every kind survive a round trip, and random damage causes only a BodyError.
 */
import { describe, expect, test } from 'vitest';
import type { Document } from '../../../../src/codec/codec.js';
import { protobuf } from '../../../../src/codec/protobuf/index.js';
import { groups } from '../../../../src/codec/protobuf/message-types.js';
import type { Message, MessageField } from '../../../../src/codec/protobuf/notation.js';
import { typesIn } from '../../../../src/codec/protobuf/protobuf.js';
import { dialects, orchDialect } from '../../../../src/meta/dialect.js';
import { apiVersionOf } from '../../../../src/meta/gvk.js';
import { BodyError } from '../../../../src/protocol/body.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import fc from '../../../property/seeded.js';

interface DocumentType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const documentTypes: readonly DocumentType[] = groups.flatMap(({ group, versions }) =>
  versions.flatMap(({ version, kinds }) =>
    (kinds.match(/\S+/g) ?? []).map((name) => ({ group, version, kind: name.replace('+', '') })),
  ),
);

type Choose = (below: number) => number;

const TEXTS = ['a', 'name-0', 'é', '\u{1f600}', 'a text that is long enough to be read by the platform, with ü in it'];

/** Values of types with a special JSON form. */
const SHAPED: Readonly<Record<string, readonly unknown[]>> = {
  Time: ['2024-05-01T10:00:00Z', '1969-12-31T23:59:59Z'],
  MicroTime: ['2024-05-01T10:00:00.000001Z', '1960-01-01T00:00:00.999999Z'],
  Quantity: ['0', '100m', '1Gi'],
  IntOrString: [0, -1, 8080, '', 'http', '25%'],
  RawExtension: [{ a: [1, null, { b: 'c' }] }, 'text', 5],
  FieldsV1: [{ 'f:metadata': { 'f:labels': { '.': {} } } }],
  JSON: [true, 'x', { k: 1.5 }],
  Verbs: [['get', 'list'], []],
  ExtraValue: [['x'], []],
  JSONSchemaPropsOrBool: [true, false],
  JSONSchemaPropsOrArray: [[{}]],
  JSONSchemaPropsOrStringArray: [['a', 'b']],
};

/** Documents as the decoder returns them: values that are not pointers are never empty, and required messages are set. */
function randomFields(message: Message, choose: Choose, depth: number): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const field of message.fields) {
    if (field.name === '') Object.assign(out, randomFields(field.message, choose, depth));
    else if (field.form === 'one') {
      const expected = field.type === 'message' && !field.pointer ? true : choose(2 + depth) === 0;
      if (expected || SHAPED[shapeName(field)]) out[field.name] = randomValue(field, choose, depth);
    } else if (choose(2 + depth) === 0) {
      const values = Array.from({ length: 1 + choose(2) }, () => randomValue(field, choose, depth, true));
      out[field.name] =
        field.form === 'list' ? values : Object.fromEntries(values.map((value, index) => [`k${index}`, value]));
    }
  }
  return out;
}

function shapeName(field: MessageField): string {
  return field.type === 'message' ? field.message.name : '';
}

function randomValue(field: MessageField, choose: Choose, depth: number, inside = false): unknown {
  const pick = <Value>(values: readonly Value[]): Value => values[choose(values.length)] as Value;
  const mayBeEmpty = field.pointer || inside;
  switch (field.type) {
    case 'string':
      return pick(mayBeEmpty ? ['', ...TEXTS] : TEXTS);
    case 'int32':
      return pick(mayBeEmpty ? [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)] : [1, -1, 300]);
    case 'int64':
      return pick([1, -1, 2 ** 53 - 1, -(2 ** 53 - 1), 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n]);
    case 'bool':
      return mayBeEmpty ? choose(2) === 0 : true;
    case 'double':
      return pick([0, 1.5, -1e300]);
    case 'bytes':
    case 'raw':
      return pick(['', 'AA==', 'AP+A']);
    case 'message': {
      const values = SHAPED[field.message.name];
      return values === undefined ? randomFields(field.message, choose, depth + 1) : pick(values);
    }
  }
}

/** A deterministic source of choices from one number, so that a counterexample is short. */
function chooser(seed: number): Choose {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const seeds = fc.integer({ min: 0, max: 2 ** 32 - 1 });

describe('random protobuf documents', () => {
  test('decodes an encoded document to the same value', () => {
    const cases = fc.tuple(fc.constantFrom(...documentTypes), fc.constantFrom(...dialects), seeds);
    fc.assert(
      fc.property(cases, ([{ group, version, kind }, dialect, seed]) => {
        const apiVersion = apiVersionOf({ group: dialect.group(group), version });
        const message = typesIn(dialect).ofKind(apiVersion, kind);
        if (message === undefined) throw new Error(`${apiVersion} ${kind} has no message type`);
        const document = { ...randomFields(message, chooser(seed), 0), apiVersion, kind };
        const bytes = protobuf.encode(document, { dialect, pretty: false }) as Uint8Array;
        expect(protobuf.body(bytes, dialect).read().value).toEqual(document);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('damaged protobuf bodies', () => {
  test('decodes or rejects a damaged body with a BodyError in bounded time', () => {
    const spentMs = cpuTimer();
    let rejections = 0;
    fc.assert(
      fc.property(fc.constantFrom(...documentTypes), seeds, ({ group, version, kind }, seed) => {
        const choose = chooser(seed);
        const apiVersion = apiVersionOf({ group, version });
        const message = typesIn(orchDialect).ofKind(apiVersion, kind) as Message;
        const document: Document = { ...randomFields(message, choose, 0), apiVersion, kind };
        const bytes = damaged(protobuf.encode(document, { dialect: orchDialect, pretty: false }) as Uint8Array, choose);
        try {
          protobuf.body(bytes, orchDialect).read();
        } catch (error) {
          expect(error).toBeInstanceOf(BodyError);
          rejections++;
        }
      }),
      { numRuns: 2000 },
    );
    expect(rejections).toBeGreaterThan(1000);
    // A hundred times the usual duration.
    expect(spentMs()).toBeLessThan(60_000);
  });

  test.each([
    ['invalid UTF-8 bytes', new Uint8Array(3_000_000).fill(0xff)],
    ['truncated characters', new Uint8Array(3_000_000).fill(0xe2)],
  ])('decodes %s in linear time', (_name, text) => {
    const metadata = concatenated(Uint8Array.of(0x0a), varint(text.length), text);
    const raw = concatenated(Uint8Array.of(0x0a), varint(metadata.length), metadata);
    const typeMeta = new TextEncoder().encode('k8s\0\n\x0f\n\x02v1\x12\tConfigMap\x12');
    const { value } = protobuf.body(concatenated(typeMeta, varint(raw.length), raw), orchDialect).read();
    expect(value).toMatchObject({ metadata: { name: expect.stringMatching(/^\ufffd{100}/) } });
  });
});

function damaged(bytes: Uint8Array, choose: Choose): Uint8Array {
  const at = choose(bytes.length);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (choose(4)) {
    case 0:
      return before;
    case 1:
      return concatenated(before, after.subarray(1 + choose(4)));
    case 2:
      return concatenated(
        before,
        Uint8Array.from({ length: 1 + choose(12) }, () => choose(256) | 0x80),
        after,
      );
    default:
      return concatenated(before, Uint8Array.of(choose(256)), after.subarray(1));
  }
}

function concatenated(...parts: readonly Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

function varint(value: number): Uint8Array {
  const out: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Uint8Array.from([...out, rest]);
    out.push((rest & 0x7f) | 0x80);
  }
}
