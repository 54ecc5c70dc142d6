/**
 * `/openapi/v2` and `/openapi/v3`: what every kind looks like, for `kubectl explain` and for makers of clients. Documents
 * are large, so each is made when it is first asked for, and a client that has one already is told so.
 */
import { encodeJson } from '../../codec/json-encoder.js';
import { REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { OpenApiOptions } from '../../registry/openapi/document.js';
import { isBuiltIn } from '../../registry/openapi/operations.js';
import { openApiV2 } from '../../registry/openapi/v2.js';
import { openApiV2Protobuf } from '../../registry/openapi/v2-protobuf.js';
import { openApiV3, openApiV3Places } from '../../registry/openapi/v3.js';
import { sha256Tag } from '../../util/sha256.js';
import type { Answer } from '../answer.js';
import { parseAccept } from '../header-values.js';
import { type HeaderTable, respondBody, respondEmpty } from '../respond.js';
import { oncePerKinds, type Page, type PageRequest } from './page.js';

/** The version of the API that the documents name. */
const SERVER_VERSION = `v${REFERENCE_RELEASE}.0+orchplane`;

const V2 = '/openapi/v2';
const V3 = '/openapi/v3';

/** The two spellings of the compact form of version 2; an answer has the one that is a proper media type. */
const V2_PROTOBUF_ASKED = 'com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_PROTOBUF = 'com.github.proto-openapi.spec.v2.v1.0+protobuf';

export const openApiPage: Page = (request) => {
  const { path } = request;
  if (path === V2) return v2(request);
  if (path === V3 || path === `${V3}/`) return v3Index(request);
  return path.startsWith(`${V3}/`) ? v3(request, path.slice(V3.length + 1)) : undefined;
};

function v2(request: PageRequest): Answer {
  const { kinds, dialect, accept } = request;
  const form = chosen(accept, ['json', V2_PROTOBUF, V2_PROTOBUF_ASKED]);
  if (form === undefined) return respondEmpty(request.envelope, 406);
  const isJson = form === 'json';
  const spoken = spokenBy(request);
  return tagged(request, {
    tag: v2Tag(kinds, spoken, dialect),
    headers: { 'Content-Type': isJson ? 'application/json' : `application/${V2_PROTOBUF}` },
    body: () => (isJson ? v2Text(kinds, spoken, dialect) : v2Protobuf(kinds, spoken, dialect)),
  });
}

/** Where the documents are. The reference server says that this is plain text. */
function v3Index(request: PageRequest): Answer {
  const { envelope, kinds, dialect } = request;
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  return respondBody(envelope, { code: 200, body: v3IndexText(kinds, spokenBy(request), dialect), headers });
}

function v3(request: PageRequest, place: string): Answer {
  const { envelope, kinds, dialect, query } = request;
  if (!openApiV3Places(kinds).includes(place)) return respondEmpty(envelope, 404);
  if (chosen(request.accept, ['json']) === undefined) return respondEmpty(envelope, 406);
  const document: V3Key = `${spokenBy(request)} ${place}`;
  const tag = v3Tag(kinds, document, dialect);
  const asked = query.get('hash')?.[0] ?? '';
  if (asked !== '' && asked !== tag) return respondEmpty(envelope, 301, { Location: addressOf(place, tag) });
  return tagged(request, {
    tag,
    headers: {
      'Content-Type': 'application/json',
      Vary: 'Accept',
      // What has its hash in its address never changes.
      ...(asked === '' ? {} : { 'Cache-Control': 'public, immutable', Expires: inAYear(request.nowMs) }),
    },
    body: () => v3Text(kinds, document, dialect),
  });
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

function inAYear(nowMs: number): string {
  return new Date(nowMs + YEAR_MS).toUTCString();
}

function tagged(
  { envelope, headers }: PageRequest,
  page: { readonly tag: string; readonly headers: HeaderTable; readonly body: () => string | Uint8Array },
): Answer {
  const all = { ...page.headers, ETag: `"${page.tag}"` };
  if (headers.get('if-none-match') === all.ETag) return respondEmpty(envelope, 304, all);
  return respondBody(envelope, { code: 200, body: page.body(), headers: all });
}

/** The first of these forms of `application/…` that a header accepts; without a header the first of all. */
function chosen(accept: string, forms: readonly string[]): string | undefined {
  if (accept === '') return forms[0];
  for (const { type, subtype } of parseAccept(accept)) {
    const isAny = subtype === '*' && (type === '*' || type === 'application');
    const form = isAny ? forms[0] : forms.find((name) => type === 'application' && name === subtype);
    if (form !== undefined) return form;
  }
  return undefined;
}

function addressOf(place: string, tag: string): string {
  return `${V3}/${place}?hash=${tag}`;
}

/** Documents tell which encodings there are, and CBOR is not always among them. */
type Spoken = 'plain' | 'cbor';
type V3Key = `${Spoken} ${string}`;

function spokenBy({ offers }: PageRequest): Spoken {
  return offers.versions.mediaTypes.includes('application/cbor') ? 'cbor' : 'plain';
}

function optionsOf(dialect: Dialect, spoken: Spoken): OpenApiOptions {
  return { dialect, serverVersion: SERVER_VERSION, cbor: spoken === 'cbor' };
}

function v3Parts(key: V3Key): { readonly spoken: Spoken; readonly place: string } {
  const space = key.indexOf(' ');
  return { spoken: key.slice(0, space) === 'cbor' ? 'cbor' : 'plain', place: key.slice(space + 1) };
}

const v2Text = oncePerKinds((kinds, spoken: Spoken, dialect) =>
  encodeJson(openApiV2(kinds, optionsOf(dialect, spoken))),
);
const v2Protobuf = oncePerKinds((kinds, spoken: Spoken, dialect) =>
  openApiV2Protobuf(openApiV2(kinds, optionsOf(dialect, spoken))),
);
const v2Tag = oncePerKinds((kinds, spoken: Spoken, dialect) => {
  const own = kinds.filter((kind) => !isBuiltIn(kind));
  const shapes = own.length === 0 ? '' : encodeJson(openApiV2(own, optionsOf(dialect, spoken)));
  return tagOf(kinds, { dialect, place: `${spoken} v2`, shapes });
});

const v3Text = oncePerKinds((kinds, key: V3Key, dialect) => {
  const { spoken, place } = v3Parts(key);
  return encodeJson(openApiV3(place, kinds, optionsOf(dialect, spoken)));
});
const v3Tag = oncePerKinds((kinds, key: V3Key, dialect) => {
  const { place } = v3Parts(key);
  const within = kinds.filter(
    ({ gvr }) => place === `${gvr.group === '' ? 'api' : `apis/${gvr.group}`}/${gvr.version}`,
  );
  const shapes = within.every(isBuiltIn) ? '' : v3Text(kinds, key, dialect);
  return tagOf(within, { dialect, place: key, shapes });
});
const v3IndexText = oncePerKinds((kinds, spoken: Spoken, dialect) => {
  const places = openApiV3Places(kinds).map((place) => [
    place,
    { serverRelativeURL: addressOf(place, v3Tag(kinds, `${spoken} ${place}`, dialect)) },
  ]);
  return JSON.stringify({ paths: Object.fromEntries(places) });
});

interface Tagged {
  readonly dialect: Dialect;
  readonly place: string;
  /** What users' own kinds look like has to be told; built-in kinds are known by their names. */
  readonly shapes: string;
}

/** Changes with the document, and is there without it. */
function tagOf(kinds: readonly ServedKind[], { dialect, place, shapes }: Tagged): string {
  const names = kinds.map(({ apiVersion, gvr, kind }) => `${apiVersion}/${gvr.resource}/${kind.kind}`);
  return sha256Tag([SERVER_VERSION, dialect.name, place, ...names, shapes].join('\n'));
}
