/**
 * Validation and columns of the webhooks in both webhook configuration kinds.
 */

import { duplicate, type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { labelSelectorObjectErrors } from '../../../meta/labels.js';
import { dnsSubdomainProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { hasSentEmpty, wasSentEmpty } from '../../../schema/empty-values.js';
import { append } from '../../../util/arrays.js';
import { deepEqual } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import type { ValidatingWebhook } from '../../generated/admissionregistration-v1.js';
import type { StrategyDefinition } from '../../kind.js';
import { ageColumn, countColumn, nameColumn } from '../../shared/common-columns.js';
import { optionalValueErrors, valueErrors } from '../../shared/field-rules.js';
import { REVIEW_VERSIONS, reviewVersionErrors, webhookClientErrors } from '../../shared/webhook-client.js';
import {
  FAILURE_POLICIES,
  matchConditionErrors,
  matchPolicyErrors,
  REINVOCATION_POLICIES,
  ruleErrors,
} from './match-resources.js';

type AnyWebhook = ValidatingWebhook & { readonly reinvocationPolicy?: string };

/** The strategy of both webhook configuration kinds. */
export const webhooksStrategy: StrategyDefinition = {
  update: { allowUnconditionalUpdate: false, validationOrder: ['create'] },
  create: {
    metadataValidation: 'repeated',
    validate: (object, _context, live) => webhookErrors(webhooksOf(object), live && webhooksOf(live)),
  },
  write: {
    // The reference server compares empty lists with absent ones here.
    generation: (next, live) =>
      !deepEqual(next['webhooks'], live['webhooks']) ||
      wasSentEmpty(next, 'webhooks') ||
      hasSentEmpty(next['webhooks']),
  },
};

/** The table columns of both kinds. */
export const webhooksColumns: readonly Column[] = [
  nameColumn,
  countColumn('Webhooks', 'The number of webhooks.', (object) => webhooksOf(object).length),
  ageColumn,
];

function webhooksOf(object: ApiObject): readonly AnyWebhook[] {
  return (object['webhooks'] ?? []) as readonly AnyWebhook[];
}

/** Validates the webhooks of a configuration; `live` are those of the live object. */
export function webhookErrors(webhooks: readonly AnyWebhook[], live?: readonly AnyWebhook[]): FieldError[] {
  const conditions = conditionOptions(webhooks, live);
  const found: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, webhook] of webhooks.entries()) {
    const path = keyPath('webhooks', index);
    append(found, oneWebhookErrors(webhook, path));
    append(found, conditions(webhook, `${path}.matchConditions`));
    append(found, versionErrors(webhook.admissionReviewVersions ?? [], `${path}.admissionReviewVersions`));
    if (seen.has(webhook.name)) found.push(duplicate(`${path}.name`, webhook.name));
    if (webhook.name !== '') seen.add(webhook.name);
  }
  return found;
}

/**
 * Match conditions are validated only if one of them changes. Unchanged ones may use features that new ones may not.
 */
function conditionOptions(webhooks: readonly AnyWebhook[], live: readonly AnyWebhook[] | undefined) {
  const conditionsOf = (all: readonly AnyWebhook[]) => all.map(({ matchConditions = [] }) => matchConditions);
  if (live !== undefined && deepEqual(conditionsOf(webhooks), conditionsOf(live))) return () => [];
  const accepted = new Set(conditionsOf(live ?? []).flatMap((all) => all.map(({ expression }) => expression)));
  return ({ matchConditions }: AnyWebhook, path: string) =>
    matchConditionErrors(matchConditions, path, { params: false, accepted });
}

const SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const MAX_TIMEOUT_SECONDS = 30;

function oneWebhookErrors(webhook: AnyWebhook, path: string): FieldError[] {
  const { name, rules = [], timeoutSeconds, namespaceSelector, objectSelector } = webhook;
  // Clients may omit it, although the type requires it.
  const sideEffects: string | undefined = webhook.sideEffects;
  const found = [
    ...qualifiedDomainErrors(name, `${path}.name`),
    ...rules.flatMap((rule, index) => ruleErrors(rule, keyPath(`${path}.rules`, index))),
    ...optionalValueErrors(`${path}.failurePolicy`, webhook.failurePolicy, FAILURE_POLICIES),
    ...matchPolicyErrors(webhook.matchPolicy, `${path}.matchPolicy`),
  ];
  if (sideEffects === undefined) {
    found.push(required(`${path}.sideEffects`, `must specify one of ${SIDE_EFFECTS.join(', ')}`));
  } else append(found, valueErrors(`${path}.sideEffects`, sideEffects, SIDE_EFFECTS));
  if (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS) {
    const detail = 'the timeout value must be between 1 and 30 seconds';
    found.push(invalid(`${path}.timeoutSeconds`, timeoutSeconds, detail));
  }
  return [
    ...found,
    ...labelSelectorObjectErrors(namespaceSelector, `${path}.namespaceSelector`),
    ...labelSelectorObjectErrors(objectSelector, `${path}.objectSelector`),
    ...optionalValueErrors(`${path}.reinvocationPolicy`, webhook.reinvocationPolicy, REINVOCATION_POLICIES),
    ...webhookClientErrors(webhook.clientConfig, `${path}.clientConfig`),
  ];
}

function qualifiedDomainErrors(name: string, path: string): FieldError[] {
  if (name === '') return [required(path)];
  const problems = dnsSubdomainProblems(name);
  if (problems.length > 0) return [invalid(path, name, problems.join(','))];
  if (name.split('.').length >= 3) return [];
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function versionErrors(versions: readonly string[], path: string): FieldError[] {
  if (versions.length === 0) return [required(path, `must specify one of ${REVIEW_VERSIONS.join(', ')}`)];
  return reviewVersionErrors(versions, path);
}
