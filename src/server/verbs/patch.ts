/**
 * patch: a change to the live object, in one of the patch languages. spec: patch
 *
 * The patch is applied inside the update, to whatever is live at that moment; a patch that does not mention a version
 * never conflicts.
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
import { invariant, unreachable } from '../../util/invariant.js';
import { NotJsonError, type ParsedBody, requireJson } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { answer, warned } from '../answer.js';
import type { ServerContext } from '../context.js';
import { decodePatched } from '../decode-patched.js';
import { draftOf, type Intent, readIntent } from '../intent.js';
import { checkPatchOptions, type WriteOptions } from '../options.js';
import { plainlyPatched } from '../plain-patch.js';
import { requireLive } from '../steps/commit.js';
import { partOf } from '../subresource.js';
import { updateObject, type WriteResult } from '../write.js';
import { mayRace, startWrite, type WriteOperation } from '../write-operation.js';

export function patch(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const { patchType } = request;
  invariant(patchType !== undefined, 'a patch request says which patch it is');
  requirePatchType(patchType, served);
  const options = checkPatchOptions(request.options, patchType, context.dialect);
  const write: WriteOperation = startWrite(context, request, { served, dryRun: options.dryRun });
  const written = warned(write.warnings, () =>
    patchType === 'apply' ? applyConfiguration(options, write) : applyPatch(patchType, options, write),
  );
  return chain(written, ({ object, created }) => answer(created ? 201 : 200, object, write.warnings));
}

/** An apply is no patch of what is there: the object need not exist. */
function applyConfiguration(options: WriteOptions, write: WriteOperation): MaybePromise<WriteResult> {
  const { request, served } = write;
  const name = request.name ?? '';
  const subresource = partOf(served, request.subresource);
  const draft = applicationOf(request, { options, write });
  return updateObject(
    {
      name,
      subresource,
      mayCreate: subresource === undefined,
      hasManagedFields: true,
      draft(live) {
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

/** What an apply makes of the live object, with its managers. The body is read when there is something to apply it to. */
export function applicationOf(request: ApiRequest, about: About): (live: ApiObject | undefined) => DraftObject {
  let intent: Intent | undefined;
  return (live) => {
    intent ??= readIntent(request.body, mayRace(about.write));
    request.audit?.requestObject?.(intent.document);
    return draftOf({ intent, ...about }, live);
  };
}

function applyPatch(patchType: DocumentPatch, options: WriteOptions, write: WriteOperation): MaybePromise<WriteResult> {
  const { request, served } = write;
  const name = request.name ?? '';
  const subresource = partOf(served, request.subresource);
  // An absent object is reported before a patch that could not be read.
  requireLive(write);
  const change = readPatch(request, patchType, { options, write });
  return updateObject(
    {
      name,
      subresource,
      mayCreate: false,
      draft(live) {
        invariant(live !== undefined, 'only an existing object is patched');
        return change(live);
      },
    },
    write,
  );
}

/** Users' own kinds know no strategic merge, nor do their views. Throws 415. */
export function requirePatchType(patchType: PatchType, served: ServedKind): void {
  if (patchType !== 'strategic' || served.kind.representation === 'struct') return;
  throw errors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${DOCUMENT_PATCHES}`,
  );
}

const DOCUMENT_PATCHES =
  'application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml, application/apply-patch+cbor';

/** Patches that change what is there. */
export type DocumentPatch = Exclude<PatchType, 'apply'>;

/** What a patch makes of the live object. */
type Change = (live: ApiObject) => DraftObject;

interface About {
  readonly options: WriteOptions;
  readonly write: WriteOperation;
}

/** The patch as a function of the live object. Throws when it cannot be one. */
export function readPatch(request: ApiRequest, patchType: DocumentPatch, about: About): Change {
  const { options, write } = about;
  switch (patchType) {
    case 'json': {
      const document = readDocument(request, about);
      const { fieldValidation } = options;
      const parsed = parseJsonPatch(document.value, { fieldValidation, duplicates: document.duplicates });
      const apply = (live: ApiObject) => ({ ...document, value: applyJsonPatch(live, parsed) });
      return (live) => patched({ live, apply }, parsed.findings, about);
    }
    case 'merge': {
      const document = readDocument(request, about);
      const findings = duplicateFindings(document);
      return (live) => {
        const draft = document.duplicates === undefined ? plainlyPatched(live, document.value, write) : undefined;
        if (draft !== undefined) return draft;
        const apply = (to: ApiObject) => ({
          ...document,
          value: applyMergePatch(asRecord(to), document.value, options),
        });
        return patched({ live, apply }, findings, about);
      };
    }
    case 'strategic': {
      const document = readDocument(request, about);
      return (live) => {
        const draft = document.duplicates === undefined ? plainlyPatched(live, document.value, write) : undefined;
        if (draft !== undefined) return draft;
        const merged = applyStrategicMerge(write.served.schema, asRecord(live), document.value);
        return strategicallyPatched({ merged, live }, duplicateFindings(document), about);
      };
    }
    default:
      return unreachable(patchType);
  }
}

function asRecord(object: ApiObject): Readonly<Record<string, unknown>> {
  return object as unknown as Record<string, unknown>;
}

/** What unreadable patches begin with, unless the client asked not to be told, or the patch is a strategic one. */
const DECODING = 'error decoding patch: ';

function readDocument(request: ApiRequest, { options, write }: About): ParsedBody {
  // The patch may be applied again after a wait; what its sender does with it meanwhile is no part of it.
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
    if (error instanceof BodyError) throw errors.badRequest(unreadable(error, request, options));
    throw error;
  }
}

function unreadable(error: BodyError, request: ApiRequest, options: WriteOptions): string {
  if (request.patchType === 'strategic') return error.message;
  if (options.fieldValidation !== 'Ignore') return `${DECODING}${error.message}`;
  return request.patchType === 'merge' ? 'Invalid JSON Patch' : error.message;
}

/**
 * The patched document as a draft; a document that is no object of the kind any more is a 422 of its own. What no
 * operation opened still has the keys that the patch repeats. `findings` are those of the patch itself.
 */
function patched({ live, apply }: Patching, findings: readonly string[], { options, write }: About): DraftObject {
  const { fieldValidation } = options;
  const document = apply(live);
  // The reference server has custom objects as documents whose keys are sorted, and patches their text.
  const shown = () => (write.served.kind.custom === undefined ? document : apply(inWireOrder(live)));
  const print = () => printPatched(shown());
  const refuse = (why: string) => invalidPatch(print(), why);
  return decodePatched(document, { write, fieldValidation, findings, print, refuse });
}

interface Patching {
  readonly live: ApiObject;
  readonly apply: (to: ApiObject) => ParsedBody;
}

/**
 * The same for a strategic merge, which has another decoder: it speaks about the patch, not about the result, and about
 * the fields of both at once. What the result says it is counts for nothing.
 */
function strategicallyPatched(result: MergedLive, repeated: readonly string[], about: About): DraftObject {
  const { options, write } = about;
  const { merged } = result;
  const { kind } = write.served.gvk;
  const print = () => printGoValue(merged.leftover);
  const refuse = (why: string) => invalidPatch(print(), why);
  const { value, findings } = restoreOrRefuse(result, refuse, write);
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

function restoreOrRefuse(
  { merged, live }: MergedLive,
  refuse: (why: string) => Error,
  write: WriteOperation,
): Restored {
  const { served, server } = write;
  try {
    // What stood there is as it should be, unless it may have come with a state that nobody judged.
    return restore(served.schema, merged.document, server.store.holdsStrangers ? undefined : live);
  } catch (error) {
    throw error instanceof RestoreError ? refuse(error.message) : error;
  }
}

/** The reference server names neither kind nor object here. */
function invalidPatch(document: string, why: string): StatusError {
  const problem = invalid('patch', document, why);
  return failure({
    reason: 'Invalid',
    message: ` "" is invalid: patch: ${problem.message}`,
    details: { causes: [{ reason: causeReason(problem.type), message: problem.message, field: problem.field }] },
  });
}
