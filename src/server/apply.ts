/**
 * Server-side apply: reads the applied configuration and merges it into the live object. spec: Server-side apply
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { compare } from '../merge/apply/compare.js';
import { type Conflict, ConflictError } from '../merge/apply/conflict.js';
import { difference, EMPTY_SET, type FieldSet, isEmptySet } from '../merge/apply/field-set.js';
import { fieldsOfIntent, IntentError } from '../merge/apply/intent-fields.js';
import { type ManagerIdentity, type Managers, NO_MANAGERS } from '../merge/apply/managers.js';
import { type Applied, applyIntent, IncompatibleVersionError, managersAfterUpdate } from '../merge/apply/ownership.js';
import { RestoreError, restore } from '../merge/restore.js';
import { errors, failure, type StatusError } from '../meta/errors.js';
import { type GroupVersionKind, parseApiVersion, printGvk } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { BodyError, type RequestBody } from '../protocol/body.js';
import { requireObjectLimits } from '../protocol/value-limits.js';
import { decode } from '../schema/decode.js';
import { DecodeError, jsonType } from '../schema/decode-scalar.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { append } from '../util/arrays.js';
import { recoverFrom, translateError } from '../util/catch-error.js';
import {
  cloneJson,
  copyJson,
  encodeSorted,
  escapeForPages,
  isPlainJson,
  isRecord,
  NotJsonError,
  requireJson,
} from '../util/json.js';
import { type DecodeErrors, decodeDocument } from './decode-body.js';
import type { CheckedWriteOptions, FieldValidation } from './options.js';
import { asVersioned, emptyObject, managersIn, setManagers, versionsOf } from './steps/managed-fields.js';
import { zeroFields } from './steps/prepare.js';
import { untrackableReason } from './steps/trackable.js';
import type { WriteOperation } from './write-operation.js';

/** The field manager that also writes the last-applied annotation. */
const CLIENT_SIDE_APPLIER = 'kubectl';

/** The applied configuration as it was sent. */
export interface AppliedConfiguration {
  readonly document: Readonly<Record<string, unknown>>;
  /** Duplicate keys, one message each. */
  readonly repeatedKeys: readonly string[];
}

/** Throws 400 when the body is no map. */
export function readConfiguration(body: RequestBody | undefined, mayBeAsynchronous: boolean): AppliedConfiguration {
  try {
    const sent = body?.read().value ?? {};
    // Copied if values have toJSON, or if the apply may run again later, because the caller may change its object meanwhile.
    const value: unknown = !mayBeAsynchronous && isPlainJson(sent) ? sent : cloneJson(sent);
    if (!isRecord(value)) throw new BodyError(`error unmarshaling JSON: while decoding JSON: ${notAMap(value)}`);
    return { document: value, repeatedKeys: body?.repeatedKeys?.() ?? [] };
  } catch (error) {
    if (error instanceof NotJsonError) throw errors.badRequest(`error decoding YAML: json: ${error.message}`);
    if (error instanceof BodyError) throw errors.badRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

function notAMap(value: unknown): string {
  return `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;
}

export interface ApplyOperation {
  readonly intent: AppliedConfiguration;
  readonly options: CheckedWriteOptions;
  readonly write: WriteOperation;
  /** Why the reference server cannot convert a changed object back; absent if it can. */
  readonly conversionError?: string;
}

/** The merged object with its managedFields. */
export function draftOf(application: ApplyOperation, live: ApiObject | undefined): DraftObject {
  const { intent, options, write } = application;
  const { document } = intent;
  checkType(document, write.served);
  const applied = applyOver(application, live);
  const draft =
    applied.object === undefined && live !== undefined
      ? (copyJson(live) as unknown as DraftObject)
      : decodeMerged(applied.object ?? newObject(write.served), application, live);
  setManagers(draft.metadata, applied.managers, live?.metadata.managedFields);
  if (options.fieldManager === CLIENT_SIDE_APPLIER) syncAnnotation(draft, application);
  refuseRepeatedKeys(intent.repeatedKeys, options.fieldValidation, write);
  return draft;
}

/** The object that an apply without a live object starts with: fields that a client must give are absent. */
function newObject({ schema }: ServedKind): object {
  return schema.representation === 'struct' ? zeroFields(schema, 'absent') : {};
}

function checkType(document: AppliedConfiguration['document'], served: ServedKind): void {
  const gvk = typeOf(document);
  const { group, version, kind } = served.gvk;
  if (gvk.kind === kind && gvk.version === version && gvk.group === group) return;
  throw errors.badRequest(`invalid object type: ${printGvk(gvk)}`);
}

/** The type of a document; empty if apiVersion is malformed. */
function typeOf({ apiVersion, kind }: AppliedConfiguration['document']): GroupVersionKind {
  const gv = typeof apiVersion === 'string' ? parseApiVersion(apiVersion) : undefined;
  // A text that is not an API version hides the kind; a value that is not a text counts as absent.
  if (gv === undefined && typeof apiVersion === 'string') return { group: '', version: '', kind: '' };
  return { group: '', version: '', ...gv, kind: typeof kind === 'string' ? kind : '' };
}

function applyOver({ intent, options, write }: ApplyOperation, live: ApiObject | undefined): Applied {
  const { served, hookContext, request } = write;
  const versions = versionsOf(write);
  const { apiVersion } = served;
  const subresource = request.subresource ?? '';
  const by: ManagerIdentity = { manager: options.fieldManager ?? '', operation: 'Apply', apiVersion, subresource };
  const before = asVersioned(served, live === undefined ? newObject(served) : withoutManagers(live));
  const problem = live && untrackableReason(live, served);
  const managers = managersOf(live, write, problem);
  const { document } = intent;
  const apply = (force: boolean): Applied => {
    refuseManagedFields(document, served);
    if (live !== undefined && problem !== undefined) {
      // Errors of the configuration come first.
      fieldsOfIntent(served.schema, document);
      throw errors.plain(`failed to create typed live object (${addressOf(live, served)}): ${problem}`);
    }
    return applyIntent({ live: before, intent: document, managers, by, force, now: hookContext.now }, versions);
  };
  try {
    return apply(options.force);
  } catch (error) {
    if (error instanceof IntentError) {
      throw errors.plain(`failed to create typed patch object (${addressOf(document, served)}): ${error.message}`);
    }
    if (error instanceof IncompatibleVersionError) throw errors.plain(error.message);
    if (!(error instanceof ConflictError)) throw error;
    if (by.manager !== CLIENT_SIDE_APPLIER) throw conflict(error);
    const left = withoutAllowedConflicts(
      error,
      fieldsLastApplied(annotationOf(live?.metadata.annotations, write), before),
    );
    if (left !== undefined) throw conflict(left);
    return apply(true);
  }
}

/** The object without managedFields. */
function withoutManagers({ metadata, ...object }: ApiObject): unknown {
  const { managedFields: _managers, ...rest } = metadata;
  return { ...object, metadata: rest };
}

/** The managers of the live object; all fields of an untracked object belong to `before-first-apply`. */
function managersOf(live: ApiObject | undefined, write: WriteOperation, problem: string | undefined): Managers {
  const { served, hookContext, request } = write;
  const managers = live === undefined ? NO_MANAGERS : managersIn(live);
  if (managers.size > 0 || live === undefined) return managers;
  if (problem !== undefined) {
    const why = `failed to convert new object (${addressOf(live, served)}) to smd typed: ${problem}`;
    throw errors.plain(`failed to create manager for existing fields: ${why}`);
  }
  const { apiVersion } = served;
  const by = {
    manager: 'before-first-apply',
    operation: 'Update',
    apiVersion,
    subresource: request.subresource ?? '',
  } as const;
  const [before, after] = [asVersioned(served, emptyObject(served)), asVersioned(served, live)];
  return managersAfterUpdate({ before, after, managers, by, now: hookContext.now }, versionsOf(write));
}

/** Entries that cannot be decoded count as absent, and are reported later as fields of the wrong type. */
function refuseManagedFields({ metadata }: AppliedConfiguration['document'], { schema }: ServedKind): void {
  const managedFields = isRecord(metadata) ? metadata['managedFields'] : undefined;
  if (!Array.isArray(managedFields) || !managedFields.every(isRecord)) return;
  const entries = () => decode(schema, { value: { metadata: { managedFields } } });
  if (recoverFrom(DecodeError, entries, () => undefined) === undefined) return;
  throw errors.badRequest('metadata.managedFields must be nil');
}

function conflict(error: ConflictError): StatusError {
  const causes = error.causes.map(({ message, field }) => ({ reason: 'FieldManagerConflict', message, field }));
  return failure({ reason: 'Conflict', message: error.message, details: { causes }, cause: error });
}

/** The identity of a configuration or an object in messages. */
export function addressOf({ metadata }: { readonly metadata?: unknown }, { gvk }: ServedKind): string {
  const part = (name: string): string => {
    const value = isRecord(metadata) ? metadata[name] : undefined;
    return typeof value === 'string' ? value : '';
  };
  return `${part('namespace')}/${part('name')}; ${printGvk(gvk)}`;
}

/** Decodes the merged document. Its types are right, but values with a syntax (quantities, times) are parsed here. */
function decodeMerged(merged: unknown, application: ApplyOperation, live: ApiObject | undefined): DraftObject {
  const { intent, write, conversionError } = application;
  const { server, served, hookContext } = write;
  const unconverted = (why: string): StatusError =>
    errors.plain(`failed to convert new object (${addressOf(intent.document, served)}) to proper version: ${why}`);
  if (conversionError !== undefined) throw unconverted(conversionError);
  requireObjectLimits(merged);
  const refuse = (why: string): StatusError =>
    unconverted(`unable to convert unstructured object to ${printGvk(served.gvk)}: ${why}`);
  const unreadable = (why: string): StatusError =>
    errors.plain(`failed to convert to unversioned (${addressOf(intent.document, served)}): ${why}`);
  const refusals: DecodeErrors = { unrecognized: refuse, mismatch: refuse, invalidValue: unreadable };
  const target = { served, registry: server.registry, fieldValidation: 'Ignore', keepsNulls: true } as const;
  const document = { value: restoreMerged(merged, { served, live, refuse }) };
  const { draft, pruned = [] } = decodeDocument(document, target, refusals);
  write.prunedParts = pruned.flatMap((finding) => /^unknown field "(\w+)/.exec(finding)?.[1] ?? []);
  served.kind.strategy.decode.defaults?.(draft, hookContext);
  if (served.kind.customResourceHandler !== undefined && write.request.subresource === undefined)
    write.hasEmptyMetadata = hasEmptyMetadata(merged, draft);
  return draft;
}

const MAY_BE_EMPTY = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'generateName',
  'deletionTimestamp',
] as const;

/** Whether decoding has dropped empty fields of the metadata, or made empty texts of null. */
function hasEmptyMetadata(merged: unknown, draft: DraftObject): boolean {
  const metadata = isRecord(merged) ? merged['metadata'] : undefined;
  if (!isRecord(metadata)) return false;
  return MAY_BE_EMPTY.some(
    (name) =>
      Object.hasOwn(metadata, name) &&
      (draft.metadata[name] === undefined || Object.values(metadata[name] ?? {}).includes(null)),
  );
}

function restoreMerged(
  merged: unknown,
  context: {
    readonly served: ServedKind;
    readonly live: ApiObject | undefined;
    readonly refuse: (why: string) => StatusError;
  },
): unknown {
  const { schema } = context.served;
  if (schema.representation === 'document') return merged;
  const read = () => restore(schema, merged, context.live).value;
  return translateError(RestoreError, read, ({ message }) => context.refuse(message));
}

function annotationName(write: WriteOperation): string {
  return write.served.dialect.subkey('kubectl', 'last-applied-configuration');
}

function annotationOf(
  annotations: Readonly<Record<string, string>> | undefined,
  write: WriteOperation,
): string | undefined {
  return annotations?.[annotationName(write)];
}

/** Updates the last-applied annotation of client-side apply, if the object has one. */
function syncAnnotation(draft: DraftObject, { intent, write }: ApplyOperation): void {
  const { annotations } = draft.metadata;
  if (annotations === undefined || !annotationOf(annotations, write)) return;
  const name = annotationName(write);
  const text = `${escapeForPages(encodeSorted(withoutAnnotation(intent.document, name)))}\n`;
  const next: Record<string, string> = { ...annotations, [name]: text };
  if (totalSize(next) > MAX_ANNOTATIONS) delete next[name];
  draft.metadata.annotations = next;
}

const MAX_ANNOTATIONS = 256 * 1024;

function totalSize(annotations: Readonly<Record<string, string>>): number {
  const encoder = new TextEncoder();
  let size = 0;
  for (const [key, value] of Object.entries(annotations))
    size += encoder.encode(key).length + encoder.encode(value).length;
  return size;
}

function withoutAnnotation(document: AppliedConfiguration['document'], name: string): unknown {
  const { metadata } = document;
  const annotations = isRecord(metadata) ? metadata['annotations'] : undefined;
  if (!isRecord(metadata) || !isRecord(annotations) || !Object.hasOwn(annotations, name)) return document;
  const { [name]: _own, ...others } = annotations;
  return { ...document, metadata: { ...metadata, annotations: others } };
}

function refuseRepeatedKeys(lines: readonly string[], fieldValidation: FieldValidation, write: WriteOperation): void {
  if (lines.length === 0 || fieldValidation === 'Ignore') return;
  if (fieldValidation === 'Strict') {
    const list = lines.map((line) => `\n  ${line}`).join('');
    throw errors.badRequest(
      `error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${list}`,
    );
  }
  append(write.warnings, lines);
}

/** Fields of the last-applied configuration whose live values are unchanged. */
function fieldsLastApplied(
  text: string | undefined,
  live: { readonly apiVersion: string; readonly schema: ObjectNode; readonly value: unknown },
): FieldSet {
  const configuration = text === undefined ? undefined : parse(text);
  if (!isRecord(configuration) || configuration['apiVersion'] !== live.apiVersion) return EMPTY_SET;
  const read = () => {
    const fields = fieldsOfIntent(live.schema, configuration);
    const { modified, added, removed } = compare(live.schema, configuration, live.value);
    return difference(difference(difference(fields, modified), added), removed);
  };
  return recoverFrom(IntentError, read, () => EMPTY_SET);
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    requireJson(value);
    return value;
  } catch {
    // Not written by kubectl, so it is ignored.
    return undefined;
  }
}

/** The conflicts without the allowed fields; undefined if none remain. */
function withoutAllowedConflicts(error: ConflictError, allowed: FieldSet): ConflictError | undefined {
  const left: Conflict[] = [];
  for (const { manager, fields } of error.conflicts) {
    const rest = difference(fields, allowed);
    if (!isEmptySet(rest)) left.push({ manager, fields: rest });
  }
  return left.length === 0 ? undefined : new ConflictError(left);
}
