/**
 * The ValidatingAdmissionWebhook plugin. All webhooks are called in parallel with the object as it would be stored; the
 * first rejection to arrive is reported. spec: Notable changes in replacements
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { idleWithout } from '../idle.js';
import { isExemptFromWebhooks, matchWebhook } from '../match/match.js';
import { conversionFailure } from '../match/versioned-draft.js';
import { wireObjectFor } from '../match/wire-object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { CallFailure, callWebhook, failureStatus } from './call.js';
import { CONFIGURATIONS, type Hook, hasWebhookFor, hooksOf, matchConditionsHold } from './hooks.js';
import type { Reviewed } from './review.js';

export const validatingAdmissionWebhook: AdmissionPlugin = /* @__PURE__ */ idleWithout([CONFIGURATIONS.validating], {
  name: 'ValidatingAdmissionWebhook',
  handlesKind: (served: ServedKind) => !isExemptFromWebhooks(served),
  handlesConnect: true,
  changesNothing: true,
  mayBeAsynchronous: (served: ServedKind, view: ClusterView) => hasWebhookFor('validating', served, view),
  validate,
});

function validate(request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  if (!hasWebhookFor('validating', request.served, view)) return undefined;
  return callWebhooks(request, view);
}

/** A webhook to call and the request to send. */
interface PendingCall {
  readonly hook: Hook;
  readonly reviewed: Reviewed;
}

async function callWebhooks(request: AdmissionRequest, view: ClusterView): Promise<void> {
  const calls = await pendingCalls(request, view);
  const refusals: unknown[] = [];
  await Promise.all(
    calls.map(async ({ hook, reviewed }, index) => {
      try {
        await callOrFailOpen(hook, reviewed, { view, index });
      } catch (error) {
        refusals.push(error);
      }
    }),
  );
  if (refusals.length > 0) throw refusals[0];
}

async function pendingCalls(request: AdmissionRequest, view: ClusterView): Promise<readonly PendingCall[]> {
  const versions = new Map<string, Omit<Reviewed, 'request' | 'match'>>();
  const calls: PendingCall[] = [];
  for (const hook of hooksOf('validating', view)) {
    const match = matchWebhook(hook.webhook, request, view);
    if (match === undefined) continue;
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    let objects = versions.get(key);
    if (objects === undefined) {
      const conversion = { view, refuse: conversionFailure };
      objects = {
        object: await wireObjectFor(request.object, request.served, match, conversion),
        oldObject: await wireObjectFor(request.oldObject, request.served, match, conversion),
      };
      versions.set(key, objects);
    }
    const reviewed = { request, match, ...objects };
    if (matchConditionsHold(hook, reviewed, view)) calls.push({ hook, reviewed });
  }
  return calls;
}

async function callOrFailOpen(
  hook: Hook,
  reviewed: Reviewed,
  { view, index }: { readonly view: ClusterView; readonly index: number },
): Promise<void> {
  try {
    await callWebhook(hook, reviewed, { type: 'validating', view });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (hook.webhook.failurePolicy !== 'Ignore') throw failureStatus(error);
    const group = view.dialect.group(serviceGroup('failed-open.validating.webhook.admission'));
    reviewed.request.annotate(`${group}/round_0_index_${index}`, hook.webhook.name);
  }
}
