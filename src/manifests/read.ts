/**
 * Reads manifests: splits a text into documents and lists into items. Documents are parsed like the body of an apply
 * request, so a file has the same meaning as when a client sends it.
 */
import { bodySummary } from '../codec/json.js';
import { yamlBody } from '../codec/yaml.js';
import { BodyError, type RequestBody, valueBody } from '../protocol/body.js';
import { JsonSyntaxError, parseJson } from '../text/json/parse-json.js';
import { recoverFrom } from '../util/catch-error.js';
import { escapeForYaml, isRecord } from '../util/json.js';

/** A file and its content: YAML with any number of documents, or JSON. */
export interface ManifestText {
  /** The name in messages. */
  readonly name: string;
  readonly text: string;
}

/** Like {@link ManifestText}, but the name is optional. */
export type ManifestSource = Pick<ManifestText, 'text'> & Partial<Pick<ManifestText, 'name'>>;

/** The position of an object. */
export interface ManifestPlace {
  /** Absent: there is only one text. */
  readonly file?: string;
  /** Both from one; the line is the document's first, or that of an error in it. */
  readonly document: number;
  readonly line: number;
  /** The position in the outermost list; absent: the document is the object. */
  readonly item?: number;
}

/** An object of a manifest, ready to be sent. */
export interface Manifest {
  readonly place: ManifestPlace;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly generateName: string | undefined;
  readonly body: RequestBody;
  /** Absent: the object does not come from a text. */
  readonly source?: DocumentSource;
}

/** Where a document or an item comes from, for `lineOf` of `field-line.ts`. */
export interface DocumentSource {
  readonly text: string;
  /** The number of lines before the text, so that lines are those of the file. */
  readonly linesBefore: number;
  /** The path of an item in the document: `items[0].`; empty for a document. */
  readonly path: string;
}

/** A problem with one document or item. The message begins with its place; the cause is the server's error, if any. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
  readonly place: ManifestPlace;

  constructor(place: ManifestPlace, problem: string, options?: ErrorOptions) {
    super(`${placeText(place)}: ${problem}`, options);
    this.place = place;
  }
}

/** `web.yaml:12 (document 3, item 2)`; without a file `line 12 (document 3, item 2)`. */
export function placeText({ file, line, document, item }: ManifestPlace): string {
  const where = file === undefined ? `line ${line}` : `${file}:${line}`;
  return `${where} (document ${document}${item === undefined ? '' : `, item ${item}`})`;
}

/** The objects in order, with an error in place of each one that cannot be read. Empty documents are skipped. */
export function readManifests(source: ManifestSource): (Manifest | ManifestError)[] {
  return readDocuments(source).flatMap((read) => (read instanceof ManifestError ? [read] : manifestsOf(read)));
}

/** A parsed document. */
export interface ManifestDocument {
  readonly place: ManifestPlace;
  readonly value: unknown;
  readonly body: RequestBody;
  readonly source: DocumentSource;
}

/** The documents of a text in order, with lists unsplit and an error in place of each one that cannot be read. */
export function readDocuments(source: ManifestSource): (ManifestDocument | ManifestError)[] {
  const documents = splitDocuments(source).flatMap(splitJson);
  return documents.flatMap((document, index) => readDocument({ ...document.place, document: index + 1 }, document));
}

interface DocumentText {
  readonly place: ManifestPlace;
  readonly text: string;
  /** The number of lines before the text, so that parse errors have the file's line numbers. */
  readonly linesBefore: number;
}

/** Concatenated files may each begin with one. */
const BYTE_ORDER_MARK = /^\uFEFF/;

/** A line that begins with a marker always starts a document: YAML reserves it. */
const DOCUMENT_MARKER = /^\uFEFF?(---|\.\.\.)(\s|$)/;

function splitDocuments({ name, text }: ManifestSource): DocumentText[] {
  const lines = text.split(/\r\n|\r|\n/);
  const starts = [0, ...lines.flatMap((line, index) => (index > 0 && DOCUMENT_MARKER.test(line) ? [index] : []))];
  const documents: DocumentText[] = [];
  starts.forEach((start, index) => {
    const own = lines.slice(start, starts[index + 1]);
    own[0] = own[0]?.replace(BYTE_ORDER_MARK, '') ?? '';
    const content = own.findIndex((line) => !/^\uFEFF?\s*(#|$|---\s*(#|$)|\.\.\.\s*(#|$))/.test(line));
    if (content === -1) return;
    for (let at = 0; at <= content; at++) own[at] = own[at]?.replace(BYTE_ORDER_MARK, '') ?? '';
    // A document end marker is not content.
    if (/^\.\.\.(\s|$)/.test(own[0] ?? '')) own[0] = '';
    const file = name === undefined ? {} : { file: name };
    const place = { ...file, document: documents.length + 1, line: start + content + 1 };
    documents.push({ place, text: own.join('\n'), linesBefore: start });
  });
  return documents;
}

/** JSON documents need no marker: what follows a complete object is another document. */
function splitJson(document: DocumentText): DocumentText[] {
  const { place, text } = document;
  const parts: DocumentText[] = [];
  let { linesBefore } = document;
  let from = 0;
  for (;;) {
    const start = nextContent(text, from);
    if (start === text.length && parts.length > 0) return parts;
    const line = parts.length === 0 ? place.line : linesBefore + countBreaks(text, from, start) + 1;
    const end = text[start] === '{' ? (endOfJson(text, start) ?? text.length) : text.length;
    // Keep the indentation of YAML.
    const indentation = from === 0 || text[start] === '{' ? 0 : from - 1 - text.lastIndexOf('\n', from - 1);
    const part = ' '.repeat(indentation) + text.slice(from, end);
    parts.push({ place: { ...place, line }, text: part, linesBefore });
    linesBefore += countBreaks(text, from, end);
    from = end;
  }
}

/** The index of the first character that is not white space. */
function nextContent(text: string, from: number): number {
  const content = /\S/g;
  content.lastIndex = from;
  return content.exec(text)?.index ?? text.length;
}

function countBreaks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at++) if (text[at] === '\n') count++;
  return count;
}

/** The index after the bracket that closes the one at `start`; undefined when there is none. */
export function endOfJson(text: string, start: number): number | undefined {
  if (text[start] !== '{' && text[start] !== '[') return undefined;
  let depth = 0;
  let isQuoted = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (isQuoted) {
      if (char === '\\') at++;
      else if (char === '"') isQuoted = false;
    } else if (char === '"') isQuoted = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return undefined;
}

/** What the beginning of a text in UTF-16 looks like if it is decoded as UTF-8, with a byte order mark or without. */
const UTF_16 = /^\uFFFD{2}|^.?\0/s;

/**
 * JSON is read as such, because YAML readers change or reject some of its characters and escapes; only duplicate keys are
 * reported as in YAML, with their lines.
 * upstream: apimachinery/pkg/util/yaml/decoder.go YAMLOrJSONDecoder.Decode
 */
function bodyOf(text: string, linesBefore: number): RequestBody {
  const parse = () => (/^\s*\{/.test(text) ? parseJson(text) : undefined);
  const parsed = recoverFrom(JsonSyntaxError, parse, () => undefined);
  if (parsed === undefined) return yamlBody(text, linesBefore);
  if (parsed.duplicates !== undefined) return yamlBody(escapeForYaml(text), linesBefore);
  return { read: () => parsed, summary: () => bodySummary(text) };
}

function readDocument(place: ManifestPlace, { text, linesBefore }: DocumentText): (ManifestDocument | ManifestError)[] {
  const body = bodyOf(text, linesBefore);
  let value: unknown;
  try {
    ({ value } = body.read());
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (UTF_16.test(text)) return [new ManifestError(place, 'is UTF-16; manifests are UTF-8')];
    const line = Number(/\byaml: (?:unmarshal errors:\s+)?line (\d+): /.exec(error.message)?.[1] ?? place.line);
    return [new ManifestError({ ...place, line }, error.message)];
  }
  return value === null ? [] : [{ place, value, body, source: { text, linesBefore, path: '' } }];
}

/** The objects of a document in order, with an error in place of each one that is none. */
export function manifestsOf(document: ManifestDocument): (Manifest | ManifestError)[] {
  const { place, value } = document;
  if (!isList(value)) return [readObject(document)];
  const list = value;
  return list.items.flatMap((each, index) =>
    itemsOf(list, each, `items[${index}]`).map(({ item, path }) =>
      readObject({
        place: { ...place, item: index + 1 },
        value: item,
        body: valueBody(item),
        source: { ...document.source, path: `${path}.` },
      }),
    ),
  );
}

interface ListItem {
  readonly item: unknown;
  /** Its path in the document: `items[0].items[2]`. */
  readonly path: string;
}

/** An item of a list; nested lists are flattened. */
function itemsOf(list: ListDocument, given: unknown, path: string): ListItem[] {
  const found: ListItem[] = [];
  const open: ListItem[] = [{ item: itemOf(list, given), path }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { item } = next;
    if (!isList(item)) found.push(next);
    else
      for (let index = item.items.length - 1; index >= 0; index--)
        open.push({ item: itemOf(item, item.items[index]), path: `${next.path}.items[${index}]` });
  }
  return found;
}

/** A list with its items. */
export interface ListDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly items: readonly unknown[];
}

/** `List`, `ConfigMapList`, …: any kind that ends with `List` and has items. */
export function isList(value: unknown): value is ListDocument {
  if (!isRecord(value) || !Array.isArray(value['items'])) return false;
  return typeof value['kind'] === 'string' && value['kind'].endsWith('List') && isText(value['apiVersion']);
}

/** Fields that the server of the list has set; they are invalid on another server. */
const SERVER_FIELDS: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
]);

/** An item with kind and apiVersion, which servers omit in items of typed lists (`ConfigMapList`). */
export function typedItem({ apiVersion, kind }: ListDocument, item: unknown): unknown {
  if (!isRecord(item) || kind === 'List') return item;
  return { apiVersion, kind: kind.slice(0, -'List'.length), ...item };
}

/** A typed item without the fields that its server has set. */
function itemOf(list: ListDocument, given: unknown): unknown {
  const item = typedItem(list, given);
  if (!isRecord(item)) return item;
  const { metadata } = item;
  const claimed = isRecord(metadata)
    ? { metadata: Object.fromEntries(Object.entries(metadata).filter(([name]) => !SERVER_FIELDS.has(name))) }
    : {};
  return { ...item, ...claimed };
}

function readObject({ place, value, body, source }: ManifestDocument): Manifest | ManifestError {
  if (!isRecord(value)) return new ManifestError(place, 'is not an object');
  const { apiVersion, kind, metadata } = value;
  if (isKustomization(place, value)) {
    return new ManifestError(place, 'is for kustomize, which does not run here; load what "kubectl kustomize" prints');
  }
  const { namespace, name, generateName } = isRecord(metadata) ? metadata : {};
  for (const [field, found] of Object.entries({
    apiVersion,
    kind,
    'metadata.name': name,
    'metadata.namespace': namespace,
  })) {
    const problem = unquotedProblem(found);
    if (problem !== undefined) return new ManifestError(place, `${field} is ${problem}`);
  }
  if (!isText(apiVersion)) return new ManifestError(place, 'apiVersion is missing');
  if (!isText(kind)) return new ManifestError(place, 'kind is missing');
  if (!isText(name) && !isText(generateName)) {
    return new ManifestError(place, `${kind} has neither metadata.name nor metadata.generateName`);
  }
  return {
    place,
    apiVersion,
    kind,
    namespace: isText(namespace) ? namespace : undefined,
    name: isText(name) ? name : undefined,
    generateName: isText(generateName) ? generateName : undefined,
    body,
    source,
  };
}

/** A kustomization file. It may lack kind and apiVersion, and never has a name. */
function isKustomization({ file }: ManifestPlace, { apiVersion, kind }: Readonly<Record<string, unknown>>): boolean {
  if (kind === undefined && apiVersion === undefined) return /(^|[\\/])kustomization(\.ya?ml)?$/i.test(file ?? '');
  return kind === 'Kustomization' && String(apiVersion).startsWith('kustomize.config.');
}

/**
 * Detects unquoted scalars that were meant as strings: in YAML `yes`, `on` and `y` are booleans, `1.10` is a number.
 */
function unquotedProblem(value: unknown): string | undefined {
  if (typeof value === 'boolean') return `a boolean (${value}); put it in quotes if it is a text: "y", "yes", "on"`;
  if (typeof value === 'number' || typeof value === 'bigint') return `a number (${value}); put it in quotes`;
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
