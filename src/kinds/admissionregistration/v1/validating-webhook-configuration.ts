/**
 * ValidatingWebhookConfiguration: webhooks that have a say in requests. Here are the rules of the object; calling is another matter.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { mapList, optional } from '../../../schema/hints.js';
import type { Input, Output } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { validatingWebhook, webhooksColumns, webhooksStrategy } from './webhook.js';

const shape = () => ({ webhooks: optional(mapList(validatingWebhook(), 'name')) });
export interface ValidatingWebhookConfiguration extends ObjectBase, Output<typeof shape> {}
export interface ValidatingWebhookConfigurationInput extends InputBase, Input<typeof shape> {}

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
  body: shape,
  strategy: webhooksStrategy,
  columns: webhooksColumns,
});
