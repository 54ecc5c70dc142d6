/**
 * The MutatingWebhookConfiguration kind: webhooks that change requests. `admission/webhook` calls them.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import type { ClusterObject, InputBase } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type MutatingWebhookConfigurationBody,
  type MutatingWebhookConfigurationBodyDraft,
  type MutatingWebhookConfigurationBodyInput,
  mutatingWebhookConfigurationBody,
} from '../../generated/admissionregistration-v1.js';
import type { Kind } from '../../kind.js';
import { webhooksColumns, webhooksStrategy } from './webhook.js';

export interface MutatingWebhookConfiguration
  extends ClusterObject<'MutatingWebhookConfiguration'>,
    MutatingWebhookConfigurationBody {}
export interface MutatingWebhookConfigurationDraft
  extends ClusterObject<'MutatingWebhookConfiguration'>,
    MutatingWebhookConfigurationBodyDraft {}
export interface MutatingWebhookConfigurationInput extends InputBase, MutatingWebhookConfigurationBodyInput {}

export const MutatingWebhookConfiguration: Kind<
  MutatingWebhookConfiguration,
  MutatingWebhookConfigurationInput,
  'Cluster',
  never,
  MutatingWebhookConfigurationDraft
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1`,
  kind: 'MutatingWebhookConfiguration',
  scope: 'Cluster',
  names: { categories: ['api-extensions'] },
  body: mutatingWebhookConfigurationBody,
  strategy: webhooksStrategy,
  columns: webhooksColumns,
});
