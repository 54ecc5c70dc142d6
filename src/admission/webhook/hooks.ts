/**
 * The webhooks of all configurations in calling order: by configuration name, then by position in the configuration.
 */

import type { MutatingWebhook, ValidatingWebhook } from '../../kinds/generated/admissionregistration-v1.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { getOrInsertComputed } from '../../util/once.js';
import { webhookConditions } from '../cel/match-conditions.js';
import { cacheUntilChanged } from '../idle.js';
import { isExemptFromWebhooks } from '../match/match.js';
import type { ClusterView } from '../types.js';
import type { Reviewed } from './review.js';

export interface Hook {
  /** Position among all webhooks; audit annotations contain it. */
  readonly index: number;
  /** Identity across reinvocation rounds. */
  readonly key: string;
  readonly configuration: string;
  /** Only mutating webhooks have a reinvocation policy. */
  readonly webhook: ValidatingWebhook & Pick<Partial<MutatingWebhook>, 'reinvocationPolicy'>;
}

export type HookType = 'mutating' | 'validating';

// Constant objects: the view counts changes by object identity of the resource.
export const CONFIGURATIONS: Readonly<Record<HookType, GroupResource>> = {
  mutating: { group: serviceGroup('admissionregistration'), resource: 'mutatingwebhookconfigurations' },
  validating: { group: serviceGroup('admissionregistration'), resource: 'validatingwebhookconfigurations' },
};

const cachedHooks = {
  mutating: readHooks(CONFIGURATIONS.mutating),
  validating: readHooks(CONFIGURATIONS.validating),
};

/** @__NO_SIDE_EFFECTS__ */
function readHooks(configurations: GroupResource) {
  return cacheUntilChanged([configurations], (view: ClusterView) => ({
    hooks: sortedHooks(view.list(configurations)),
    namedKinds: new WeakMap<ServedKind, boolean>(),
  }));
}

/** The list is cached until a configuration changes. */
export function hooksOf(type: HookType, view: ClusterView): readonly Hook[] {
  return cachedHooks[type](view).hooks;
}

/** Whether some webhook has a rule for this kind, in any version, or for a subresource of it. */
export function hasWebhookFor(type: HookType, served: ServedKind, view: ClusterView): boolean {
  const { hooks, namedKinds } = cachedHooks[type](view);
  if (hooks.length === 0 || isExemptFromWebhooks(served)) return false;
  return getOrInsertComputed(namedKinds, served, () => {
    const versions = view.versionsOf(served);
    return hooks.some(({ webhook }) => (webhook.rules ?? []).some((rule) => versions.some(isMatchedBy(rule))));
  });
}

type Rule = NonNullable<ValidatingWebhook['rules']>[number];

function isMatchedBy({ apiGroups = [], resources = [] }: Rule): (served: ServedKind) => boolean {
  return ({ gvr }) =>
    apiGroups.some((group) => group === '*' || group === gvr.group) &&
    resources.some((text) => {
      const [resource] = text.split('/', 1);
      return resource === '*' || resource === gvr.resource;
    });
}

function sortedHooks(configurations: readonly ApiObject[]): readonly Hook[] {
  const sorted = [...configurations].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  const hooks: Hook[] = [];
  for (const configuration of sorted) {
    const { name } = configuration.metadata;
    for (const webhook of (configuration['webhooks'] ?? []) as readonly Hook['webhook'][]) {
      // Names are unique within a configuration.
      hooks.push({ index: hooks.length, key: `${name}/${webhook.name}`, configuration: name, webhook });
    }
  }
  return hooks;
}

/** Whether the match conditions hold. Throws 403 if they cannot be evaluated and the failure policy is Fail. */
export function matchConditionsHold({ webhook }: Hook, reviewed: Reviewed, view: ClusterView): boolean {
  const { matchConditions, failurePolicy } = webhook;
  if (matchConditions === undefined || matchConditions.length === 0) return true;
  const { request, match, object, oldObject } = reviewed;
  // The kind is the one that the webhook receives; the resource is the requested one.
  const { gvr } = request.served;
  const input = { request, kind: match.kind, resource: gvr, object, oldObject, view };
  const verdict = webhookConditions(matchConditions, failurePolicy, input);
  if (verdict.error === undefined) return verdict.matches;
  throw errors.forbidden({ group: gvr.group, resource: gvr.resource }, request.sentName, verdict.error);
}
