/**
 * Calls one admission webhook and reads its response. Everything but a well-formed response is a {@link CallFailure};
 * the webhook's failure policy decides what becomes of it.
 */

import type { WebhookCaller } from '../../kinds/reconciler.js';
import { type ReviewType, reviewTypeProblem, typeMetaOf } from '../../kinds/review-answer.js';
import { errors, StatusError } from '../../meta/errors.js';
import { parseApiVersion, printGvk } from '../../meta/gvk.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { Status, StatusDetails, StatusReason } from '../../meta/status.js';
import {
  boolean,
  bytes,
  int32,
  int64,
  list,
  map,
  namedString,
  objectNode,
  optional,
  pointer,
  string,
  struct,
} from '../../schema/declare.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import type { ObjectNode } from '../../schema/schema-node.js';
import { quote } from '../../text/go/go-text.js';
import { append } from '../../util/arrays.js';
import { decodeBase64Text } from '../../util/base64.js';
import { translateError } from '../../util/catch-error.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed, once } from '../../util/once.js';
import { UnreadableBundle } from '../../webhook/ca-bundle.js';
import { createWebhookCaller, withTimeLimit } from '../../webhook/caller.js';
import { paceOf } from '../evaluation-pace.js';
import type { ClusterView } from '../types.js';
import type { Hook, HookType } from './hooks.js';
import { type Review, type Reviewed, reviewOf, reviewVersionOf } from './review.js';

export const JSON_PATCH = 'JSONPatch';

/** The webhook could not be called, or its response is invalid. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  constructor(webhook: string, why: string, cause?: unknown) {
    super(`failed calling webhook ${quote(webhook)}: ${why}`, { cause });
  }
}

/** Throws a {@link CallFailure}, or the StatusError of a webhook that denies or does not support dry run. */
export async function callWebhook(
  { webhook }: Hook,
  reviewed: Reviewed,
  context: { readonly type: HookType; readonly view: ClusterView },
): Promise<Verdict> {
  const { request } = reviewed;
  const { view, type } = context;
  rejectDryRun(webhook, request.dryRun);
  paceOf(request).requireTime(view.clock.now());
  const apiVersion = reviewVersionOf(webhook.admissionReviewVersions ?? [], view.dialect);
  if (apiVersion === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(webhook.name, `could not create admission objects: ${why}`);
  }
  const review = reviewOf(reviewed, apiVersion, view.externalCalls.uid());
  const { clientConfig: address, timeoutSeconds } = webhook;
  let verdict: Verdict;
  try {
    const call = callerOf(view);
    const limit = { clock: view.clock, address, timeoutSeconds };
    const answer = await withTimeLimit(() => call(address, review.body, timeoutSeconds), limit);
    verdict = parseVerdict(answer, review, type);
  } catch (error) {
    const what = error instanceof InvalidResponse ? 'received invalid webhook response' : failurePrefix(error);
    throw new CallFailure(webhook.name, `${what}: ${messageOf(error)}`, error);
  }
  for (const [key, value] of Object.entries(verdict.auditAnnotations))
    annotate(request, `${webhook.name}/${key}`, value);
  append(
    request.warnings,
    verdict.warnings.filter((text) => text !== ''),
  );
  if (!verdict.allowed) throw deniedError(webhook.name, verdict.status);
  return verdict;
}

function failurePrefix(error: unknown): string {
  return error instanceof UnreadableBundle ? 'could not get REST client' : 'failed to call webhook';
}

/** Rejects dry-run requests to webhooks that may have side effects. */
function rejectDryRun({ name, sideEffects }: Hook['webhook'], dryRun: boolean): void {
  if (!dryRun || sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  const given: string | undefined = sideEffects;
  if (given === undefined) throw new CallFailure(name, 'Webhook SideEffects is nil');
  throw errors.badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

const callers = new WeakMap<ClusterView, WebhookCaller>();

function callerOf(view: ClusterView): WebhookCaller {
  return getOrInsertComputed(callers, view, () => {
    const { clock, dialect, externalCalls } = view;
    const { webhooks, runtimeSlot } = externalCalls;
    return createWebhookCaller(webhooks, { clock, dialect, objects: view, runtimeSlot });
  });
}

/** Drops annotations whose key is not a valid qualified name. */
function annotate(request: Reviewed['request'], key: string, value: string): void {
  const isKey = key.split('/').length === 2 && qualifiedNameProblems(key).length === 0;
  if (isKey) request.annotate(key, value);
}

/** The highest HTTP status code. */
const HIGHEST_CODE = 599;

/** The StatusError of a denied request: the webhook's own Status, forced to be a failure. */
function deniedError(webhook: string, given: GivenStatus = {}): StatusError {
  const { status, message = '', reason = '', code = 0, details, metadata = {} } = given;
  const why = message || reason;
  const answer: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    // Any other value is passed on.
    status: (status === undefined || status === 'Success' ? 'Failure' : status) as Status['status'],
    message: `admission webhook ${quote(webhook)} denied the request${why === '' ? ' without explanation' : `: ${why}`}`,
    ...(reason === '' ? {} : { reason: reason as StatusReason }),
    ...(details === undefined ? {} : { details: details as StatusDetails }),
    code: code < 400 ? 400 : Math.min(code, HIGHEST_CODE),
  };
  return new StatusError(answer);
}

/** The 500 for a failure that the failure policy does not ignore. */
export function failureStatus(failure: CallFailure): StatusError {
  return errors.internal(failure.message, failure);
}

/** A Status as a webhook sends it, not validated. */
interface GivenStatus {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly code?: number;
}

export interface Verdict {
  readonly allowed: boolean;
  readonly status: GivenStatus | undefined;
  /** The text of a JSON Patch; empty if there is none. */
  readonly patch: string;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** The response is not an AdmissionReview. */
class UnreadableResponse extends Error {
  override readonly name = 'UnreadableResponse';
}

/** The response is an AdmissionReview, but does not answer this request. */
class InvalidResponse extends Error {
  override readonly name = 'InvalidResponse';
}

/** Throws {@link UnreadableResponse} or {@link InvalidResponse}. */
function parseVerdict(answer: unknown, sent: Review, type: HookType): Verdict {
  const expected: ReviewType = { apiVersion: sent.apiVersion, kind: 'AdmissionReview' };
  const unreadable = reviewTypeProblem(answer, expected);
  if (unreadable !== undefined) throw new UnreadableResponse(unreadable);
  const isV1 = sent.apiVersion.endsWith('/v1');
  const response = decodeResponse(answer, isV1 ? 'v1' : 'v1beta1');
  if (response === undefined) throw new InvalidResponse('webhook response was absent');
  const { allowed, status, patch = '', patchType, auditAnnotations = {}, warnings = [] } = response;
  const verdict = { allowed, status, auditAnnotations, warnings };
  // v1beta1 responses need neither a uid nor a patchType.
  if (!isV1) {
    const text = type === 'mutating' ? decodePatch(patch) : '';
    return { ...verdict, patch: text, patchType: text === '' ? '' : JSON_PATCH };
  }
  const problem = responseProblem(response, typeMetaOf(answer), { uid: sent.uid, expected, type });
  if (problem !== undefined) throw new InvalidResponse(problem);
  return { ...verdict, patch: decodePatch(patch), patchType: patchType ?? '' };
}

function decodePatch(patch: string): string {
  return patch === '' ? '' : decodeBase64Text(patch);
}

function responseProblem(
  { uid, patch = '', patchType }: Response,
  received: ReviewType,
  sent: { readonly uid: string; readonly expected: ReviewType; readonly type: HookType },
): string | undefined {
  if (uid !== sent.uid) return `expected response.uid=${quote(sent.uid)}, got ${quote(uid)}`;
  const { expected } = sent;
  if (received.apiVersion !== expected.apiVersion || received.kind !== expected.kind) {
    return `expected webhook response of ${printType(expected)}, got ${printType(received)}`;
  }
  if (sent.type === 'validating') {
    if (patch !== '') return 'validating webhook may not return response.patch';
    return patchType === undefined ? undefined : 'validating webhook may not return response.patchType';
  }
  if (patch !== '' && patchType === undefined) return 'webhook returned response.patch but not response.patchType';
  if (patch === '' && patchType !== undefined) return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function printType({ apiVersion, kind }: ReviewType): string {
  return printGvk({ group: '', version: '', ...parseApiVersion(apiVersion), kind });
}

interface Response {
  readonly uid: string;
  readonly allowed: boolean;
  readonly status?: GivenStatus;
  readonly patch?: string;
  readonly patchType?: string;
  readonly auditAnnotations?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[];
}

const text = () => optional(string());

const statusCause = () => struct('StatusCause', { reason: text(), message: text(), field: text() });

const statusDetails = () =>
  struct('StatusDetails', {
    name: text(),
    group: text(),
    kind: text(),
    uid: optional(namedString('types.UID')),
    causes: optional(list(statusCause())),
    retryAfterSeconds: optional(int32()),
  });

const listMeta = () =>
  struct('ListMeta', {
    selfLink: text(),
    resourceVersion: text(),
    continue: text(),
    remainingItemCount: pointer(int64()),
  });

const status = () =>
  struct('Status', {
    kind: text(),
    apiVersion: text(),
    metadata: optional(listMeta()),
    status: text(),
    message: text(),
    reason: optional(namedString('v1.StatusReason')),
    details: pointer(statusDetails()),
    code: optional(int32()),
  });

const reviewSchema = (version: string) =>
  once((): ObjectNode => {
    const response = struct(`${version}.AdmissionResponse`, {
      uid: namedString('types.UID'),
      allowed: boolean(),
      status: pointer(status()),
      patch: optional(bytes()),
      patchType: pointer(namedString(`${version}.PatchType`)),
      auditAnnotations: optional(map(string())),
      warnings: optional(list(string())),
    });
    const review = { kind: text(), apiVersion: text(), response: pointer(response) };
    return objectNode('AdmissionReview', review);
  });

const REVIEW_SCHEMAS = { v1: reviewSchema('v1'), v1beta1: reviewSchema('v1beta1') } as const;

function decodeResponse(answer: unknown, version: 'v1' | 'v1beta1'): Response | undefined {
  const read = () => decode(REVIEW_SCHEMAS[version](), { value: answer ?? {} });
  const { value } = translateError(DecodeError, read, ({ message }) => new UnreadableResponse(message));
  return value['response'] as Response | undefined;
}
