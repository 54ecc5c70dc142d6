/**
 * ValidatingWebhookConfiguration: webhooks that have a say in requests. Here are the rules of the object; calling is another matter.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import type { ApiObject } from '../../../meta/object.js';
import { mapList, optional } from '../../../schema/hints.js';
import type { Input, Output } from '../../../schema/type.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { validatingWebhook, webhookErrors } from './webhook.js';

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
  strategy: {
    unconditionalUpdate: false,
    revalidatesOnUpdate: true,
    generation: (next, live) => !deepEqual(next['webhooks'], live['webhooks']),
    validate: (object) => webhookErrors(webhooksOf(object)),
  },
  columns: [
    nameColumn,
    {
      name: 'Webhooks',
      type: 'integer',
      description: 'How many webhooks it lists.',
      cell: (object) => webhooksOf(object).length,
    },
    ageColumn,
  ],
});

function webhooksOf(object: ApiObject) {
  return (object as unknown as ValidatingWebhookConfiguration).webhooks ?? [];
}
