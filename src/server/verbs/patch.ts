/**
 * patch: JSON patch, merge patch, strategic merge patch and apply. spec: Operations
 *
 * The patch is applied within the update, to the current live object, so a patch without a resourceVersion never
 * conflicts.
 */

import { inWireOrder } from '../../crd/value/wire-order.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { applyJsonPatch, parseJsonPatch } from '../../merge/json-patch.js';
import { applyMergePatch } from '../../merge/merge-patch.js';
import { printPatched } from '../../merge/print-patched.js';
import { type Restored, RestoreError, restore } from '../../merge/restore.js';
import { applyStrategicMerge, type StrategicMerge } from '../../merge/strategic-merge.js';
import { errors, failure, type StatusError } from '../../meta/errors.js';
import { causeReason, invalid } from '../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { BodyError } from '../../protocol/body.js';
import type { ApiRequest, PatchType } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { duplicateFindings } from '../../schema/findings.js';
import { printGoValue } from '../../text/go/go-value.js';
import { append } from '../../util/arrays.js';
import { translateError } from '../../util/catch-error.js';
import { invariant, unreachable } from '../../util/invariant.js';
import { NotJsonError, type ParsedBody, requireJson } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { type AppliedConfiguration, type ApplyOperation, draftOf, readConfiguration } from '../apply.js';
import type { ServerContext } from '../context.js';
import { decodePatched } from '../decode-patched.js';
import { type CheckedWriteOptions, checkPatchOptions } from '../options.js';
import { patchScalars } from '../plain-patch.js';
import { objectResponse, withWarnings } from '../response.js';
import { requireLive } from '../steps/commit.js';
import { strategySubresourceOf } from '../subresource.js';
import { updateObject, type WriteResult } from '../write.js';
import { mayRace, startWrite, type WriteOperation } from '../write-operation.js';

export function patch(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const { patchType } = request;
  invariant(patchType !== undefined, 'a patch request says which patch it is');
  requirePatchType(patchType, served);
  const options = checkPatchOptions(request.options, patchType, context.dialect);
  const write: WriteOperation = startWrite(context, request, { served, dryRun: options.dryRun });
  const written = withWarnings(write.warnings, () =>
    patchType === 'apply' ? applyConfiguration(options, write) : applyPatch(patchType, options, write),
  );
  return chain(written, ({ object, created }) => objectResponse(created ? 201 : 200, object, write.warnings));
}

/** Server-side apply; creates the object if it does not exist. */
function applyConfiguration(options: CheckedWriteOptions, write: WriteOperation): MaybePromise<WriteResult> {
  const { request, served } = write;
  const name = request.name ?? '';
  const subresource = strategySubresourceOf(served, request.subresource);
  const draft = readApply(request, { options, write });
  return updateObject(
    {
      name,
      subresource,
      allowCreateOnUpdate: subresource === undefined || subresource.createsOnApply === true,
      hasManagedFields: true,
      makeDraft(live) {
        const wanted = draft(live);
        const { uid } = wanted.metadata;
        if (live !== undefined || !uid) return wanted;
        throw errors.conflict(
          served.groupResource,
          name,
          `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
        );
      },
    },
    write,
  );
}

/** The object after an apply, with its managedFields. The body is parsed on the first call. */
export function readApply(
  request: ApiRequest,
  patch: Omit<ApplyOperation, 'intent'>,
): (live: ApiObject | undefined) => DraftObject {
  let intent: AppliedConfiguration | undefined;
  return (live) => {
    intent ??= readConfiguration(request.body, mayRace(patch.write));
    request.audit?.requestObject?.(intent.document);
    return draftOf({ intent, ...patch }, live);
  };
}

function applyPatch(
  patchType: DocumentPatch,
  options: CheckedWriteOptions,
  write: WriteOperation,
): MaybePromise<WriteResult> {
  const { request, served } = write;
  const name = request.name ?? '';
  const subresource = strategySubresourceOf(served, request.subresource);
  // NotFound comes before errors in the patch.
  requireLive(write);
  const change = readPatch(request, patchType, { options, write });
  return updateObject(
    {
      name,
      subresource,
      allowCreateOnUpdate: false,
      makeDraft(live) {
        invariant(live !== undefined, 'only an existing object is patched');
        return change(live);
      },
    },
    write,
  );
}

/** Kinds that are documents, and their views, do not support strategic merge patch. Throws 415. */
export function requirePatchType(patchType: PatchType, served: ServedKind): void {
  if (patchType !== 'strategic' || served.kind.representation === 'struct') return;
  throw errors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${DOCUMENT_PATCHES}`,
  );
}

const DOCUMENT_PATCHES =
  'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor';

/** Patch types that change an existing document. */
export type DocumentPatch = Exclude<PatchType, 'apply'>;

/** Applies a patch to the live object. */
type Change = (live: ApiObject) => DraftObject;

interface PatchContext {
  readonly options: CheckedWriteOptions;
  readonly write: WriteOperation;
}

/** Parses a patch. Throws 400 if it is malformed. */
export function readPatch(request: ApiRequest, patchType: DocumentPatch, patch: PatchContext): Change {
  const { options, write } = patch;
  switch (patchType) {
    case 'json': {
      const document = readDocument(request, patch);
      const { fieldValidation } = options;
      const parsed = parseJsonPatch(document.value, { fieldValidation, duplicates: document.duplicates });
      const apply = (live: ApiObject) => ({ ...document, value: applyJsonPatch(live, parsed) });
      return (live) => patched({ live, apply }, parsed.findings, patch);
    }
    case 'merge': {
      const document = readDocument(request, patch);
      const findings = duplicateFindings(document);
      return (live) => {
        const draft = document.duplicates === undefined ? patchScalars(live, document.value, write) : undefined;
        if (draft !== undefined) return draft;
        const apply = (to: ApiObject) => ({
          ...document,
          value: applyMergePatch(asRecord(to), document.value, options),
        });
        return patched({ live, apply }, findings, patch);
      };
    }
    case 'strategic': {
      const document = readDocument(request, patch);
      return (live) => {
        const draft = document.duplicates === undefined ? patchScalars(live, document.value, write) : undefined;
        if (draft !== undefined) return draft;
        const merged = applyStrategicMerge(write.served.schema, asRecord(live), document.value);
        return strategicallyPatched({ merged, live }, duplicateFindings(document), patch);
      };
    }
    default:
      return unreachable(patchType);
  }
}

function asRecord(object: ApiObject): Readonly<Record<string, unknown>> {
  return object as unknown as Record<string, unknown>;
}

/** Prefix of errors about malformed patches, except for strategic ones and with fieldValidation=Ignore. */
const DECODING = 'error decoding patch: ';

function readDocument(request: ApiRequest, { options, write }: PatchContext): ParsedBody {
  // Copied if the patch may be applied again later, because the caller may change its object meanwhile.
  const isKept = mayRace(write) || request.audit !== undefined;
  const body = (isKept ? request.body?.detach?.() : undefined) ?? request.body;
  try {
    if (body === undefined) throw new BodyError('unexpected end of JSON input');
    const document = body.read();
    requireJson(document.value);
    request.audit?.requestObject?.(document.value);
    return document;
  } catch (error) {
    if (error instanceof NotJsonError) throw errors.badRequest(`${DECODING}json: ${error.message}`);
    if (error instanceof BodyError) throw errors.badRequest(malformedPatchMessage(error, request, options));
    throw error;
  }
}

function malformedPatchMessage(error: BodyError, request: ApiRequest, options: CheckedWriteOptions): string {
  if (request.patchType === 'strategic') return error.message;
  if (options.fieldValidation !== 'Ignore') return `${DECODING}${error.message}`;
  return request.patchType === 'merge' ? 'Invalid JSON Patch' : error.message;
}

/**
 * Decodes the patched document; 422 if it is no longer an object of the kind. `findings` are warnings about the patch
 * itself, such as duplicate keys.
 */
function patched(
  { live, apply }: DocumentPatching,
  findings: readonly string[],
  { options, write }: PatchContext,
): DraftObject {
  const { fieldValidation } = options;
  const document = apply(live);
  // The reference server patches the JSON text of a custom resource, whose keys are sorted.
  const shown = () => (write.served.kind.customResourceHandler === undefined ? document : apply(inWireOrder(live)));
  const print = () => printPatched(shown());
  const refuse = (why: string) => invalidPatch(print(), why);
  return decodePatched(document, { write, fieldValidation, findings, print, refuse });
}

interface DocumentPatching {
  readonly live: ApiObject;
  readonly apply: (to: ApiObject) => ParsedBody;
}

/**
 * The same for a strategic merge patch. Its decoder reports errors about the patch instead of the result, and ignores
 * apiVersion and kind of the result.
 */
function strategicallyPatched(result: MergedLive, repeated: readonly string[], patch: PatchContext): DraftObject {
  const { options, write } = patch;
  const { merged } = result;
  const { kind } = write.served.gvk;
  const print = () => printGoValue(merged.leftover);
  const refuse = (why: string) => invalidPatch(print(), why);
  const { value, findings } = restoreUnpatchable(result, refuse, write);
  const whole = { ...(value as object), kind, apiVersion: write.served.apiVersion };
  const draft = decodePatched(
    { value: whole },
    {
      write,
      fieldValidation: 'Ignore',
      findings: [],
      print,
      refuse,
      refuseUnreadable: errors.plain,
    },
  );
  const all = [...repeated, ...findings];
  if (all.length === 0 || options.fieldValidation === 'Ignore') return draft;
  if (options.fieldValidation === 'Strict') throw refuse(`strict decoding error: ${all.join(', ')}`);
  append(write.warnings, all);
  return draft;
}

interface MergedLive {
  readonly merged: StrategicMerge;
  readonly live: ApiObject;
}

function restoreUnpatchable(
  { merged, live }: MergedLive,
  refuse: (why: string) => Error,
  write: WriteOperation,
): Restored {
  // Values from the live object are valid, unless it was loaded without validation.
  const valid = write.server.store.hasUnvalidatedObjects ? undefined : live;
  const read = () => restore(write.served.schema, merged.document, valid);
  return translateError(RestoreError, read, ({ message }) => refuse(message));
}

/**
 * The reference server's message contains neither kind nor name.
 * upstream: apiserver/pkg/endpoints/handlers/patch.go jsonPatcher.applyPatchToCurrentObject
 */
function invalidPatch(document: string, why: string): StatusError {
  const problem = invalid('patch', document, why);
  return failure({
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${problem.message}`,
    details: { causes: [{ reason: causeReason(problem.type), message: problem.message, field: problem.field }] },
  });
}
