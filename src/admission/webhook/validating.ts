/**
 * Webhooks that may only refuse: all at once, about the object as it would be stored. The first refusal to arrive counts.
 * spec: Admission webhooks
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors, StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { asleepWithout } from '../asleep.js';
import { formBelow, type WireObject, wireObject } from '../match/form.js';
import { isNeverSentToWebhooks, matchWebhook } from '../match/match.js';
import type { Match } from '../match/types.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { CallFailure, callHook, refusalOf } from './call.js';
import { CONFIGURATIONS, conditionsHold, type Hook, hooksOf, isConcerned } from './hooks.js';
import type { Reviewed } from './review.js';

export const validatingAdmissionWebhook: AdmissionPlugin = /* @__PURE__ */ asleepWithout([CONFIGURATIONS.validating], {
  name: 'ValidatingAdmissionWebhook',
  looksAt: (served: ServedKind) => !isNeverSentToWebhooks(served),
  connects: true,
  changesNothing: true,
  mayWait: (served: ServedKind, view: ClusterView) => isConcerned('validating', served, view),
  validate,
});

function validate(request: AdmissionRequest, view: ClusterView): MaybePromise<void> {
  if (!isConcerned('validating', request.served, view)) return undefined;
  return askAll(request, view);
}

/** A webhook that is to be asked, with what it is asked about. */
interface Invitation {
  readonly hook: Hook;
  readonly reviewed: Reviewed;
}

async function askAll(request: AdmissionRequest, view: ClusterView): Promise<void> {
  const invited = await invitations(request, view);
  const refusals: unknown[] = [];
  await Promise.all(
    invited.map(async ({ hook, reviewed }, index) => {
      try {
        await askOne(hook, reviewed, { view, index });
      } catch (error) {
        refusals.push(error);
      }
    }),
  );
  if (refusals.length > 0) throw refusals[0];
}

async function invitations(request: AdmissionRequest, view: ClusterView): Promise<readonly Invitation[]> {
  const versions = new Map<string, Omit<Reviewed, 'request' | 'match'>>();
  const invited: Invitation[] = [];
  for (const hook of hooksOf('validating', view)) {
    const match = matchWebhook(hook.webhook, request, view);
    if (match === undefined) continue;
    const { group, version, kind } = match.kind;
    const key = `${group}/${version}/${kind}`;
    let objects = versions.get(key);
    if (objects === undefined) {
      objects = {
        object: await inVersion(request.object, match, { request, view }),
        oldObject: await inVersion(request.oldObject, match, { request, view }),
      };
      versions.set(key, objects);
    }
    const reviewed = { request, match, ...objects };
    if (conditionsHold(hook, reviewed, view)) invited.push({ hook, reviewed });
  }
  return invited;
}

/** Throws 500 where it cannot be converted. */
async function inVersion(
  object: ApiObject | undefined,
  { matched, subresource }: Match,
  { request, view }: { readonly request: AdmissionRequest; readonly view: ClusterView },
): Promise<WireObject | undefined> {
  if (object === undefined) return undefined;
  const form = formBelow(matched, subresource);
  if (form !== matched || matched === request.served) return wireObject(object, form);
  try {
    return wireObject(await view.convert(object, request.served, matched), form);
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    throw errors.internal(error.message, error);
  }
}

async function askOne(
  hook: Hook,
  reviewed: Reviewed,
  { view, index }: { readonly view: ClusterView; readonly index: number },
): Promise<void> {
  try {
    await callHook(hook, reviewed, { type: 'validating', view });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (hook.webhook.failurePolicy !== 'Ignore') throw refusalOf(error);
    const group = view.dialect.group(serviceGroup('failed-open.validating.webhook.admission'));
    reviewed.request.annotate(`${group}/round_0_index_${index}`, hook.webhook.name);
  }
}
