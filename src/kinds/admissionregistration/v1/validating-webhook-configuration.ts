/**
 * The ValidatingWebhookConfiguration kind: webhooks that accept or reject requests. `admission/webhook` calls them.
 */

import { defineBuiltIn } from '../../define-kind.js';
import {
  type ValidatingWebhookConfigurationKind,
  type ValidatingWebhookConfigurationObject,
  validatingWebhookConfigurationBase,
} from '../../generated/admissionregistration-v1.js';
import { webhooksColumns, webhooksStrategy } from './webhook.js';

export interface ValidatingWebhookConfiguration extends ValidatingWebhookConfigurationObject {}

export const ValidatingWebhookConfiguration: ValidatingWebhookConfigurationKind<ValidatingWebhookConfiguration> =
  defineBuiltIn({
    ...validatingWebhookConfigurationBase,
    names: { categories: ['api-extensions'] },
    strategy: webhooksStrategy,
    columns: webhooksColumns,
  });
