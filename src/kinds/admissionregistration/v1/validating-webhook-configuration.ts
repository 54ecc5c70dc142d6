/**
 * The ValidatingWebhookConfiguration kind: webhooks that accept or reject requests. `admission/webhook` calls them.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import {
  type ValidatingWebhookConfigurationBody,
  type ValidatingWebhookConfigurationBodyInput,
  validatingWebhookConfigurationBody,
} from '../../generated/admissionregistration-v1.js';
import type { Kind } from '../../kind.js';
import { webhooksColumns, webhooksStrategy } from './webhook.js';

export interface ValidatingWebhookConfiguration extends ObjectBase, ValidatingWebhookConfigurationBody {}
export interface ValidatingWebhookConfigurationInput extends InputBase, ValidatingWebhookConfigurationBodyInput {}

export const ValidatingWebhookConfiguration: Kind<
  ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurationInput,
  'Cluster',
  never
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1`,
  kind: 'ValidatingWebhookConfiguration',
  scope: 'Cluster',
  names: { categories: ['api-extensions'] },
  body: validatingWebhookConfigurationBody,
  strategy: webhooksStrategy,
  columns: webhooksColumns,
});
