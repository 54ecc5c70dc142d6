/**
 * Reads the state of a cluster from a text: a capture, a file of `orchplane import`, or what `kubectl get -o yaml` and
 * `-o json` print.
 */
import { parseApiVersion } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { ClusterState } from '../storage/state.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import { recoverFrom } from '../util/catch-error.js';
import { uidFromText } from '../util/ids.js';
import { cloneJson, deepFreeze, isRecord } from '../util/json.js';
import {
  endOfJson,
  isList,
  type ManifestDocument,
  ManifestError,
  type ManifestPlace,
  readDocuments,
  typedItem,
} from './read.js';

/** The prefix of the comment with the resourceVersion before the first document. */
export const VERSION_COMMENT = '# resourceVersion: ';

/**
 * Parses YAML with any number of documents, or JSON, into a cluster state. Lists are expanded. Of duplicate keys the last
 * one wins. The same text always gives the same state:
 *
 * - An object without a uid gets one derived from its kind and name; one without creationTimestamp gets 1970-01-01.
 * - Versions are kept. Objects without a version get new versions after the newest one, in text order. If a version
 *   exceeds 2^53, all versions are renumbered from 1 in their order.
 *
 * Throws {@link ManifestError} with the position in the text for a document that is not an object.
 *
 * @example
 * const cluster = testCluster({ dialect: 'kubernetes', from: parseCapture(text) });
 */
export function parseCapture(text: string): ClusterState {
  return readCapture(text).state;
}

/** The same, with the places of the objects, in their order. */
export function readCapture(text: string): {
  readonly state: ClusterState;
  readonly places: readonly ManifestPlace[];
} {
  if (typeof text !== 'string') throw new TypeError(`orchplane: parseCapture takes a text, got ${typeof text}`);
  const found: Found[] = [];
  const versions: bigint[] = [];
  const inComment = VERSION_LINE.exec(COMMENTS.exec(text)?.[0] ?? '')?.[1];
  if (inComment !== undefined) versions.push(BigInt(inComment));
  for (const document of jsonDocuments(text) ?? readDocuments({ text })) {
    if (document instanceof ManifestError) throw document;
    versions.push(...collect(document, found));
  }
  return { state: numbered(found, versions), places: found.map(({ place }) => place) };
}

/** The comments before the first document. */
const COMMENTS = /^(?:\uFEFF?[ \t]*(?:#.*)?\r?\n)*/;

const VERSION_LINE = new RegExp(`^${VERSION_COMMENT}(\\d+)\\s*$`, 'm');

type ReadDocument = Pick<ManifestDocument, 'place' | 'value'>;

/**
 * The documents of a text with one or more JSON values; undefined if it is not JSON. The YAML parser cannot read all JSON:
 * it rejects U+007F and treats U+0085 as a line break.
 */
function jsonDocuments(text: string): readonly ReadDocument[] | undefined {
  const documents: ReadDocument[] = [];
  let line = 1;
  let from = 0;
  for (;;) {
    const start = endOfGap(text, from);
    if (start === text.length) return documents.length === 0 ? undefined : documents;
    line += countLines(text, from, start);
    const end = endOfJson(text, start);
    const parse = () => parseJson(text.slice(start, end)).value;
    // The YAML parser tries next and reports the error.
    const value = end === undefined ? NO_JSON : recoverFrom(JsonSyntaxError, parse, () => NO_JSON);
    if (end === undefined || value === NO_JSON) return undefined;
    documents.push({ place: { document: documents.length + 1, line }, value });
    line += countLines(text, start, end);
    from = end;
  }
}

/** Separators between documents: white space, byte order marks, comments, `---` and `...`. */
const GAP = /[ \t\r\n\uFEFF]+|^(?:#[^\r\n]*|(?:---|\.\.\.)(?=[ \t\r\n]|$))/my;

/** The index after the separators that start at `from`. */
function endOfGap(text: string, from: number): number {
  let end = from;
  for (;;) {
    GAP.lastIndex = end;
    const length = GAP.exec(text)?.[0].length ?? 0;
    if (length === 0) return end;
    end += length;
  }
}

const NO_JSON = Symbol('no JSON');

function countLines(text: string, from: number, to: number): number {
  return text.slice(from, to).match(/\r\n|\r|\n/g)?.length ?? 0;
}

interface Found {
  readonly place: ManifestPlace;
  readonly object: Readonly<Record<string, unknown>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Undefined if the object has no version. */
  readonly version: bigint | undefined;
}

/** Adds the objects of a document to `found`; returns the versions of lists. */
function collect({ place, value }: ReadDocument, found: Found[]): bigint[] {
  if (isState(value)) {
    found.push(...value.objects.map((object, index) => objectAt({ ...place, item: index + 1 }, object)));
    return [versionOf(value.resourceVersion, place) ?? 0n];
  }
  const versions: bigint[] = [];
  const open: { readonly value: unknown; readonly place: ManifestPlace }[] = [{ value, place }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value: each, place: where } = next;
    if (!isList(each)) {
      found.push(objectAt(where, each));
      continue;
    }
    const { metadata } = each as { readonly metadata?: unknown };
    versions.push(versionOf(isRecord(metadata) ? metadata['resourceVersion'] : undefined, where) ?? 0n);
    const items = each.items.map((item, index) => ({
      value: typedItem(each, item),
      place: { ...where, item: where.item ?? index + 1 },
    }));
    for (const item of items.reverse()) open.push(item);
  }
  return versions;
}

/** A result of `captureCluster` that was written with `JSON.stringify`. */
function isState(value: unknown): value is ClusterState {
  return (
    isRecord(value) && value['kind'] === undefined && Array.isArray(value['objects']) && 'resourceVersion' in value
  );
}

function objectAt(place: ManifestPlace, value: unknown): Found {
  if (!isRecord(value)) throw new ManifestError(place, 'is not an object');
  const { apiVersion, kind, metadata } = value;
  if (typeof apiVersion !== 'string' || apiVersion === '') throw new ManifestError(place, 'apiVersion is missing');
  if (typeof kind !== 'string' || kind === '') throw new ManifestError(place, 'kind is missing');
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string' || metadata['name'] === '') {
    throw new ManifestError(place, `${kind} has no metadata.name`);
  }
  return { place, object: value, metadata, version: versionOf(metadata['resourceVersion'], place) };
}

function versionOf(text: unknown, place: ManifestPlace): bigint | undefined {
  if (text === undefined || text === null || text === '') return undefined;
  if (typeof text === 'string' && /^\d+$/.test(text)) return BigInt(text);
  throw new ManifestError(place, `resourceVersion is the decimal text of a number, got ${JSON.stringify(text)}`);
}

function numbered(found: readonly Found[], versions: readonly bigint[]): ClusterState {
  const own = found.flatMap(({ version }) => (version === undefined ? [] : [version]));
  const known = [...versions, ...own];
  const isTooLarge = known.some((version) => version > BigInt(Number.MAX_SAFE_INTEGER));
  const order = isTooLarge ? [...new Set(own)].sort((left, right) => (left < right ? -1 : 1)) : [];
  const anew = new Map(order.map((version, index) => [version, BigInt(index + 1)]));
  let newest = BigInt(order.length);
  if (!isTooLarge) for (const version of known) if (version > newest) newest = version;
  const objects = found.map((each) => {
    const version = each.version === undefined ? ++newest : (anew.get(each.version) ?? each.version);
    return completed(each, String(version));
  });
  return Object.freeze({ resourceVersion: String(newest), objects: Object.freeze(objects) });
}

/** For objects without a creationTimestamp. */
const UNKNOWN_TIME = '1970-01-01T00:00:00Z';

function completed({ object, metadata }: Found, resourceVersion: string): ApiObject {
  const { selfLink: _selfLink, ...rest } = metadata;
  const { uid, creationTimestamp } = rest;
  const whole: ApiObject = {
    ...object,
    kind: String(object['kind']),
    apiVersion: String(object['apiVersion']),
    metadata: {
      ...rest,
      name: String(metadata['name']),
      uid: typeof uid === 'string' && uid !== '' ? uid : uidFromText(identityOf(object, metadata)),
      resourceVersion,
      creationTimestamp: typeof creationTimestamp === 'string' ? creationTimestamp : UNKNOWN_TIME,
    },
  };
  return deepFreeze(cloneJson(whole));
}

function identityOf({ apiVersion, kind }: Readonly<Record<string, unknown>>, metadata: Found['metadata']): string {
  const group = parseApiVersion(String(apiVersion))?.group ?? '';
  return ['captured', group, kind, metadata['namespace'] ?? '', metadata['name']].join('/');
}
