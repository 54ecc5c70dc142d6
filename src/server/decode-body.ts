/**
 * Decodes the body of a write into a draft of the requested kind, or throws a 400. spec: Parameters
 */

import type { Kind } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { isWrittenByServer } from '../merge/apply/managers.js';
import { errors, StatusError } from '../meta/errors.js';
import {
  apiVersionOf,
  type GroupVersion,
  type GroupVersionKind,
  internalPackage,
  parseApiVersion,
} from '../meta/gvk.js';
import type { DraftObject } from '../meta/object.js';
import { BodyError, type RequestBody, type TypeMeta } from '../protocol/body.js';
import type { Registry } from '../registry/registry.js';
import { decode, type IsReusable } from '../schema/decode.js';
import { DecodeError, jsonType } from '../schema/decode-scalar.js';
import { addGivenZeros } from '../schema/given-fields.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { quote } from '../text/go/go-text.js';
import { translateError } from '../util/catch-error.js';
import { isRecord, type MutableRecord, own, type ParsedBody, printJson } from '../util/json.js';
import type { FieldValidation } from './options.js';
import { areInSameScheme, registeredType, schemeOf } from './registered-types.js';

export interface DecodedBody {
  readonly draft: DraftObject;
  readonly warnings: readonly string[];
  /** Findings about fields that were pruned from a custom resource. */
  readonly pruned?: readonly string[];
}

/** Builds the errors of a document that is not an object of the kind; callers have different messages. */
export interface DecodeErrors {
  /** The document has no valid type. */
  unrecognized(why: string): StatusError;
  /** It has a type, but cannot be decoded as the expected kind, or `as` another one. */
  mismatch(why: string, gvk: GroupVersionKind, as?: string): StatusError;
  /** Its fields have the right types but an impossible value; absent: as `mismatch`. */
  invalidValue?(why: string): StatusError;
}

export interface DecodeTarget {
  readonly served: ServedKind;
  readonly registry: Registry;
  readonly fieldValidation: FieldValidation;
  /** Further apiVersions that the body may have; their fields are the same. */
  readonly alsoAccepts?: readonly string[] | undefined;
  /** Which parts of the body are reused without decoding, because this server returned them. */
  readonly isReusable?: IsReusable | undefined;
  /** The metadata of the live object, for status writes: most clients send it back unchanged. */
  readonly metadata?: object | undefined;
  /** A result of apply is not decoded from text: its nulls reach validation. */
  readonly keepsNulls?: boolean;
  /** Duplicate keys of the document, one line each; absent when there are none. */
  readonly repeatedKeys?: readonly string[];
  /** The document as the client wrote it, for messages. */
  readonly written?: () => string | undefined;
}

/** Decodes the body of a create or an update. Throws 400. */
export function decodeRequestBody(body: RequestBody | undefined, target: DecodeTarget): DecodedBody {
  const expected = target.served.gvk.kind;
  const summary = () => body?.summary() ?? '<empty>';
  const decodeErrors: DecodeErrors = {
    unrecognized: (why) =>
      errors.badRequest(`the object provided is unrecognized (must be of type ${expected}): ${why} (${summary()})`),
    mismatch: (why, gvk, as = expected) =>
      errors.badRequest(`${gvk.kind} in version ${quote(gvk.version)} cannot be handled as a ${as}: ${why}`),
  };
  const document = readBody(body, target, decodeErrors);
  if (body?.omitsZeroValues?.() === true) addGivenZeros(target.served.schema, document.value);
  const repeatedKeys = body?.repeatedKeys?.() ?? [];
  const written = () => body?.text?.();
  const whole = { ...target, ...(target.served.kind.customResourceHandler === undefined ? {} : { written }) };
  return decodeDocument(document, repeatedKeys.length === 0 ? whole : { ...whole, repeatedKeys }, decodeErrors);
}

/**
 * The reference server's message for a document whose type cannot be read.
 * upstream: apimachinery/pkg/runtime/serializer/json/meta.go SimpleMetaFactory.Interpret
 */
function parseFailure(why: string): string {
  return `couldn't get version/kind; json parse error: ${why}`;
}

/** The reference server's message for a malformed body. */
export function malformedBodyMessage(error: BodyError): string {
  return error.isWhole ? error.message : parseFailure(error.message);
}

function readBody(body: RequestBody | undefined, target: DecodeTarget, decodeErrors: DecodeErrors): ParsedBody {
  if (body === undefined) throw decodeErrors.unrecognized(parseFailure('unexpected end of JSON input'));
  const claimed = readTypeMeta(body, decodeErrors.unrecognized);
  try {
    return body.read(target.served.gvk);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    if (claimed === undefined) throw decodeErrors.unrecognized(malformedBodyMessage(error));
    // An unknown type is reported before malformed fields.
    const gvk = acceptedType(typeOf(claimed, target.served.gvk, decodeErrors), target);
    requireRegisteredType(gvk, target, decodeErrors);
    throw decodeErrors.mismatch(error.message, gvk);
  }
}

/** The type of a body whose encoding reads it separately; `refuse` builds the error. */
export function readTypeMeta(body: RequestBody, refuse: (why: string) => StatusError): TypeMeta | undefined {
  const read = () => body.typeMeta?.();
  return translateError(BodyError, read, ({ message }) => refuse(`unable to determine group/version/kind: ${message}`));
}

/** Decodes a document as an object of the kind: type, fields, defaults, warnings. */
export function decodeDocument(document: ParsedBody, target: DecodeTarget, decodeErrors: DecodeErrors): DecodedBody {
  const { served, fieldValidation } = target;
  if (served.kind.customResourceHandler !== undefined) return decodeCustom(document, target, decodeErrors);
  const isExpectedType = hasExpectedType(document.value, served);
  const gvk = isExpectedType ? served.gvk : acceptedType(typeOf(document.value, served.gvk, decodeErrors), target);
  const actual = isExpectedType ? served : requireRegisteredType(gvk, target, decodeErrors);
  // null is decoded as an empty object.
  const whole = document.value === null ? { value: {} } : document;
  const { value, findings: found } = decodeAs(actual, whole, (why) => decodeErrors.mismatch(why, gvk), target);
  const findings = target.repeatedKeys === undefined ? found : [repetitions(target.repeatedKeys), ...found];
  if (actual.storageKey !== served.storageKey)
    throw decodeErrors.mismatch(unconvertible(`${gvk.version}.${gvk.kind}`, served), gvk);
  const draft = asDraft(value, document.value, actual);
  const why = actual.kind.strategy.decode.decodeError?.(draft);
  if (why !== undefined) throw decodeErrors.invalidValue?.(why) ?? decodeErrors.mismatch(why, gvk);
  if (findings.length > 0 && fieldValidation === 'Strict') {
    throw decodeErrors.mismatch(`strict decoding error: ${findings.join(', ')}`, gvk);
  }
  refuseUnknownFields(findings, actual, (finding) => decodeErrors.mismatch(finding, gvk));
  const warnings = fieldValidation === 'Warn' ? warningsOf(found, target) : [];
  if (actual !== served) throw otherVersion(actual.apiVersion, served, warnings);
  return { draft, warnings };
}

/** Whether apiVersion and kind are exactly those of the endpoint, as in nearly all documents. */
function hasExpectedType(value: unknown, { gvk, apiVersion }: ServedKind): boolean {
  if (!isRecord(value) || value['kind'] !== gvk.kind || value['apiVersion'] !== apiVersion) return false;
  return Object.hasOwn(value, 'kind') && Object.hasOwn(value, 'apiVersion');
}

/**
 * Decodes a custom resource. The document must have a kind, and the apiVersion of the endpoint. Another kind is reported by
 * validation.
 */
function decodeCustom(document: ParsedBody, target: DecodeTarget, decodeErrors: DecodeErrors): DecodedBody {
  const { served, fieldValidation } = target;
  // null is a document without a type.
  const { kind, apiVersion: text } = claimedType(document.value ?? {}, decodeErrors.unrecognized);
  if (kind === '') {
    const shown = target.written?.() ?? printJson(document.value);
    const why = `Object 'Kind' is missing in '${shown}'`;
    // With Ignore the reference server uses a decoder that knows the expected kind.
    throw fieldValidation === 'Ignore' ? decodeErrors.mismatch(why, served.gvk) : decodeErrors.unrecognized(why);
  }
  const gv = text === served.apiVersion ? served.gvk : requireVersion(text, decodeErrors.unrecognized);
  const apiVersion = apiVersionOf(gv);
  const gvk = { ...gv, kind };
  requireReadableVersion(document.value, (why) => decodeErrors.mismatch(why, gvk));
  const decoded = decodeAs(served, document, (why) => decodeErrors.mismatch(fromMetadata(why), gvk), target);
  // A document with items is decoded as a list, which has no unknown fields.
  const isList = kind !== served.gvk.kind && isRecord(document.value) && Array.isArray(document.value['items']);
  const found = isList ? [] : customFindings(decoded.findings, gvk, served);
  const findings = target.repeatedKeys === undefined ? found : [repetitions(target.repeatedKeys), ...found];
  if (findings.length > 0 && fieldValidation === 'Strict') {
    // The reference server has decoded the kind of the document by now.
    throw decodeErrors.mismatch(`strict decoding error: ${findings.join(', ')}`, gvk, kind);
  }
  const warnings = fieldValidation === 'Warn' ? warningsOf(found, target) : [];
  if (apiVersion !== served.apiVersion) throw otherVersion(apiVersion, served, warnings);
  const draft = asDraft(decoded.value, document.value, served);
  draft.kind = kind;
  return { draft, warnings, pruned: found };
}

/** Rejects a custom resource whose apiVersion is null; `refuse` builds the error. */
export function requireReadableVersion(value: unknown, refuse: (why: string) => StatusError): void {
  if (isRecord(value) && own(value, 'apiVersion') === null)
    throw refuse('.apiVersion accessor error: <nil> is of the type <nil>, expected string');
}

/**
 * The schema applies to documents of its group and kind only. Unknown fields of the metadata and duplicate fields are
 * always reported.
 */
export function customFindings(
  findings: readonly string[],
  { group, kind }: Pick<GroupVersionKind, 'group' | 'kind'>,
  { gvk }: ServedKind,
): readonly string[] {
  if (group === gvk.group && kind === gvk.kind) return findings;
  return findings.filter((finding) => /^(duplicate field|\S+ field "metadata\.)/.test(finding));
}

/** Errors about the metadata of a custom resource come from a decoder of its own, which does not name the field. */
export function fromMetadata(why: string): string {
  return why.replace(/(Go struct field \w+)\.metadata\./, '$1.');
}

function requireRegisteredType(
  gvk: GroupVersionKind,
  { served, registry }: DecodeTarget,
  decodeErrors: DecodeErrors,
): ServedKind {
  if (sameType(gvk, served.gvk)) return served;
  const known = areInSameScheme(gvk, served) ? registry.byKind(gvk) : undefined;
  if (known !== undefined && known.kind.customResourceHandler === undefined) return known;
  const registered = registeredType(gvk, { registry, served });
  if (registered === undefined) {
    throw decodeErrors.mismatch(unregistered(gvk.kind, `version ${quote(apiVersionOf(gvk))}`, served), gvk);
  }
  const { goType, groupKind } = registered;
  const isSameKind = groupKind?.group === served.groupKind.group && groupKind.kind === served.groupKind.kind;
  throw isSameKind
    ? otherVersion(apiVersionOf(gvk), served)
    : decodeErrors.mismatch(unconvertible(goType, served), gvk);
}

/** The version is checked after decoding, so the response has its warnings. */
function otherVersion(apiVersion: string, served: ServedKind, warnings: readonly string[] = []): StatusError {
  const { status } = errors.badRequest(
    `the API version in the data (${apiVersion}) does not match the expected API version (${served.apiVersion})`,
  );
  return new StatusError(status, { warnings });
}

/** Rejects unknown fields that a kind does not allow to be dropped. */
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

/** All duplicate keys in one message, as the YAML decoder reports them. */
function repetitions(repeatedKeys: readonly string[]): string {
  return ['yaml: unmarshal errors:', ...repeatedKeys].join('\n  ');
}

/** One warning per duplicate key, because a warning is a single line. */
function warningsOf(found: readonly string[], { repeatedKeys }: DecodeTarget): readonly string[] {
  return repeatedKeys === undefined ? found : [...repeatedKeys, ...found];
}

/** `where` is a part of the message: `version "v1"`. */
export function unregistered(kind: string, where: string, { gvk, dialect }: ServedKind): string {
  return `no kind ${quote(kind)} is registered for ${where} in scheme ${quote(schemeOf(gvk.group, dialect))}`;
}

/** `from` is the Go type: `v1.Secret`. */
export function unconvertible(from: string, served: ServedKind): string {
  const to = `${internalPackage(served.groupKind.group)}.${served.gvk.kind}`;
  return `converting (${from}) to (${to}): unknown conversion`;
}

/** Turns the decoded fields of a document into a draft of the kind. */
export function asDraft(fields: MutableRecord, document: unknown, served: ServedKind): DraftObject {
  const draft = fields as unknown as DraftObject;
  draft.metadata ??= {};
  const managers = managersIn(document);
  // The decoder drops empty lists, but empty managedFields mean that the client resets ownership.
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

/** Decodes; `refuse` builds the error. */
export function decodeAs(
  { kind, schema }: { readonly kind: Pick<Kind, 'customResourceHandler'>; readonly schema: ObjectNode },
  document: ParsedBody,
  refuse: (why: string) => Error,
  { isReusable, metadata, keepsNulls }: Pick<DecodeTarget, 'isReusable' | 'metadata' | 'keepsNulls'> = {},
): ReturnType<typeof decode> {
  try {
    if (kind.customResourceHandler !== undefined) return kind.customResourceHandler.decode(document, { keepsNulls });
    // managedFields that the server returned are neither validated nor copied.
    const isReusableOrWritten: IsReusable =
      isReusable === undefined
        ? isWrittenByServer
        : (value, node) => isReusable(value, node) || isWrittenByServer(value);
    return decode(schema, document, isReusableOrWritten, metadata);
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}

const TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** apiVersion and kind of a document as written; empty if absent, or if apiVersion has neither group nor version. */
export interface ClaimedType {
  readonly kind: string;
  readonly apiVersion: string;
}

type Unrecognized = DecodeErrors['unrecognized'];

export function claimedType(value: unknown, refuse: Unrecognized): ClaimedType {
  if (!isRecord(value)) {
    const why = `json: cannot unmarshal ${jsonType(value)} into Go value of type ${TYPE_META}`;
    throw refuse(parseFailure(why));
  }
  const apiVersion = textField(value, 'apiVersion', refuse);
  return { kind: textField(value, 'kind', refuse), apiVersion: apiVersion === '/' ? '' : apiVersion };
}

/** The type of a document; absent parts come from the endpoint. */
export function typeOf(value: unknown, fallback: GroupVersionKind, decodeErrors: DecodeErrors): GroupVersionKind {
  if (value === null) return fallback;
  const { kind: claimedKind, apiVersion } = claimedType(value, decodeErrors.unrecognized);
  const kind = claimedKind || fallback.kind;
  // The usual case.
  if (kind === fallback.kind && (apiVersion === '' || apiVersion === apiVersionOf(fallback))) return fallback;
  const gv = requireVersion(apiVersion, decodeErrors.unrecognized);
  return { ...(omitsVersion(apiVersion, fallback) ? fallback : gv), kind };
}

/** Whether the version of the endpoint applies: an absent apiVersion, or one with the group only (`apps/`). */
export function omitsVersion(apiVersion: string, { group }: GroupVersion): boolean {
  return apiVersion === '' || apiVersion === `${group}/`;
}

export function requireVersion(apiVersion: string, refuse: Unrecognized): GroupVersion {
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) throw refuse(`unexpected GroupVersion string: ${apiVersion}`);
  return gv;
}

/** The reference server reads apiVersion and kind case-insensitively; the last one wins. */
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
