/**
 * The ValidatingWebhookConfiguration kind: webhooks that accept or reject requests. `admission/webhook` calls them.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { ClusterObject, InputBase } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ValidatingWebhookConfigurationBody,
  type ValidatingWebhookConfigurationBodyDraft,
  type ValidatingWebhookConfigurationBodyInput,
  validatingWebhookConfigurationBody,
} from '../../generated/admissionregistration-v1.js';
import type { Kind } from '../../kind.js';
import { webhooksColumns, webhooksStrategy } from './webhook.js';

export interface ValidatingWebhookConfiguration
  extends ClusterObject<'ValidatingWebhookConfiguration'>,
    ValidatingWebhookConfigurationBody {}
export interface ValidatingWebhookConfigurationDraft
  extends ClusterObject<'ValidatingWebhookConfiguration'>,
    ValidatingWebhookConfigurationBodyDraft {}
export interface ValidatingWebhookConfigurationInput extends InputBase, ValidatingWebhookConfigurationBodyInput {}

export const ValidatingWebhookConfiguration: Kind<
  ValidatingWebhookConfiguration,
  ValidatingWebhookConfigurationInput,
  'Cluster',
  never,
  ValidatingWebhookConfigurationDraft
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1`,
  kind: 'ValidatingWebhookConfiguration',
  scope: 'Cluster',
  names: { categories: ['api-extensions'] },
  body: validatingWebhookConfigurationBody,
  strategy: webhooksStrategy,
  columns: webhooksColumns,
});
