/**
 * The body of a write → a draft of the addressed kind, or the 400 that says why not. spec: fieldValidation
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { errors, type StatusError } from '../meta/errors.js';
import type { GroupVersionKind } from '../meta/gvk.js';
import { apiVersionOf, parseApiVersion } from '../meta/gvk.js';
import type { DraftObject } from '../meta/object.js';
import { BodyError, type RequestBody } from '../protocol/body.js';
import type { Registry } from '../registry/registry.js';
import { DecodeError, decode, jsonType } from '../schema/decode.js';
import type { ParsedBody } from '../util/json.js';
import { isRecord } from '../util/json.js';
import type { FieldValidation } from './options.js';

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
}

export interface DecodeTarget {
  readonly served: ServedKind;
  readonly registry: Registry;
  readonly fieldValidation: FieldValidation;
  /** Further versions in which the body may be written; they have the same fields. */
  readonly alsoAccepts?: readonly string[];
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
  return decodeDocument(readBody(body, refusals), target, refusals);
}

/** What the reference server says when it cannot even tell what a document is. */
function parseFailure(why: string): string {
  return `couldn't get version/kind; json parse error: ${why}`;
}

function readBody(body: RequestBody | undefined, refusals: Refusals): ParsedBody {
  if (body === undefined) throw refusals.unrecognized(parseFailure('unexpected end of JSON input'));
  try {
    return body.read();
  } catch (error) {
    if (error instanceof BodyError) throw refusals.unrecognized(parseFailure(error.message));
    throw error;
  }
}

/** Decodes any document as an object of the kind: type, fields, defaults, findings. */
export function decodeDocument(document: ParsedBody, target: DecodeTarget, refusals: Refusals): DecodedBody {
  const { served, registry, fieldValidation } = target;
  const gvk = acceptedType(typeOf(document.value, served.gvk, refusals), target);
  const actual = sameType(gvk, served.gvk) ? served : registry.byKind(gvk);
  if (actual === undefined) {
    throw refusals.unfit(
      `no kind "${gvk.kind}" is registered for version "${apiVersionOf(gvk)}" in scheme "pkg/api/legacyscheme/scheme.go:30"`,
      gvk,
    );
  }
  // JSON's null stands for an object with nothing in it.
  const whole = document.value === null ? { value: {} } : document;
  const { value, findings } = decodeAs(actual, whole, refusals);
  if (actual !== served && actual.storage === served.storage) {
    throw errors.badRequest(
      `the API version in the data (${actual.apiVersion}) does not match the expected API version (${served.apiVersion})`,
    );
  }
  if (actual !== served) {
    const from = `${gvk.version}.${gvk.kind}`;
    const to = `${internalPackage(served.gvk.group)}.${served.gvk.kind}`;
    throw refusals.unfit(`converting (${from}) to (${to}): unknown conversion`, gvk);
  }
  if (findings.length > 0 && fieldValidation === 'Strict') {
    throw refusals.unfit(`strict decoding error: ${findings.join(', ')}`, gvk);
  }
  const draft = value as unknown as DraftObject;
  if (emptiesManagers(document.value)) draft.metadata.managedFields = [];
  draft.kind = served.gvk.kind;
  draft.apiVersion = served.apiVersion;
  return { draft, warnings: fieldValidation === 'Warn' ? findings : [] };
}

/** The decoder does not tell an empty list from none, but here it says something: nobody is to manage the object. */
function emptiesManagers(value: unknown): boolean {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  const managers = isRecord(metadata) ? metadata['managedFields'] : undefined;
  return Array.isArray(managers) && managers.length === 0;
}

function acceptedType(gvk: GroupVersionKind, { served, alsoAccepts = [] }: DecodeTarget): GroupVersionKind {
  return gvk.kind === served.gvk.kind && alsoAccepts.includes(apiVersionOf(gvk)) ? served.gvk : gvk;
}

function decodeAs(served: ServedKind, document: ParsedBody, refusals: Refusals): ReturnType<typeof decode> {
  try {
    return decode(served.schema, document);
  } catch (error) {
    if (error instanceof DecodeError) throw refusals.unfit(error.message, served.gvk);
    throw error;
  }
}

const TYPE_META = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** The type a document claims; what it leaves out is taken from the address. */
function typeOf(value: unknown, fallback: GroupVersionKind, refusals: Refusals): GroupVersionKind {
  if (value === null) return fallback;
  if (!isRecord(value)) {
    const why = `json: cannot unmarshal ${jsonType(value)} into Go value of type ${TYPE_META}`;
    throw refusals.unrecognized(parseFailure(why));
  }
  const kind = textField(value, 'kind', refusals) || fallback.kind;
  const apiVersion = textField(value, 'apiVersion', refusals);
  // Nearly always the document says what the address says.
  if (kind === fallback.kind && (apiVersion === '' || apiVersion === apiVersionOf(fallback))) return fallback;
  if (apiVersion === '') return { ...fallback, kind };
  const gv = parseApiVersion(apiVersion);
  if (gv === undefined) throw refusals.unrecognized(`unexpected GroupVersion string: ${apiVersion}`);
  return { ...gv, kind };
}

/** The reference server looks for the type without regard to case; the last one written counts. */
function textField(value: Record<string, unknown>, name: string, refusals: Refusals): string {
  let found: unknown = Object.hasOwn(value, name) ? value[name] : undefined;
  if (found === undefined) {
    for (const key of Object.keys(value)) if (key.toLowerCase() === name.toLowerCase()) found = value[key];
  }
  if (found === undefined || found === null) return '';
  if (typeof found === 'string') return found;
  const why = `json: cannot unmarshal ${jsonType(found)} into Go struct field .${name} of type string`;
  throw refusals.unrecognized(parseFailure(why));
}

function sameType(left: GroupVersionKind, right: GroupVersionKind): boolean {
  return left === right || (left.kind === right.kind && left.version === right.version && left.group === right.group);
}

/** How the reference server calls its own form of a group's kinds. */
function internalPackage(group: string): string {
  return group === '' ? 'core' : (group.split('.')[0] ?? group);
}
