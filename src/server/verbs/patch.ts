/**
 * patch: a change to the live object, in one of the patch languages. spec: patch
 *
 * The patch is applied inside the update, to whatever is live at that moment; a patch that does not mention a version
 * never conflicts.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { applyJsonPatch, parseJsonPatch } from '../../merge/json-patch.js';
import { applyMergePatch } from '../../merge/merge-patch.js';
import { errors, failure, type StatusError } from '../../meta/errors.js';
import { causeReason, invalid } from '../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { BodyError } from '../../protocol/body.js';
import type { ApiRequest, PatchType } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { duplicateFindings } from '../../schema/findings.js';
import { invariant, unreachable } from '../../util/invariant.js';
import { NotJsonError, type ParsedBody, printJson, requireJson } from '../../util/json.js';
import { chain, type MaybePromise } from '../../util/maybe-promise.js';
import { answer, warned } from '../answer.js';
import type { ServerContext } from '../context.js';
import { decodeDocument, type Refusals } from '../decode-body.js';
import { startJob, type WriteJob } from '../job.js';
import { checkPatchOptions, type WriteOptions } from '../options.js';
import { readLive } from '../steps/commit.js';
import { partOf } from '../subresource.js';
import { updateObject, type Written } from '../write.js';

export function patch(context: ServerContext, request: ApiRequest, served: ServedKind): MaybePromise<ObjectResponse> {
  const { patchType } = request;
  invariant(patchType !== undefined, 'a patch request says which patch it is');
  const options = checkPatchOptions(request.options, patchType, context.dialect);
  const job: WriteJob = startJob(context, request, { served, dryRun: options.dryRun });
  const written = warned(job.warnings, () => applyPatch(patchType, options, job));
  return chain(written, ({ object }) => answer(200, object, job.warnings));
}

function applyPatch(patchType: PatchType, options: WriteOptions, job: WriteJob): MaybePromise<Written> {
  const { request, served } = job;
  const name = request.name ?? '';
  const subresource = partOf(served, request.subresource);
  // An absent object is reported before a patch that could not be read.
  if (readLive(job, name) === undefined) throw errors.notFound(served.groupResource, name);
  const change = readPatch(request, patchType, { options, job });
  return updateObject(
    {
      name,
      subresource,
      mayCreate: false,
      draft(live) {
        invariant(live !== undefined, 'only an existing object is patched');
        return patched(change(live), options, job);
      },
    },
    job,
  );
}

type Change = (live: ApiObject) => unknown;

/** The patch as a function of the live object. Throws when it cannot be one. */
export function readPatch(
  request: ApiRequest,
  patchType: PatchType,
  about: { readonly options: WriteOptions; readonly job: WriteJob },
): Change {
  const { options, job } = about;
  switch (patchType) {
    case 'json': {
      const document = readDocument(request, options);
      const parsed = parseJsonPatch(document.value, options);
      const repeated = duplicateFindings(document).map((finding) => `json patch ${finding}`);
      note([...parsed.findings, ...(options.fieldValidation === 'Ignore' ? [] : repeated)], about);
      return (live) => applyJsonPatch(live, parsed);
    }
    case 'merge': {
      const document = readDocument(request, options);
      note(options.fieldValidation === 'Ignore' ? [] : duplicateFindings(document), about);
      return (live) => applyMergePatch(live as unknown as Record<string, unknown>, document.value, options);
    }
    case 'strategic':
    case 'apply':
      throw unsupported(patchType, job);
    default:
      return unreachable(patchType);
  }
}

/** Not modelled yet, and said so: see docs/fidelity.md. */
function unsupported(patchType: PatchType, job: WriteJob): Error {
  const what = patchType === 'apply' ? 'server-side apply' : 'strategic merge patch';
  return failure({
    reason: 'UnsupportedMediaType',
    message: `orchplane does not support ${what} yet; use a JSON patch or a JSON merge patch (see docs/fidelity.md)`,
    details: { kind: job.served.gvr.resource },
  });
}

/** What unreadable patches begin with, unless the client asked not to be told. */
const DECODING = 'error decoding patch: ';

function readDocument(request: ApiRequest, options: WriteOptions): ParsedBody {
  // The patch may be applied again after a wait; what its sender does with it meanwhile is no part of it.
  const body = request.body?.detach?.() ?? request.body;
  try {
    if (body === undefined) throw new BodyError('unexpected end of JSON input');
    const document = body.read();
    requireJson(document.value);
    return document;
  } catch (error) {
    if (error instanceof NotJsonError) throw errors.badRequest(`${DECODING}json: ${error.message}`);
    if (error instanceof BodyError) throw errors.badRequest(unreadable(error, request, options));
    throw error;
  }
}

function unreadable(error: BodyError, request: ApiRequest, options: WriteOptions): string {
  if (options.fieldValidation !== 'Ignore') return `${DECODING}${error.message}`;
  return request.patchType === 'merge' ? 'Invalid JSON Patch' : error.message;
}

/** Findings of the patch document itself: warned about, or, when strict, the end of it. */
function note(findings: readonly string[], about: { readonly options: WriteOptions; readonly job: WriteJob }): void {
  if (findings.length === 0) return;
  if (about.options.fieldValidation === 'Strict') {
    throw invalidPatch('', `strict decoding error: ${findings.join(', ')}`);
  }
  about.job.warnings.push(...findings);
}

/** The patched document as a draft; a document that is no object of the kind any more is a 422 of its own. */
export function patched(document: unknown, options: WriteOptions, job: WriteJob): DraftObject {
  const { context, served } = job;
  const refuse = (why: string) => invalidPatch(printJson(document), why);
  const refusals: Refusals = {
    unrecognized: refuse,
    unfit: refuse,
  };
  const { fieldValidation } = options;
  const decoded = decodeDocument(
    { value: document },
    { served, registry: context.registry, fieldValidation },
    refusals,
  );
  job.warnings.push(...decoded.warnings);
  served.kind.strategy.defaults?.(decoded.draft, job.moment);
  return decoded.draft;
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
