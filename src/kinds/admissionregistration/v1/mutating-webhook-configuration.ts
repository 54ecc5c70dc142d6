/**
 * The MutatingWebhookConfiguration kind: webhooks that change requests. `admission/webhook` calls them.
 */

import { defineBuiltIn } from '../../define-kind.js';
import {
  type MutatingWebhookConfigurationKind,
  type MutatingWebhookConfigurationObject,
  mutatingWebhookConfigurationBase,
} from '../../generated/admissionregistration-v1.js';
import { webhooksColumns, webhooksStrategy } from './webhook.js';

export interface MutatingWebhookConfiguration extends MutatingWebhookConfigurationObject {}

export const MutatingWebhookConfiguration: MutatingWebhookConfigurationKind<MutatingWebhookConfiguration> =
  defineBuiltIn({
    ...mutatingWebhookConfigurationBase,
    names: { categories: ['api-extensions'] },
    strategy: webhooksStrategy,
    columns: webhooksColumns,
  });
