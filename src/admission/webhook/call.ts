/**
 * One webhook is asked. Who answers, answers well; everything else is a failure of the call, and whether that matters is
 * for the webhook's failure policy to say.
 */

import * as z from 'zod';
import type { WebhookCaller } from '../../kinds/reconciler.js';
import { type ReviewType, typeIn, unreadableReview } from '../../kinds/review-answer.js';
import { errors, StatusError } from '../../meta/errors.js';
import { parseApiVersion, printGvk } from '../../meta/gvk.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { Status, StatusDetails, StatusReason } from '../../meta/status.js';
import { decode } from '../../schema/decode.js';
import { DecodeError } from '../../schema/decode-scalar.js';
import { objectFromZod } from '../../schema/from-zod.js';
import { bytes, hint, int32, int64, namedString, optional, pointer, struct } from '../../schema/hints.js';
import type { ObjectNode } from '../../schema/structural.js';
import { once } from '../../schema/type.js';
import { quote } from '../../text/go/go-text.js';
import { decodeBase64Text } from '../../util/base64.js';
import { messageOf } from '../../util/message-of.js';
import { inTime, UnreadableBundle, webhookCaller } from '../../webhook/caller.js';
import type { ClusterView } from '../types.js';
import type { Hook, HookType } from './hooks.js';
import type { Review } from './review.js';
import { type Reviewed, reviewOf, reviewVersionOf } from './review.js';

/** It is no review at all: as bad as no answer. */
class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/** It is a review, but no answer to the question. */
class WrongAnswer extends Error {
  override readonly name = 'WrongAnswer';
}

export const JSON_PATCH = 'JSONPatch';

const text = () => optional(z.string());

const statusCause = () => struct('StatusCause', { reason: text(), message: text(), field: text() });

const statusDetails = () =>
  struct('StatusDetails', {
    name: text(),
    group: text(),
    kind: text(),
    uid: optional(namedString('types.UID')),
    causes: optional(z.array(statusCause())),
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

const reviewIn = (version: string) =>
  once((): ObjectNode => {
    const fields = struct('AdmissionResponse', {
      uid: namedString('types.UID'),
      allowed: z.boolean(),
      status: pointer(status()),
      patch: optional(bytes()),
      patchType: pointer(namedString(`${version}.PatchType`)),
      auditAnnotations: optional(z.record(z.string(), z.string())),
      warnings: optional(z.array(z.string())),
    });
    const response = hint(fields, { goType: `${version}.AdmissionResponse` });
    const review = { kind: text(), apiVersion: text(), response: pointer(response) };
    return objectFromZod(struct('AdmissionReview', review));
  });

const REVIEWS = { v1: reviewIn('v1'), v1beta1: reviewIn('v1beta1') } as const;

/** No answer, or none that counts. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  constructor(webhook: string, why: string, cause?: unknown) {
    super(`failed calling webhook ${quote(webhook)}: ${why}`, { cause });
  }
}

/** Throws a {@link CallFailure}, or the StatusError of a webhook that cannot be asked on a dry run or says no. */
export async function callHook(
  { webhook }: Hook,
  reviewed: Reviewed,
  about: { readonly type: HookType; readonly view: ClusterView },
): Promise<Verdict> {
  const { request } = reviewed;
  const { view, type } = about;
  refuseEffects(webhook, request.dryRun);
  const apiVersion = reviewVersionOf(webhook.admissionReviewVersions ?? [], view.dialect);
  if (apiVersion === undefined) {
    const why = 'webhook does not accept known AdmissionReview versions (v1, v1beta1)';
    throw new CallFailure(webhook.name, `could not create admission objects: ${why}`);
  }
  const review = reviewOf(reviewed, apiVersion, view.outside.uid());
  const { clientConfig: address, timeoutSeconds } = webhook;
  let verdict: Verdict;
  try {
    const call = callerOf(view);
    const limit = { clock: view.clock, address, timeoutSeconds };
    const answer = await inTime(() => call(address, review.body, timeoutSeconds), limit);
    verdict = verdictIn(answer, review, type);
  } catch (error) {
    const what = error instanceof WrongAnswer ? 'received invalid webhook response' : whatFailed(error);
    throw new CallFailure(webhook.name, `${what}: ${messageOf(error)}`, error);
  }
  for (const [key, value] of Object.entries(verdict.auditAnnotations))
    annotate(request, `${webhook.name}/${key}`, value);
  request.warnings.push(...verdict.warnings.filter((text) => text !== ''));
  if (!verdict.allowed) throw denied(webhook.name, verdict.status);
  return verdict;
}

function whatFailed(error: unknown): string {
  return error instanceof UnreadableBundle ? 'could not get REST client' : 'failed to call webhook';
}

/** Who promises nothing about his side effects is not asked what would be. */
function refuseEffects({ name, sideEffects }: Hook['webhook'], dryRun: boolean): void {
  if (!dryRun || sideEffects === 'None' || sideEffects === 'NoneOnDryRun') return;
  const given: string | undefined = sideEffects;
  if (given === undefined) throw new CallFailure(name, 'Webhook SideEffects is nil');
  throw errors.badRequest(`admission webhook ${quote(name)} does not support dry run`);
}

const callers = new WeakMap<ClusterView, WebhookCaller>();

function callerOf(view: ClusterView): WebhookCaller {
  let caller = callers.get(view);
  if (caller === undefined) {
    const service = (namespace: string, name: string) => view.get({ group: '', resource: 'services', namespace, name });
    caller = webhookCaller(view.outside.webhooks, { clock: view.clock, service });
    callers.set(view, caller);
  }
  return caller;
}

/** Notes under names that are none are not taken. */
function annotate(request: Reviewed['request'], key: string, value: string): void {
  const isKey = key.split('/').length === 2 && qualifiedNameProblems(key).length === 0;
  if (isKey) request.annotate(key, value);
}

/** HTTP knows no codes beyond. */
const HIGHEST_CODE = 599;

/** The webhook's own Status, made a failure whatever it says. */
function denied(webhook: string, given: GivenStatus = {}): StatusError {
  const { status, message = '', reason = '', code = 0, details, metadata = {} } = given;
  const why = message || reason;
  const answer: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata,
    // Another word than these two is the webhook's own.
    status: (status === undefined || status === 'Success' ? 'Failure' : status) as Status['status'],
    message: `admission webhook ${quote(webhook)} denied the request${why === '' ? ' without explanation' : `: ${why}`}`,
    ...(reason === '' ? {} : { reason: reason as StatusReason }),
    ...(details === undefined ? {} : { details: details as StatusDetails }),
    code: code < 400 ? 400 : Math.min(code, HIGHEST_CODE),
  };
  return new StatusError(answer);
}

/** What the client is told of a failure that matters. */
export function refusalOf(failure: CallFailure): StatusError {
  return errors.internal(failure.message, failure);
}

/** A Status as a webhook gives it: nothing of it is sure to be there, or to make sense. */
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
  /** The text of a JSON Patch; empty: none. */
  readonly patch: string;
  readonly patchType: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** Throws {@link UnreadableAnswer} or {@link WrongAnswer}. */
function verdictIn(answer: unknown, asked: Review, type: HookType): Verdict {
  const expected: ReviewType = { apiVersion: asked.apiVersion, kind: 'AdmissionReview' };
  const unreadable = unreadableReview(answer, expected);
  if (unreadable !== undefined) throw new UnreadableAnswer(unreadable);
  const isFirst = asked.apiVersion.endsWith('/v1');
  const response = responseIn(answer, isFirst ? 'v1' : 'v1beta1');
  if (response === undefined) throw new WrongAnswer('webhook response was absent');
  const { allowed, status, patch = '', patchType, auditAnnotations = {}, warnings = [] } = response;
  const verdict = { allowed, status, auditAnnotations, warnings };
  // The older review never had to prove that it is an answer, nor to say what its patch is.
  if (!isFirst) {
    const text = type === 'mutating' ? textOf(patch) : '';
    return { ...verdict, patch: text, patchType: text === '' ? '' : JSON_PATCH };
  }
  const problem = wrongAnswer(response, typeIn(answer), { uid: asked.uid, expected, type });
  if (problem !== undefined) throw new WrongAnswer(problem);
  return { ...verdict, patch: textOf(patch), patchType: patchType ?? '' };
}

function textOf(patch: string): string {
  return patch === '' ? '' : decodeBase64Text(patch);
}

function wrongAnswer(
  { uid, patch = '', patchType }: Response,
  said: ReviewType,
  asked: { readonly uid: string; readonly expected: ReviewType; readonly type: HookType },
): string | undefined {
  if (uid !== asked.uid) return `expected response.uid=${quote(asked.uid)}, got ${quote(uid)}`;
  const { expected } = asked;
  if (said.apiVersion !== expected.apiVersion || said.kind !== expected.kind) {
    return `expected webhook response of ${printType(expected)}, got ${printType(said)}`;
  }
  if (asked.type === 'validating') {
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

function responseIn(answer: unknown, version: 'v1' | 'v1beta1'): Response | undefined {
  try {
    const { value } = decode(REVIEWS[version](), { value: answer ?? {} });
    return value['response'] as Response | undefined;
  } catch (error) {
    if (error instanceof DecodeError) throw new UnreadableAnswer(error.message);
    throw error;
  }
}
