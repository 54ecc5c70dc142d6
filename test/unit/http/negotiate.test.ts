/** Content negotiation: which encodings are accepted and chosen, and the messages that list them. */
import { describe, expect, test } from 'vitest';
import type { Codec } from '../../../src/codec/codec.js';
import { jsonCodec } from '../../../src/codec/json.js';
import { parseAccept, parseMediaType } from '../../../src/http/header-values.js';
import {
  chooseErrorRepresentation,
  chooseRepresentation,
  createOffer,
  readPatchType,
  requestCodec,
  routerRefusal,
} from '../../../src/http/negotiate.js';
import { kubernetesDialect, orchDialect } from '../../../src/meta/dialect.js';

const { body, encode } = jsonCodec;
const yaml: Codec = { mediaType: () => 'application/yaml', carries: 'all kinds', tables: true, body, encode };
const vendor: Codec = {
  mediaType: (dialect) => dialect.mediaType('protobuf'),
  carries: 'built-in kinds',
  stream: {
    mediaType: (dialect) => `${dialect.mediaType('protobuf')};stream=watch`,
    contentType: (dialect) => `${dialect.mediaType('protobuf')};stream=watch`,
    encode: () => '',
  },
  body,
  encode,
};
const offer = createOffer([jsonCodec], kubernetesDialect);
const wide = createOffer([jsonCodec, yaml, vendor], kubernetesDialect);
const object = { watch: false };

describe('parseAccept', () => {
  test('sorts clauses by quality, then plain types before wildcards, and keeps equal ones in order', () => {
    const types = (header: string) => parseAccept(header).map(({ type, subtype }) => `${type}/${subtype}`);
    expect(types('a/b;q=0.5, c/d, */*, e/*, f/g')).toEqual(['c/d', 'f/g', 'e/*', '*/*', 'a/b']);
    expect(types('a/b;q=bogus,c/d;q=0.2')).toEqual(['c/d', 'a/b']);
  });

  test('drops clauses that are not media types and reads * as any type', () => {
    expect(parseAccept('json, a/b/c, *, /x')).toEqual([
      { type: '', subtype: 'x', quality: 1, parameters: new Map() },
      { type: '*', subtype: '*', quality: 1, parameters: new Map() },
    ]);
  });

  test('reads parameters of a media type', () => {
    expect(parseAccept('a/b; as=Table ;v = v1;x;y=;z=1=2')[0]?.parameters).toEqual(
      new Map([
        ['as', 'Table'],
        ['v', 'v1'],
      ]),
    );
  });
});

describe('routerRefusal', () => {
  test.each([
    ['application/json'],
    ['text/html, application/json;q=0.1'],
    ['*/*'],
    [''],
    ['application/json;as=Bogus'],
  ])('accepts the Accept header %j', (accept) => {
    expect(routerRefusal(offer, accept, { streams: false, empty: false })).toBeUndefined();
  });

  test.each([['text/html'], ['application/*'], ['APPLICATION/JSON']])('rejects the Accept header %j', (accept) => {
    expect(routerRefusal(wide, accept, { streams: false, empty: false })?.status).toMatchObject({
      code: 406,
      reason: 'NotAcceptable',
      details: {},
      message:
        '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    });
  });

  test('lists stream types for paths that can be watched and reports a missing body as 415', () => {
    expect(routerRefusal(wide, 'text/html', { streams: true, empty: false })?.message).toContain(
      'protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    );
    expect(routerRefusal(offer, 'text/html', { streams: false, empty: true })?.status).toMatchObject({
      code: 415,
      message: '415: Unsupported Media Type\n\nAvailable representations: application/json',
    });
  });
});

describe('chooseRepresentation', () => {
  test.each([
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/yaml;q=0.5,application/json;q=0.9', 'application/json'],
    ['application/yaml;q=0.9,application/json;q=0.5', 'application/yaml'],
    ['application/yaml,application/json', 'application/yaml'],
    ['application/json;q=0,application/yaml', 'application/yaml'],
    ['application/xml,application/yaml;q=0.3', 'application/yaml'],
    ['application/vnd.kubernetes.protobuf', 'application/vnd.kubernetes.protobuf'],
    ['application/json;as=Nope;v=v1;g=meta.k8s.io,application/json', 'application/json'],
    ['application/json;stream=watch', 'application/json'],
    ['application/json;stream=bogus,application/yaml', 'application/yaml'],
    ['application/json;charset=utf-8', 'application/json'],
  ])('chooses an encoding for %s', (accept, mediaType) => {
    const { mediaType: chosen, pretty, view, codec } = chooseRepresentation(wide, accept, object);
    expect({ chosen, pretty, view }).toEqual({ chosen: mediaType, pretty: false, view: undefined });
    expect(codec.mediaType(kubernetesDialect)).toBe(mediaType);
  });

  test('applies the pretty parameter to the representation', () => {
    expect(chooseRepresentation(offer, 'application/json;pretty=1', object).pretty).toBe(true);
    expect(chooseRepresentation(offer, 'application/json;pretty=true', object).pretty).toBe(false);
  });

  test.each([
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', 'PartialObjectMetadata', 'meta.k8s.io/v1'],
    [
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1beta1',
      'PartialObjectMetadataList',
      'meta.k8s.io/v1beta1',
    ],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', 'Table', 'meta.k8s.io/v1'],
  ])('chooses a view for %s', (accept, kind, apiVersion) => {
    expect(chooseRepresentation(offer, accept, object).view).toEqual({ kind, apiVersion });
  });

  test('names views in the group of the dialect', () => {
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.orch.io;v=v1';
    expect(chooseRepresentation(createOffer([jsonCodec], orchDialect), accept, object).view?.apiVersion).toBe(
      'meta.orch.io/v1',
    );
    expect(() => chooseRepresentation(offer, accept, object)).toThrow('only the following media types are accepted');
  });

  test('offers tables only in encodings that support them', () => {
    const asTable = 'as=Table;v=v1;g=meta.k8s.io';
    expect(chooseRepresentation(wide, `application/yaml;${asTable}`, object).mediaType).toBe('application/yaml');
    const both = `application/vnd.kubernetes.protobuf;${asTable},application/json;${asTable}`;
    expect(chooseRepresentation(wide, both, object).mediaType).toBe('application/json');
  });

  test('offers custom resources in an encoding for built-in kinds only as metadata', () => {
    const accept = 'application/vnd.kubernetes.protobuf,application/json;q=0.5';
    expect(chooseRepresentation(wide, accept, { watch: false, kindRepresentation: 'struct' }).codec).toBe(vendor);
    expect(chooseRepresentation(wide, accept, { watch: false, kindRepresentation: 'document' }).codec).toBe(jsonCodec);
    const metadata = 'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    expect(chooseRepresentation(wide, metadata, { watch: false, kindRepresentation: 'document' }).codec).toBe(vendor);
  });

  test.each([
    ['application/json;as=Bogus;v=v1;g=meta.k8s.io'],
    ['application/json;as=PartialObjectMetadata;v=v2;g=meta.k8s.io'],
    ['application/json;g=meta.k8s.io;v=v1'],
    ['text/html'],
  ])('rejects the Accept header value %s', (accept) => {
    expect(() => chooseRepresentation(wide, accept, object)).toThrow(
      expect.objectContaining({
        code: 406,
        message:
          'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
      }),
    );
  });

  test('requires an encoding with a stream for a watch', () => {
    expect(() => chooseRepresentation(wide, 'application/yaml', { watch: true })).toThrow(
      'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    );
  });

  test('gives an error no view, and no representation when only a view is accepted', () => {
    const view = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    expect(chooseErrorRepresentation(offer, `${view},application/json;q=0.1`)).toEqual({
      codec: jsonCodec,
      mediaType: 'application/json',
      pretty: false,
    });
    expect(chooseErrorRepresentation(offer, view)).toBeUndefined();
    expect(chooseErrorRepresentation(offer, 'text/html')).toBeUndefined();
  });
});

describe('Content-Type headers', () => {
  test.each([
    ['application/json', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset="a;b\\"c" ; x=y;', 'application/json'],
    ['application/json;', 'application/json'],
    ['application/json;bogus', undefined],
    ['application/json;a=1;A=2', undefined],
    ['application/json, application/yaml', undefined],
    ['bogus', undefined],
    ['', undefined],
  ])('parseMediaType reads %s', (header, type) => {
    expect(parseMediaType(header)).toBe(type);
  });

  test('requestCodec finds the codec by type and defaults to the first', () => {
    expect(requestCodec(wide, '')).toBe(jsonCodec);
    expect(requestCodec(wide, 'application/yaml; charset=utf-8')).toBe(yaml);
  });

  test.each([['text/plain'], ['*/*'], ['application/merge-patch+json'], ['application/json;bogus']])(
    'requestCodec rejects the Content-Type %s',
    (type) => {
      expect(() => requestCodec(wide, type)).toThrow(
        expect.objectContaining({
          code: 415,
          message:
            'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
        }),
      );
    },
  );
});

describe('readPatchType', () => {
  test.each([
    ['application/json-patch+json', 'json'],
    ['application/merge-patch+json;charset=utf-8', 'merge'],
    ['application/strategic-merge-patch+json', 'strategic'],
    ['application/apply-patch+yaml', 'apply'],
  ] as const)('reads the patch type of %s', (header, type) => {
    expect(readPatchType(offer, header, { kindRepresentation: 'struct', content: 'present' }).type).toBe(type);
  });

  test.each([['application/json'], ['Application/Merge-Patch+JSON'], ['garbage'], ['']])(
    'routerRefusal rejects the patch type %j for a built-in kind',
    (header) => {
      expect(() => readPatchType(offer, header, { kindRepresentation: 'struct', content: 'present' })).toThrow(
        expect.objectContaining({
          message: '415: Unsupported Media Type',
          status: expect.objectContaining({ details: {}, code: 415, reason: 'UnsupportedMediaType' }),
        }),
      );
    },
  );

  test.each([
    ['empty', '406: Not Acceptable\n\nAvailable representations: '],
    ['missing', '415: Unsupported Media Type\n\nAvailable representations: '],
  ] as const)('rejects an unknown patch type without a body (%s) as a route without encodings', (content, message) => {
    expect(() => readPatchType(offer, 'garbage', { kindRepresentation: 'struct', content })).toThrow(message);
  });

  test('rejects a list of types that the router accepts with the message of the handler', () => {
    expect(() =>
      readPatchType(offer, 'application/merge-patch+json, application/json-patch+json', {
        kindRepresentation: 'struct',
        content: 'present',
      }),
    ).toThrow(
      'accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
    );
  });

  test('does not accept a strategic merge patch for custom resources', () => {
    expect(
      readPatchType(offer, 'application/apply-patch+yaml', { kindRepresentation: 'document', content: 'present' }).type,
    ).toBe('apply');
    expect(() =>
      readPatchType(offer, 'application/strategic-merge-patch+json', {
        kindRepresentation: 'document',
        content: 'present',
      }),
    ).toThrow(
      'accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
    );
  });
});

test('reads the first 64 KiB of an Accept header', () => {
  const header = `application/json,${'a/b,'.repeat(200_000)}`;
  expect(parseAccept(header)).toHaveLength(16_380);
  expect(parseAccept(header)[0]).toMatchObject({ type: 'application', subtype: 'json' });
});
