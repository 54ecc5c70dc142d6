/**
 * MutatingWebhookConfiguration: webhooks that may change requests. Here are the rules of the object; calling is another matter.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { mapList, optional } from '../../../schema/hints.js';
import type { Input, Output } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { mutatingWebhook, webhooksColumns, webhooksStrategy } from './webhook.js';

const shape = () => ({ webhooks: optional(mapList(mutatingWebhook(), 'name')) });
export interface MutatingWebhookConfiguration extends ObjectBase, Output<typeof shape> {}
export interface MutatingWebhookConfigurationInput extends InputBase, Input<typeof shape> {}

export const MutatingWebhookConfiguration: Kind<
  MutatingWebhookConfiguration,
  MutatingWebhookConfigurationInput,
  'Cluster',
  never
> = defineBuiltIn({
  apiVersion: `${serviceGroup('admissionregistration')}/v1`,
  kind: 'MutatingWebhookConfiguration',
  scope: 'Cluster',
  names: { categories: ['api-extensions'] },
  body: shape,
  strategy: webhooksStrategy,
  columns: webhooksColumns,
});
