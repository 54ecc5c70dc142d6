/**
 * The MutatingAdmissionWebhook plugin. Webhooks run one after the other; each receives the result of the previous ones, in
 * the version that it matched. spec: Notable changes in replacements
 */

import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { translateError } from '../../util/catch-error.js';
import { encodeSorted, printJson } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { idleWithout } from '../idle.js';
import { isExemptFromWebhooks, matchWebhook } from '../match/match.js';
import { Reinvocation } from '../match/reinvocation.js';
import type { MatchedRequest } from '../match/types.js';
import { VersionedDraft } from '../match/versioned-draft.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { CallFailure, callWebhook, failureStatus, JSON_PATCH, type Verdict } from './call.js';
import { CONFIGURATIONS, type Hook, hasWebhookFor, hooksOf, matchConditionsHold } from './hooks.js';
import { applyOperations, PatchFailure, patchOperations } from './json-patch.js';
import type { Reviewed } from './review.js';

export const mutatingAdmissionWebhook: AdmissionPlugin = /* @__PURE__ */ idleWithout([CONFIGURATIONS.mutating], {
  name: 'MutatingAdmissionWebhook',
  handlesKind: (served: ServedKind) => !isExemptFromWebhooks(served),
  handlesConnect: true,
  changesNothing: (view: ClusterView) => hooksOf('mutating', view).length === 0,
  decodesChanges: true,
  mayBeAsynchronous: (served: ServedKind, view: ClusterView) => hasWebhookFor('mutating', served, view),
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (!hasWebhookFor('mutating', request.served, view)) return undefined;
  return callWebhooks(request, view);
}

async function callWebhooks(request: AdmissionRequest<DraftObject>, view: ClusterView): Promise<void> {
  const reinvocation = Reinvocation.of(mutatingAdmissionWebhook, request.rounds);
  const versioned = new VersionedDraft(request, view);
  reinvocation.beginRound(request.object);
  try {
    for (const hook of hooksOf('mutating', view)) {
      await callIfMatched(hook, { request, view, versioned, reinvocation });
    }
    await versioned.finish();
  } finally {
    reinvocation.endRound(request.object);
  }
}

interface CallContext {
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
  readonly versioned: VersionedDraft;
  readonly reinvocation: Reinvocation;
}

async function callIfMatched(hook: Hook, context: CallContext): Promise<void> {
  const { request, view, versioned, reinvocation } = context;
  const { webhook } = hook;
  // The object with the labels that earlier webhooks set.
  const match = matchWebhook(webhook, withObject(request, versioned.current), view);
  if (match === undefined) return;
  if ((webhook.matchConditions ?? []).length > 0) {
    const reviewed = { request, ...(await versioned.convertTo(match)) };
    if (!matchConditionsHold(hook, reviewed, view)) return;
  }
  if (!reinvocation.shouldInvoke(hook.key)) return;
  const reviewed = { request, ...(await versioned.convertTo(match)) };
  let failure: unknown;
  let isChanged = false;
  try {
    const verdict = await callWebhook(hook, reviewed, { type: 'mutating', view });
    isChanged = applyVerdict(verdict, hook, { ...context, reviewed });
  } catch (error) {
    failure = error;
  }
  annotateMutation(hook, request, view, isChanged);
  if (isChanged) reinvocation.objectChanged();
  if (webhook.reinvocationPolicy === 'IfNeeded') reinvocation.allowReinvocation(hook.key);
  if (failure === undefined) return;
  if (!(failure instanceof CallFailure)) throw failure;
  if (webhook.failurePolicy !== 'Ignore') throw failureStatus(failure);
  request.annotate(annotationKey('failed-open.mutation', hook, { request, view }), webhook.name);
}

function withObject(request: AdmissionRequest<DraftObject>, object: DraftObject | undefined): MatchedRequest {
  const { operation, served, subresource, namespace, sentName, oldObject, objectKind } = request;
  return { operation, served, subresource, namespace, sentName, object, oldObject, objectKind };
}

/** Applies the patch of a webhook. Returns whether the object changed. */
function applyVerdict(verdict: Verdict, hook: Hook, context: CallContext & { readonly reviewed: Reviewed }): boolean {
  const { reviewed, versioned, request, view } = context;
  const { webhook, configuration } = hook;
  if (verdict.patch === '') return false;
  const operations = parsePatch(verdict.patch);
  if (operations.length === 0) return false;
  if (reviewed.object === undefined) {
    const what = 'attempted to modify the object, which is not supported for this operation';
    throw errors.internal(`admission webhook ${quote(webhook.name)} ${what}`);
  }
  if (verdict.patchType !== JSON_PATCH) {
    throw new CallFailure(webhook.name, `unsupported patch type ${quote(verdict.patchType)}`);
  }
  const apply = () => applyOperations(operations, reviewed.object);
  const isChanged = versioned.accept(
    translateError(PatchFailure, apply, (error) => errors.internal(error.message, error)),
  );
  const patch = operations.map(encodeSorted).join(',');
  const note = `{"configuration":${printJson(configuration)},"webhook":${printJson(webhook.name)},"patch":[${patch}],"patchType":"${JSON_PATCH}"}`;
  request.annotate(annotationKey('patch', hook, { request, view }), note, 'body');
  return isChanged;
}

function parsePatch(patch: string): readonly unknown[] {
  try {
    return patchOperations(parseJson(patch).value);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError) && !StatusError.is(error)) throw error;
    throw errors.internal(error.message, error);
  }
}

function annotateMutation(
  hook: Hook,
  request: AdmissionRequest<DraftObject>,
  view: ClusterView,
  mutated: boolean,
): void {
  const { configuration, webhook } = hook;
  const note = printJson({ configuration, webhook: webhook.name, mutated });
  request.annotate(annotationKey('mutation', hook, { request, view }), note);
}

function annotationKey(
  name: string,
  { index }: Hook,
  { request, view }: { readonly request: AdmissionRequest<DraftObject>; readonly view: ClusterView },
): string {
  const group = view.dialect.group(serviceGroup(`${name}.webhook.admission`));
  return `${group}/round_${request.rounds.round}_index_${index}`;
}
