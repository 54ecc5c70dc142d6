/**
 * The webhooks of all configurations, in the order in which they are asked: by the name of the configuration, then as
 * they stand in it.
 */
import type { MutatingWebhook, ValidatingWebhook } from '../../kinds/admissionregistration/v1/webhook.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { GroupResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { webhookConditions } from '../cel/match-conditions.js';
import { isNeverSentToWebhooks } from '../match/match.js';
import type { ClusterView } from '../types.js';
import type { Reviewed } from './review.js';

export interface Hook {
  /** Its place among all webhooks; records of a request name it. */
  readonly index: number;
  /** Its identity from one round to the next. */
  readonly key: string;
  readonly configuration: string;
  /** What mutating ones have beyond this says how often they are asked. */
  readonly webhook: ValidatingWebhook & Pick<Partial<MutatingWebhook>, 'reinvocationPolicy'>;
}

export type HookType = 'mutating' | 'validating';

// One object each: a view knows the number of changes by it.
export const CONFIGURATIONS: Readonly<Record<HookType, GroupResource>> = {
  mutating: { group: serviceGroup('admissionregistration'), resource: 'mutatingwebhookconfigurations' },
  validating: { group: serviceGroup('admissionregistration'), resource: 'validatingwebhookconfigurations' },
};

interface Known {
  readonly changes: number;
  readonly hooks: readonly Hook[];
  readonly concerned: WeakMap<ServedKind, boolean>;
}

const known: Readonly<Record<HookType, WeakMap<ClusterView, Known>>> = {
  mutating: new WeakMap(),
  validating: new WeakMap(),
};

/** The same list until a configuration changes. */
export function hooksOf(type: HookType, view: ClusterView): readonly Hook[] {
  return stateOf(type, view).hooks;
}

/** Whether a webhook names objects of this kind, in whatever version, or anything below them. */
export function isConcerned(type: HookType, served: ServedKind, view: ClusterView): boolean {
  const { hooks, concerned } = stateOf(type, view);
  if (hooks.length === 0 || isNeverSentToWebhooks(served)) return false;
  let answer = concerned.get(served);
  if (answer === undefined) {
    const versions = view.versionsOf(served);
    answer = hooks.some(({ webhook }) => (webhook.rules ?? []).some((rule) => versions.some(isNamedBy(rule))));
    concerned.set(served, answer);
  }
  return answer;
}

type Rule = NonNullable<ValidatingWebhook['rules']>[number];

function isNamedBy({ apiGroups = [], resources = [] }: Rule): (served: ServedKind) => boolean {
  return ({ gvr }) =>
    apiGroups.some((group) => group === '*' || group === gvr.group) &&
    resources.some((text) => {
      const [resource] = text.split('/', 1);
      return resource === '*' || resource === gvr.resource;
    });
}

function stateOf(type: HookType, view: ClusterView): Known {
  const resource = CONFIGURATIONS[type];
  const changes = view.changes(resource);
  const before = known[type].get(view);
  if (before !== undefined && before.changes === changes) return before;
  const state = { changes, hooks: inOrder(view.list(resource)), concerned: new WeakMap() };
  known[type].set(view, state);
  return state;
}

function inOrder(configurations: readonly ApiObject[]): readonly Hook[] {
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

/** Throws 403 where that cannot be told, unless the webhook is one that may fail. */
export function conditionsHold({ webhook }: Hook, reviewed: Reviewed, view: ClusterView): boolean {
  const { matchConditions, failurePolicy } = webhook;
  if (matchConditions === undefined || matchConditions.length === 0) return true;
  const { request, match, object, oldObject } = reviewed;
  // The kind is the one that the webhook sees; the resource is the one that was asked for.
  const { gvr } = request.served;
  const input = { request, kind: match.kind, resource: gvr, object, oldObject, view };
  const verdict = webhookConditions(matchConditions, failurePolicy, input);
  if (verdict.error === undefined) return verdict.matches;
  throw errors.forbidden({ group: gvr.group, resource: gvr.resource }, request.sentName, verdict.error);
}
