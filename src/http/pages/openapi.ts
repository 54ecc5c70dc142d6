/**
 * `/openapi/v2` and `/openapi/v3`: the schemas of all kinds, for `kubectl explain` and client generators. The documents
 * are large, so each is built on first request, and ETags let clients reuse their copy.
 */
import { encodeJson } from '../../codec/json-encoder.js';
import { REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { Answer } from '../../protocol/http.js';
import type { OpenApiDocument, OpenApiOptions } from '../../registry/openapi/document.js';
import { isBuiltIn } from '../../registry/openapi/operations.js';
import { SizedCache } from '../../registry/openapi/sized-cache.js';
import { openApiV2, openApiV2PartsOf } from '../../registry/openapi/v2.js';
import { openApiV2Protobuf } from '../../registry/openapi/v2-protobuf.js';
import { openApiV3, openApiV3PartsOf, openApiV3Paths } from '../../registry/openapi/v3.js';
import { openApiV3Protobuf } from '../../registry/openapi/v3-protobuf.js';
import { sameItems } from '../../util/arrays.js';
import { JoinedBytes } from '../../util/bytes.js';
import { inTurns } from '../../util/clock.js';
import { invariant } from '../../util/invariant.js';
import { isRecord } from '../../util/json.js';
import { sha256Tag } from '../../util/sha256.js';
import { parseAccept } from '../header-values.js';
import { type HeaderTable, respondBody, respondEmpty } from '../respond.js';
import { memoizePerKinds, type Page, type PageRequest } from './page.js';

/** The version of the API that the documents name. */
const SERVER_VERSION = `v${REFERENCE_RELEASE}.0+orchplane`;

const V2 = '/openapi/v2';
const V3 = '/openapi/v3';

/** The two spellings of the protobuf media types; responses use the one that is a valid media type. */
const V2_PROTOBUF_ASKED = 'com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_PROTOBUF = 'com.github.proto-openapi.spec.v2.v1.0+protobuf';
const V3_PROTOBUF_ASKED = 'com.github.proto-openapi.spec.v3@v1.0+protobuf';
const V3_PROTOBUF = 'com.github.proto-openapi.spec.v3.v1.0+protobuf';

/** The OpenAPI documents and their index. */
export const openApiPage: Page = (request) => {
  const { path } = request;
  if (path === V2) return respondV2(request);
  if (path === V3 || path === `${V3}/`) return respondV3Index(request);
  return path.startsWith(`${V3}/`) ? respondV3(request, path.slice(V3.length + 1)) : undefined;
};

async function respondV2(request: PageRequest): Promise<Answer> {
  const { kinds, dialect, accept } = request;
  const form = negotiateSubtype(accept, ['json', V2_PROTOBUF, V2_PROTOBUF_ASKED]);
  if (form === undefined) return respondEmpty(request.envelope, 406);
  const isJson = form === 'json';
  await prepareTags(request, kinds, 2);
  return respondTagged(request, {
    tag: v2Tag(kinds, encodingSetOf(request), dialect),
    headers: { 'Content-Type': isJson ? 'application/json' : `application/${V2_PROTOBUF}` },
    body: () => v2Body(request, isJson ? 'json' : 'protobuf'),
  });
}

/** The index of the version 3 documents. The reference server serves it as plain text. */
async function respondV3Index(request: PageRequest): Promise<Answer> {
  const { envelope, kinds, dialect } = request;
  await prepareTags(request, kinds, 3);
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  return respondBody(envelope, { code: 200, body: v3IndexText(kinds, encodingSetOf(request), dialect), headers });
}

async function respondV3(request: PageRequest, place: string): Promise<Answer> {
  const { envelope, kinds, dialect, query } = request;
  const within = kindsByDocument(kinds, 'documents', dialect).get(place);
  if (within === undefined) return respondEmpty(envelope, 404);
  const form = negotiateSubtype(request.accept, ['json', V3_PROTOBUF, V3_PROTOBUF_ASKED]);
  if (form === undefined) return respondEmpty(envelope, 406);
  const isJson = form === 'json';
  await prepareTags(request, within, 3);
  const tag = v3Tag(within, { dialect, spoken: encodingSetOf(request), place });
  const asked = query.get('hash')?.[0] ?? '';
  if (asked !== '' && asked !== tag) return respondEmpty(envelope, 301, { Location: v3Path(place, tag) });
  return respondTagged(request, {
    tag,
    headers: {
      'Content-Type': isJson ? 'application/json' : `application/${V3_PROTOBUF}`,
      Vary: 'Accept',
      // A URL that contains the content hash never changes.
      ...(asked === '' ? {} : { 'Cache-Control': 'public, immutable', Expires: oneYearLater(request.nowMs) }),
    },
    body: () => v3Body(request, { place, within, form: isJson ? 'json' : 'protobuf' }),
  });
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

function oneYearLater(nowMs: number): string {
  return new Date(nowMs + YEAR_MS).toUTCString();
}

async function respondTagged(
  { envelope, headers }: PageRequest,
  page: { readonly tag: string; readonly headers: HeaderTable; readonly body: () => Promise<Uint8Array> },
): Promise<Answer> {
  const all = { ...page.headers, ETag: `"${page.tag}"` };
  if (headers.get('if-none-match') === all.ETag) return respondEmpty(envelope, 304, all);
  return respondBody(envelope, { code: 200, body: await page.body(), headers: all });
}

/** The first of these `application/…` subtypes that the header accepts; without a header the first of all. */
function negotiateSubtype(accept: string, forms: readonly string[]): string | undefined {
  if (accept === '') return forms[0];
  for (const { type, subtype } of parseAccept(accept)) {
    const isAny = subtype === '*' && (type === '*' || type === 'application');
    const form = isAny ? forms[0] : forms.find((name) => type === 'application' && name === subtype);
    if (form !== undefined) return form;
  }
  return undefined;
}

function v3Path(place: string, tag: string): string {
  return `${V3}/${place}?hash=${tag}`;
}

/** The documents list the available encodings, and CBOR is optional. */
type EncodingSet = 'plain' | 'cbor';

function encodingSetOf({ offers }: PageRequest): EncodingSet {
  return offers.versions.mediaTypes.includes('application/cbor') ? 'cbor' : 'plain';
}

function optionsOf(dialect: Dialect, spoken: EncodingSet): OpenApiOptions {
  return { dialect, serverVersion: SERVER_VERSION, cbor: spoken === 'cbor' };
}

/**
 * The kinds by the path of their document. The list of a path is the same object for as long as its kinds are the same, so
 * that a new CRD invalidates only the document of its own group and version.
 */
const kindsByDocument = memoizePerKinds((kinds, _value: 'documents'): ReadonlyMap<string, readonly ServedKind[]> => {
  const documents = new Map<string, readonly ServedKind[]>();
  for (const [place, within] of openApiV3Paths(kinds)) {
    const [first] = within;
    const before = first === undefined ? undefined : lastLists.get(first);
    const list = before !== undefined && sameItems(before, within) ? before : within;
    if (first !== undefined) lastLists.set(first, list);
    documents.set(place, list);
  }
  return documents;
});

/** The last list of kinds that started with a kind. */
const lastLists = new WeakMap<ServedKind, readonly ServedKind[]>();

/** The encoded documents. A client rarely reads one twice, and those of a thousand CRDs take 125 MB in all encodings. */
const bodies = new SizedCache<object, Uint8Array>(64 * 1024 * 1024);

/** The cache key of a document. */
const bodyKey = memoizePerKinds((_kinds, _document: string): object => ({}));

/** Bodies that are being built. */
const unfinished = new WeakMap<object, Promise<Uint8Array>>();
/** One body is built at a time, because the document of thousands of CRDs takes hundreds of megabytes while it is built. */
let lastBuilt: Promise<unknown> = Promise.resolve();

async function cachedBody(key: object, make: () => Generator<undefined, Uint8Array>): Promise<Uint8Array> {
  const known = bodies.get(key) ?? unfinished.get(key);
  if (known !== undefined) return known;
  const building = lastBuilt.then(async () => {
    const body = await inTurns(make());
    bodies.set(key, body, body.length);
    return body;
  });
  unfinished.set(key, building);
  lastBuilt = building.catch(() => undefined).then(() => unfinished.delete(key));
  return building;
}

function v2Body(request: PageRequest, form: 'json' | 'protobuf'): Promise<Uint8Array> {
  const { kinds, dialect } = request;
  const spoken = encodingSetOf(request);
  return cachedBody(bodyKey(kinds, `v2 ${form} ${spoken}`, dialect), function* () {
    const document = yield* openApiV2(kinds, optionsOf(dialect, spoken));
    return yield* form === 'json' ? encodeOpenApi(document) : openApiV2Protobuf(document);
  });
}

const v2Tag = memoizePerKinds((kinds, spoken: EncodingSet, dialect) =>
  tagOf(kinds, { version: 2, dialect, spoken, place: 'v2' }),
);

interface V3Document {
  readonly place: string;
  readonly within: readonly ServedKind[];
  readonly form: 'json' | 'protobuf';
}

function v3Body(request: PageRequest, { place, within, form }: V3Document): Promise<Uint8Array> {
  const { dialect } = request;
  const spoken = encodingSetOf(request);
  // The document of a group lists no kinds, but its name comes from one of them.
  const kinds = within.length === 0 ? request.kinds : within;
  return cachedBody(bodyKey(kinds, `v3 ${form} ${spoken} ${place}`, dialect), function* () {
    const document = yield* openApiV3(place, kinds, optionsOf(dialect, spoken));
    invariant(document !== undefined, 'the index lists the document');
    return form === 'json' ? yield* encodeOpenApi(document) : openApiV3Protobuf(document);
  });
}

function v3Tag(within: readonly ServedKind[], parts: Pick<TagParts, 'dialect' | 'spoken' | 'place'>): string {
  // Documents without kinds never change, and their lists are not kept.
  if (within.length === 0) return tagOf(within, { version: 3, ...parts });
  return v3TagOfKinds(within, `${parts.spoken} ${parts.place}`, parts.dialect);
}

const v3TagOfKinds = memoizePerKinds((within, document: `${EncodingSet} ${string}`, dialect) => {
  const spoken: EncodingSet = document.startsWith('cbor ') ? 'cbor' : 'plain';
  return tagOf(within, { version: 3, dialect, spoken, place: document.slice(spoken.length + 1) });
});

const v3IndexText = memoizePerKinds((kinds, spoken: EncodingSet, dialect) => {
  const places = [...kindsByDocument(kinds, 'documents', dialect)].map(([place, within]) => [
    place,
    { serverRelativeURL: v3Path(place, v3Tag(within, { dialect, spoken, place })) },
  ]);
  return JSON.stringify({ paths: Object.fromEntries(places) });
});

/** The levels of a document that are encoded member by member: down to a path item, or to a schema of version 3. */
const ENCODED_LEVELS = 3;

/** Encodes a document as JSON, in steps. */
function* encodeOpenApi(document: OpenApiDocument): Generator<undefined, Uint8Array> {
  const utf8 = new TextEncoder();
  const encoded = new JoinedBytes();
  const write = (text: string): void => encoded.add(utf8.encode(text));
  function* member(value: unknown, level: number): Generator<undefined, void> {
    if (level === ENCODED_LEVELS || !isRecord(value)) return write(encodeJson(value));
    let separator = '{';
    for (const [key, one] of Object.entries(value)) {
      if (one === undefined) continue;
      write(`${separator}${encodeJson(key)}:`);
      separator = ',';
      yield* member(one, level + 1);
      yield;
    }
    write(separator === '{' ? '{}' : '}');
  }
  yield* member(document, 0);
  return encoded.bytes();
}

interface TagParts {
  readonly version: 2 | 3;
  readonly dialect: Dialect;
  readonly spoken: EncodingSet;
  readonly place: string;
}

/**
 * An ETag that changes exactly when the document changes, computed without building it. Built-in kinds are identified by
 * their names alone.
 */
function tagOf(kinds: readonly ServedKind[], { version, dialect, spoken, place }: TagParts): string {
  const lines = kinds.map((served) => {
    const { apiVersion, gvr, kind } = served;
    const name = `${apiVersion}/${gvr.resource}/${kind.kind}`;
    return isBuiltIn(served) ? name : `${name} ${fingerprintOf(served, version, optionsOf(dialect, spoken))}`;
  });
  return sha256Tag([SERVER_VERSION, dialect.name, spoken, place, ...lines.sort()].join('\n'));
}

/** Computes what a tag of these kinds needs. The schemas of thousands of CRDs are encoded for it. */
async function prepareTags(request: PageRequest, kinds: readonly ServedKind[], version: 2 | 3): Promise<void> {
  const options = optionsOf(request.dialect, encodingSetOf(request));
  const missing = kinds.filter((served) => !isBuiltIn(served) && !fingerprints[version].has(served));
  if (missing.length === 0) return;
  await inTurns(
    (function* () {
      for (const served of missing) {
        fingerprintOf(served, version, options);
        yield;
      }
    })(),
  );
}

const fingerprints = { 2: new WeakMap<ServedKind, string>(), 3: new WeakMap<ServedKind, string>() };

/**
 * A hash of what a custom resource or user-defined kind adds to a document. It is kept with the kind, so a change of one
 * CRD does not encode the schemas of the others again. The media types of these kinds do not depend on the options.
 */
function fingerprintOf(served: ServedKind, version: 2 | 3, options: OpenApiOptions): string {
  let fingerprint = fingerprints[version].get(served);
  if (fingerprint === undefined) {
    const parts = version === 2 ? openApiV2PartsOf(served, options) : openApiV3PartsOf(served, options);
    fingerprint = sha256Tag(encodeJson(parts));
    fingerprints[version].set(served, fingerprint);
  }
  return fingerprint;
}
