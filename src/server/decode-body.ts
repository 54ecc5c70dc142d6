/**
 * The body of a write → a draft of the addressed kind, or the 400 that says why not. spec: fieldValidation
 */

import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { isWrittenByServer } from '../merge/apply/managers.js';
import { errors, type StatusError } from '../meta/errors.js';
import type { GroupVersion, GroupVersionKind } from '../meta/gvk.js';
import { apiVersionOf, internalPackage, parseApiVersion } from '../meta/gvk.js';
import type { DraftObject } from '../meta/object.js';
import { BodyError, type RequestBody, type TypeMeta } from '../protocol/body.js';
import type { Registry } from '../registry/registry.js';
import { decode, type IsReusable } from '../schema/decode.js';
import { DecodeError, jsonType } from '../schema/decode-scalar.js';
import type { ObjectNode } from '../schema/structural.js';
import { quote } from '../text/go/go-text.js';
import type { MutableRecord, ParsedBody } from '../util/json.js';
import { isRecord, printJson } from '../util/json.js';
import type { FieldValidation } from './options.js';
import { isReadTogether, registeredType, schemeOf } from './registered-types.js';

export interface DecodedBody {
  readonly draft: DraftObject;
  readonly warnings: readonly string[];
}

/** Says why a document is not an object of the kind; the two callers word it differently. */
export interface Refusals {
  /** The document has no readable type. */
  unrecognized(why: string): StatusError;
  /** It has one, but cannot be what is expected. */
  unfit(why: string, gvk: GroupVersionKind): StatusError;
  /** Its fields are as they should be, but what they say cannot be; absent: as `unfit`. */
  unreadable?(why: string): StatusError;
}

export interface DecodeTarget {
  readonly served: ServedKind;
  readonly registry: Registry;
  readonly fieldValidation: FieldValidation;
  /** Further versions in which the body may be written; they have the same fields. */
  readonly alsoAccepts?: readonly string[];
  /** Which parts of the body are taken as they are, because this server gave them out. */
  readonly isKnown?: IsReusable | undefined;
  /** Of the live object, where nothing but its status is written: most writers send it back as it is. */
  readonly metadata?: object | undefined;
  /** Keys that the document repeats, each in a line of its own; absent when there are none. */
  readonly repeatedKeys?: readonly string[];
  /** The document as its client wrote it, for messages. */
  readonly written?: () => string | undefined;
}

/** Decodes the body of a create or an update. Throws 400. */
export function decodeRequestBody(body: RequestBody | undefined, target: DecodeTarget): DecodedBody {
  const expected = target.served.gvk.kind;
  const summary = () => body?.summary() ?? '<empty>';
  const refusals: Refusals = {
    unrecognized: (why) =>
      errors.badRequest(`the object provided is unrecognized (must be of type ${expected}): ${why} (${summary()})`),
    unfit: (why, gvk) =>
      errors.badRequest(`${gvk.kind} in version "${gvk.version}" cannot be handled as a ${expected}: ${why}`),
  };
  const document = readBody(body, target, refusals);
  const repeatedKeys = body?.repeatedKeys?.() ?? [];
  const written = () => body?.text?.();
  const whole = { ...target, ...(target.served.kind.custom === undefined ? {} : { written }) };
  return decodeDocument(document, repeatedKeys.length === 0 ? whole : { ...whole, repeatedKeys }, refusals);
}

/** What the reference server says when it cannot even tell what a document is. */
function parseFailure(why: string): string {
  return `couldn't get version/kind; json parse error: ${why}`;
}

/** What it says of a body that cannot be read. */
export function unreadable(error: BodyError): string {
  return error.isWhole ? error.message : parseFailure(error.message);
}

function readBody(body: RequestBody | undefined, target: DecodeTarget, refusals: Refusals): ParsedBody {
  if (body === undefined) throw refusals.unrecognized(parseFailure('unexpected end of JSON input'));
  const claimed = claimedBeforehand(body, refusals.unrecognized);
  try {
    return body.read(target.served.gvk);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (claimed === undefined) throw refusals.unrecognized(unreadable(error));
    // A type that nobody knows is complained of before its fields are.
    const gvk = acceptedType(typeOf(claimed, target.served.gvk, refusals), target);
    requireKnown(gvk, target, refusals);
    throw refusals.unfit(error.message, gvk);
  }
}

/** What a body claims to be, where its encoding finds that out by a look of its own; `refuse` words the failure. */
export function claimedBeforehand(body: RequestBody, refuse: (why: string) => StatusError): TypeMeta | undefined {
  try {
    return body.typeMeta?.();
  } catch (error) {
    if (error instanceof BodyError) throw refuse(`unable to determine group/version/kind: ${error.message}`);
    throw error;
  }
}

/** Decodes any document as an object of the kind: type, fields, defaults, findings. */
export function decodeDocument(document: ParsedBody, target: DecodeTarget, refusals: Refusals): DecodedBody {
  const { served, fieldValidation } = target;
  if (served.kind.custom !== undefined) return decodeCustom(document, target, refusals);
  const isPlain = saysPlainly(document.value, served);
  const gvk = isPlain ? served.gvk : acceptedType(typeOf(document.value, served.gvk, refusals), target);
  const actual = isPlain ? served : requireKnown(gvk, target, refusals);
  // JSON's null stands for an object with nothing in it.
  const whole = document.value === null ? { value: {} } : document;
  const { value, findings: found } = decodeAs(actual, whole, (why) => refusals.unfit(why, gvk), target);
  const findings = target.repeatedKeys === undefined ? found : [repetitions(target.repeatedKeys), ...found];
  if (actual !== served && actual.storage === served.storage) throw otherVersion(actual.apiVersion, served);
  if (actual !== served) throw refusals.unfit(unconvertible(`${gvk.version}.${gvk.kind}`, served), gvk);
  const draft = asDraft(value, document.value, served);
  const why = served.kind.strategy.decode.problem?.(draft);
  if (why !== undefined) throw refusals.unreadable?.(why) ?? refusals.unfit(why, gvk);
  if (findings.length > 0 && fieldValidation === 'Strict') {
    throw refusals.unfit(`strict decoding error: ${findings.join(', ')}`, gvk);
  }
  refuseUnknownFields(findings, served, (finding) => refusals.unfit(finding, gvk));
  return { draft, warnings: fieldValidation === 'Warn' ? warningsOf(found, target) : [] };
}

/** Whether a document says of itself, letter by letter, that it is what the address is about: nearly all do. */
function saysPlainly(value: unknown, { gvk, apiVersion }: ServedKind): boolean {
  if (!isRecord(value) || value['kind'] !== gvk.kind || value['apiVersion'] !== apiVersion) return false;
  return Object.hasOwn(value, 'kind') && Object.hasOwn(value, 'apiVersion');
}

/**
 * A custom kind is read by its own address only: whatever the document says it is, it has to say it, and its version must
 * be the one of the address. Another kind is found wrong later, with everything else.
 */
function decodeCustom(document: ParsedBody, target: DecodeTarget, refusals: Refusals): DecodedBody {
  const { served, fieldValidation } = target;
  // JSON's null is a document, and says nothing about itself.
  const { kind, apiVersion } = claimedType(document.value ?? {}, refusals.unrecognized);
  if (kind === '') {
    const shown = target.written?.() ?? printJson(document.value);
    const why = `Object 'Kind' is missing in '${shown}'`;
    // Who is not asked for unknown fields reads in a way that knows what the address is about.
    throw fieldValidation === 'Ignore' ? refusals.unfit(why, served.gvk) : refusals.unrecognized(why);
  }
  if (apiVersion !== served.apiVersion) requireVersion(apiVersion, refusals.unrecognized);
  const gvk = { ...served.gvk, kind };
  const decoded = decodeAs(served, document, (why) => refusals.unfit(fromMetadata(why), gvk));
  if (apiVersion !== served.apiVersion) throw otherVersion(apiVersion, served);
  // A list is read as one, and has no fields of a single object that could be unknown.
  const isList = kind !== served.gvk.kind && isRecord(document.value) && Array.isArray(document.value['items']);
  const found = isList ? [] : decoded.findings;
  const findings = target.repeatedKeys === undefined ? found : [repetitions(target.repeatedKeys), ...found];
  if (findings.length > 0 && fieldValidation === 'Strict') {
    throw refusals.unfit(`strict decoding error: ${findings.join(', ')}`, gvk);
  }
  const draft = asDraft(decoded.value, document.value, served);
  draft.kind = kind;
  return { draft, warnings: fieldValidation === 'Warn' ? warningsOf(found, target) : [] };
}

/** Nothing but the metadata of a custom object is read into fields, and they are read on their own. */
export function fromMetadata(why: string): string {
  return why.replace(/(Go struct field \w+)\.metadata\./, '$1.');
}

function requireKnown(gvk: GroupVersionKind, { served, registry }: DecodeTarget, refusals: Refusals): ServedKind {
  if (sameType(gvk, served.gvk)) return served;
  const known = isReadTogether(gvk, served) ? registry.byKind(gvk) : undefined;
  if (known !== undefined && known.kind.custom === undefined) return known;
  const registered = registeredType(gvk, { registry, served });
  if (registered === undefined) {
    throw refusals.unfit(unregistered(gvk.kind, `version "${apiVersionOf(gvk)}"`, served), gvk);
  }
  const { goType, groupKind } = registered;
  const isSameKind = groupKind?.group === served.groupKind.group && groupKind.kind === served.groupKind.kind;
  throw isSameKind ? otherVersion(apiVersionOf(gvk), served) : refusals.unfit(unconvertible(goType, served), gvk);
}

function otherVersion(apiVersion: string, served: ServedKind): StatusError {
  return errors.badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
  );
}

/** Some fields are not merely unknown: dropping them would drop what their writer relies on. */
export function refuseUnknownFields(
  findings: readonly string[],
  { kind, dialect }: ServedKind,
  refuse: (why: string) => StatusError,
): void {
  const { rejectUnknownField } = kind.strategy.decode;
  if (rejectUnknownField === undefined) return;
  for (const finding of findings) {
    const why = rejectUnknownField(finding, dialect);
    if (why !== undefined) throw refuse(`${finding}: ${why}`);
  }
}

/** All in one finding, as the reader of YAML gives it. */
function repetitions(repeatedKeys: readonly string[]): string {
  return ['yaml: unmarshal errors:', ...repeatedKeys].join('\n  ');
}

/** A warning is one line, so each key that is repeated gets its own. */
function warningsOf(found: readonly string[], { repeatedKeys }: DecodeTarget): readonly string[] {
  return repeatedKeys === undefined ? found : [...repeatedKeys, ...found];
}

/** `where` as messages say it: `version "v1"`. */
export function unregistered(kind: string, where: string, { gvk, dialect }: ServedKind): string {
  return `no kind ${quote(kind)} is registered for ${where} in scheme ${quote(schemeOf(gvk.group, dialect))}`;
}

/** `from` as the reference server calls the type: `v1.Secret`. */
export function unconvertible(from: string, served: ServedKind): string {
  const to = `${internalPackage(served.groupKind.group)}.${served.gvk.kind}`;
  return `converting (${from}) to (${to}): unknown conversion`;
}

/** The decoded fields of a document as a draft of the kind, which they become part of. */
export function asDraft(fields: MutableRecord, document: unknown, served: ServedKind): DraftObject {
  const draft = fields as unknown as DraftObject;
  draft.metadata ??= {};
  const managers = managersIn(document);
  // The decoder does not tell an empty list from none, but here it says something: nobody is to manage the object.
  if (Array.isArray(managers) && managers.length === 0) draft.metadata.managedFields = [];
  draft.kind = served.gvk.kind;
  draft.apiVersion = served.apiVersion;
  return draft;
}

function managersIn(value: unknown): unknown {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  return isRecord(metadata) ? metadata['managedFields'] : undefined;
}

function acceptedType(gvk: GroupVersionKind, { served, alsoAccepts = [] }: DecodeTarget): GroupVersionKind {
  return gvk.kind === served.gvk.kind && alsoAccepts.includes(apiVersionOf(gvk)) ? served.gvk : gvk;
}

/** Decodes; `refuse` words the failure. */
export function decodeAs(
  { kind, schema }: { readonly kind: Pick<Kind, 'custom'>; readonly schema: ObjectNode },
  document: ParsedBody,
  refuse: (why: string) => StatusError,
  { isKnown, metadata }: Pick<DecodeTarget, 'isKnown' | 'metadata'> = {},
): ReturnType<typeof decode> {
  try {
    if (kind.custom !== undefined) return kind.custom.decode(document);
    // Managers that come back as they were given out are neither judged nor copied.
    const isOurs: IsReusable =
      isKnown === undefined ? isWrittenByServer : (value, node) => isKnown(value, node) || isWrittenByServer(value);
    return decode(schema, document, isOurs, metadata);
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}

const TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** The type a document claims, in its own words; empty where it has none. */
export interface ClaimedType {
  readonly kind: string;
  readonly apiVersion: string;
}

type Unrecognized = Refusals['unrecognized'];

export function claimedType(value: unknown, refuse: Unrecognized): ClaimedType {
  if (!isRecord(value)) {
    const why = `json: cannot unmarshal ${jsonType(value)} into Go value of type ${TYPE_META}`;
    throw refuse(parseFailure(why));
  }
  return { kind: textField(value, 'kind', refuse), apiVersion: textField(value, 'apiVersion', refuse) };
}

/** The type a document claims; what it leaves out is taken from the address. */
export function typeOf(value: unknown, fallback: GroupVersionKind, refusals: Refusals): GroupVersionKind {
  if (value === null) return fallback;
  const { kind: claimedKind, apiVersion } = claimedType(value, refusals.unrecognized);
  const kind = claimedKind || fallback.kind;
  // Nearly always the document says what the address says.
  if (kind === fallback.kind && (apiVersion === '' || apiVersion === apiVersionOf(fallback))) return fallback;
  if (apiVersion === '') return { ...fallback, kind };
  return { ...requireVersion(apiVersion, refusals.unrecognized), kind };
}

function requireVersion(apiVersion: string, refuse: Unrecognized): GroupVersion {
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) throw refuse(`unexpected GroupVersion string: ${apiVersion}`);
  return gv;
}

/** The reference server looks for the type without regard to case; the last one written counts. */
function textField(value: Record<string, unknown>, name: string, refuse: Unrecognized): string {
  let found: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
  if (found === undefined) {
    for (const key of Object.keys(value)) if (key.toLowerCase() === name.toLowerCase()) found = value[key];
  }
  if (found === undefined || found === null) return '';
  if (typeof found === 'string') return found;
  const why = `json: cannot unmarshal ${jsonType(found)} into Go struct field .${name} of type string`;
  throw refuse(parseFailure(why));
}

export function sameType(left: GroupVersionKind, right: GroupVersionKind): boolean {
  return left === right || (left.kind === right.kind && left.version === right.version && left.group === right.group);
}
