/**
 * Webhooks that may change the object: one after the other, each sees what those before it have made of it, in the
 * version that it asks for. spec: Admission webhooks
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { DraftObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { encodeSorted, printJson } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { asleepWithout } from '../asleep.js';
import { isNeverSentToWebhooks, matchWebhook } from '../match/match.js';
import { Reinvocation } from '../match/reinvocation.js';
import { ShownObject } from '../match/shown-object.js';
import type { MatchedRequest } from '../match/types.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { CallFailure, callHook, JSON_PATCH, refusalOf, type Verdict } from './call.js';
import { CONFIGURATIONS, conditionsHold, type Hook, hooksOf, isConcerned } from './hooks.js';
import { applyOperations, operationsIn, PatchFailure } from './json-patch.js';
import type { Reviewed } from './review.js';

export const mutatingAdmissionWebhook: AdmissionPlugin = /* @__PURE__ */ asleepWithout([CONFIGURATIONS.mutating], {
  name: 'MutatingAdmissionWebhook',
  looksAt: (served: ServedKind) => !isNeverSentToWebhooks(served),
  connects: true,
  changesNothing: (view: ClusterView) => hooksOf('mutating', view).length === 0,
  mayWait: (served: ServedKind, view: ClusterView) => isConcerned('mutating', served, view),
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): MaybePromise<void> {
  if (!isConcerned('mutating', request.served, view)) return undefined;
  return askAll(request, view);
}

async function askAll(request: AdmissionRequest<DraftObject>, view: ClusterView): Promise<void> {
  const reinvocation = Reinvocation.of(mutatingAdmissionWebhook, request.rounds);
  const shown = new ShownObject(request, view);
  reinvocation.begin(request.object);
  try {
    for (const hook of hooksOf('mutating', view)) {
      await askOne(hook, { request, view, shown, reinvocation });
    }
    await shown.finish();
  } finally {
    reinvocation.end(request.object);
  }
}

interface About {
  readonly request: AdmissionRequest<DraftObject>;
  readonly view: ClusterView;
  readonly shown: ShownObject;
  readonly reinvocation: Reinvocation;
}

async function askOne(hook: Hook, about: About): Promise<void> {
  const { request, view, shown, reinvocation } = about;
  const { webhook } = hook;
  // Labels that a webhook before has set count.
  const match = matchWebhook(webhook, withObject(request, shown.current), view);
  if (match === undefined) return;
  if ((webhook.matchConditions ?? []).length > 0) {
    const reviewed = { request, ...(await shown.in(match)) };
    if (!conditionsHold(hook, reviewed, view)) return;
  }
  if (!reinvocation.isAsked(hook.key)) return;
  const reviewed = { request, ...(await shown.in(match)) };
  let failure: unknown;
  let isChanged = false;
  try {
    const verdict = await callHook(hook, reviewed, { type: 'mutating', view });
    isChanged = applyVerdict(verdict, hook, { ...about, reviewed });
  } catch (error) {
    failure = error;
  }
  annotateMutation(hook, request, view, isChanged);
  if (isChanged) reinvocation.changed();
  if (webhook.reinvocationPolicy === 'IfNeeded') reinvocation.wantsAgain(hook.key);
  if (failure === undefined) return;
  if (!(failure instanceof CallFailure)) throw failure;
  if (webhook.failurePolicy !== 'Ignore') throw refusalOf(failure);
  request.annotate(noteKey('failed-open.mutation', hook, { request, view }), webhook.name);
}

function withObject(request: AdmissionRequest<DraftObject>, object: DraftObject | undefined): MatchedRequest {
  const { operation, served, subresource, namespace, sentName, oldObject, objectKind } = request;
  return { operation, served, subresource, namespace, sentName, object, oldObject, objectKind };
}

/** Does what the webhook wants. Says whether that changed anything. */
function applyVerdict(verdict: Verdict, hook: Hook, about: About & { readonly reviewed: Reviewed }): boolean {
  const { reviewed, shown, request, view } = about;
  const { webhook, configuration } = hook;
  if (verdict.patch === '') return false;
  const operations = operationsOf(verdict.patch);
  if (operations.length === 0) return false;
  if (reviewed.object === undefined) {
    const what = 'attempted to modify the object, which is not supported for this operation';
    throw errors.internal(`admission webhook ${quote(webhook.name)} ${what}`);
  }
  if (verdict.patchType !== JSON_PATCH) {
    throw new CallFailure(webhook.name, `unsupported patch type ${quote(verdict.patchType)}`);
  }
  const isChanged = shown.take(patched(operations, reviewed.object));
  const patch = operations.map(encodeSorted).join(',');
  const note = `{"configuration":${printJson(configuration)},"webhook":${printJson(webhook.name)},"patch":[${patch}],"patchType":"${JSON_PATCH}"}`;
  request.annotate(noteKey('patch', hook, { request, view }), note, 'body');
  return isChanged;
}

function operationsOf(patch: string): readonly unknown[] {
  try {
    return operationsIn(parseJson(patch).value);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError) && !StatusError.is(error)) throw error;
    throw errors.internal(error.message, error);
  }
}

function patched(operations: readonly unknown[], object: unknown): unknown {
  try {
    return applyOperations(operations, object);
  } catch (error) {
    if (!(error instanceof PatchFailure)) throw error;
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
  request.annotate(noteKey('mutation', hook, { request, view }), note);
}

function noteKey(
  name: string,
  { index }: Hook,
  { request, view }: { readonly request: AdmissionRequest<DraftObject>; readonly view: ClusterView },
): string {
  const group = view.dialect.group(serviceGroup(`${name}.webhook.admission`));
  return `${group}/round_${request.rounds.round}_index_${index}`;
}
