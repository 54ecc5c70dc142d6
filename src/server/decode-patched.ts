/**
 * Decodes a patched document into a draft of the requested kind. The document may have any version of the kind. Without an
 * apiVersion it is decoded as the reference server's internal version. spec: Operations
 */
import type { ServedKind } from '../kinds/served-kind.js';
import type { StatusError } from '../meta/errors.js';
import { apiVersionOf, internalPackage } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { requireObjectLimits } from '../protocol/value-limits.js';
import type { Registry } from '../registry/registry.js';
import { type Field, type ObjectNode, uniform } from '../schema/schema-node.js';
import { quote } from '../text/go/go-text.js';
import { append } from '../util/arrays.js';
import { invariant } from '../util/invariant.js';
import { copyJson, type ParsedBody } from '../util/json.js';
import {
  asDraft,
  claimedType,
  customFindings,
  type DecodeErrors,
  decodeAs,
  fromMetadata,
  omitsVersion,
  refuseUnknownFields,
  requireReadableVersion,
  requireVersion,
  sameType,
  typeOf,
  unconvertible,
  unregistered,
} from './decode-body.js';
import type { FieldValidation } from './options.js';
import { areInSameScheme } from './registered-types.js';
import { reusableParts } from './reusable-parts.js';
import { zeroFields } from './steps/prepare.js';
import { toServed, toStored } from './versions.js';
import type { WriteOperation } from './write-operation.js';

export interface PatchedTarget {
  readonly write: WriteOperation;
  readonly fieldValidation: FieldValidation;
  /** Warnings about the patch itself; reported together with those about the document. */
  readonly findings: readonly string[];
  /** The document for messages. */
  readonly print: () => string;
  /** Builds the error. */
  readonly refuse: (why: string) => StatusError;
  /** The same for well-formed fields with an impossible value; absent: as `refuse`. */
  readonly refuseUnreadable?: (why: string) => StatusError;
}

/** Decodes and applies defaults; adds warnings to the write. Throws the error of `refuse`, or 413. */
export function decodePatched(document: ParsedBody, target: PatchedTarget): DraftObject {
  const { write, fieldValidation, refuse } = target;
  requireObjectLimits(document.value);
  const { draft, findings } = isUnversioned(document.value, target)
    ? decodeUnversioned(document, target)
    : decodeVersioned(document, target);
  // Decoding errors are reported alone; other findings follow only here.
  const all = [...target.findings, ...findings];
  refuseUnknownFields(all, write.served, refuse);
  if (all.length === 0 || fieldValidation === 'Ignore') return draft;
  if (fieldValidation === 'Strict') throw refuse(`strict decoding error: ${all.join(', ')}`);
  append(write.warnings, all);
  return draft;
}

interface Found {
  readonly draft: DraftObject;
  readonly findings: readonly string[];
}

/** Documents and their views have no internal version. */
function isUnversioned(value: unknown, { write, refuse }: PatchedTarget): boolean {
  const { kind, gvk } = write.served;
  return (
    kind.representation === 'struct' &&
    write.isViewOfDocument !== true &&
    omitsVersion(claimedType(value, refuse).apiVersion, gvk)
  );
}

function decodeVersioned(document: ParsedBody, target: PatchedTarget): Found {
  const { write, refuse } = target;
  const { served, server, hookContext } = write;
  if (served.kind.customResourceHandler !== undefined) {
    const { kind, apiVersion: text } = claimedType(document.value, refuse);
    if (kind === '') throw refuse(`Object 'Kind' is missing in '${target.print()}'`);
    const gv = requireVersion(text, refuse);
    requireReadableVersion(document.value, refuse);
    const { value, findings: all } = decodeAs(served, document, (why) => refuse(fromMetadata(why)));
    const findings = customFindings(all, { group: gv.group, kind }, served);
    // apiVersion and kind are kept for validation.
    return { draft: { ...asDraft(value, document.value, served), kind, apiVersion: apiVersionOf(gv) }, findings };
  }
  const refusals: DecodeErrors = { unrecognized: refuse, mismatch: refuse };
  const gvk = typeOf(document.value, served.gvk, refusals);
  const isOwn = sameType(gvk, served.gvk);
  const actual = isOwn ? served : areInSameScheme(gvk, served) ? server.registry.byKind(gvk) : undefined;
  if (actual === undefined) throw refuse(unregistered(gvk.kind, `version ${quote(apiVersionOf(gvk))}`, served));
  // Most parts of a patched object are unchanged parts of the live one.
  const isKnown = actual === served ? reusableParts(server, write.request, served) : undefined;
  const { value, findings } = decodeAs(actual, document, refuse, { isReusable: isKnown });
  if (actual.storageKey !== served.storageKey) throw refuse(unconvertible(`${gvk.version}.${gvk.kind}`, served));
  const draft = asDraft(value, document.value, actual);
  const why = actual.kind.strategy.decode.decodeError?.(draft);
  if (why !== undefined) throw (target.refuseUnreadable ?? refuse)(why);
  actual.kind.strategy.decode.defaults?.(draft, hookContext);
  // Its apiVersion is kept for ownership.
  if (write.isViewOfDocument === true) draft.apiVersion = claimedType(document.value, refuse).apiVersion;
  return { draft: actual === served ? draft : converted(draft, actual, served), findings };
}

/** The same object in another version of its kind. */
function converted(draft: DraftObject, from: ServedKind, to: ServedKind): DraftObject {
  const object = toServed(to, toStored(from, draft as unknown as ApiObject));
  return asDraft({ ...copyJson(object) }, draft, to);
}

/**
 * Decodes a document without apiVersion as the reference server's internal version: its metadata fields are at the top
 * level, and no other field has the name that clients use.
 */
function decodeUnversioned(document: ParsedBody, { write, refuse }: PatchedTarget): Found {
  const { served, server } = write;
  const { group } = served.groupKind;
  const kind = claimedType(document.value, refuse).kind || served.gvk.kind;
  if (kind !== served.gvk.kind) {
    const isKnown = isRegisteredKind(server.registry, { group, kind });
    const from = `${internalPackage(group)}.${kind}`;
    throw refuse(
      isKnown ? unconvertible(from, served) : unregistered(kind, `the internal version of group "${group}"`, served),
    );
  }
  const { value, findings } = decodeAs({ kind: {}, schema: unversioned(served.schema) }, document, refuse);
  const { kind: _kind, apiVersion: _apiVersion, ...metadata } = value;
  const fields = { ...zeroFields(served.schema), metadata };
  return { draft: asDraft(fields, document.value, served), findings };
}

function isRegisteredKind(registry: Registry, { group, kind }: ServedKind['groupKind']): boolean {
  return registry.all().some(({ groupKind }) => groupKind.group === group && groupKind.kind === kind);
}

function unversioned(schema: ObjectNode): ObjectNode {
  const metadata = schema.fields.get('metadata')?.node;
  invariant(metadata?.type === 'object', 'every kind has metadata');
  const typed = ['kind', 'apiVersion'].flatMap((name) => schema.fields.get(name) ?? []);
  const fields = new Map<string, Field>(metadata.fields);
  for (const field of typed) fields.set(field.name, { ...field, presence: 'omitEmpty' });
  return uniform({ ...schema, fields });
}
