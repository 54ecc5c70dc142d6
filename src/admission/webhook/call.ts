/**
 * One webhook is asked. Who answers, answers well; everything else is a failure of the call, and whether that matters is
 * for the webhook's failure policy to say.
 */
import type { WebhookCaller } from '../../kinds/attendant.js';
import { errors, StatusError } from '../../meta/errors.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { Status, StatusDetails, StatusReason } from '../../meta/status.js';
import { quote } from '../../text/go/go-text.js';
import { messageOf } from '../../util/message-of.js';
import { inTime, UnreadableBundle, webhookCaller } from '../../webhook/caller.js';
import type { ClusterView } from '../types.js';
import { type GivenStatus, type Verdict, verdictIn, WrongAnswer } from './answer.js';
import type { Hook, HookType } from './hooks.js';
import { type Reviewed, reviewOf, reviewVersionOf } from './review.js';

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
