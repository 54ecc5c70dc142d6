/**
 * The ComponentStatus kind: the health of control plane components. Nothing is stored; all components run in this
 * process and are reported as healthy. spec: ComponentStatus
 */
import * as z from 'zod';
import { errors } from '../../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { enumString, mapList, optional } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { nameColumn, textColumn } from '../../shared/common-columns.js';

const componentConditionShape = () => ({
  type: enumString<'Healthy'>('v1.ComponentConditionType'),
  status: enumString<'True' | 'False' | 'Unknown'>('v1.ConditionStatus'),
  message: optional(z.string()),
  error: optional(z.string()),
});
export interface ComponentCondition extends Output<typeof componentConditionShape> {}
export interface ComponentConditionInput extends Input<typeof componentConditionShape> {}
const componentCondition: Type<ComponentCondition, ComponentConditionInput> = type(
  'ComponentCondition',
  componentConditionShape,
);

const shape = () => ({ conditions: optional(mapList(componentCondition(), 'type')) });
export interface ComponentStatus extends ObjectBase, Output<typeof shape> {}
export interface ComponentStatusInput extends InputBase, Input<typeof shape> {}

const COMPONENTS: readonly string[] = ['controller-manager', 'scheduler', 'etcd-0'];

export const ComponentStatus: Kind<ComponentStatus, ComponentStatusInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'ComponentStatus',
  scope: 'Cluster',
  names: { shortNames: ['cs'] },
  verbs: ['get', 'list'],
  body: shape,
  lifecycle: { deprecatedIn: '1.19' },
  columns: [
    nameColumn,
    textColumn('Status', 'Whether the component is healthy.', status),
    textColumn('Message', 'What the component says of its health.', (object) => healthOf(object)?.message ?? ''),
    textColumn('Error', 'What went wrong when it was asked.', (object) => healthOf(object)?.error ?? ''),
  ],
  virtual: {
    get: (name) => {
      // The reference server's message has the singular resource name for this kind only.
      if (!COMPONENTS.includes(name)) throw errors.notFound({ group: '', resource: 'componentstatus' }, name);
      return componentStatus(name);
    },
    list: () => COMPONENTS.map(componentStatus),
  },
});

function componentStatus(name: string): DraftObject {
  const conditions = [{ type: 'Healthy', status: 'True', message: 'ok' }];
  return { apiVersion: '', kind: '', metadata: { name }, conditions };
}

function healthOf(object: ApiObject): ComponentCondition | undefined {
  return (object as unknown as ComponentStatus).conditions?.find(({ type }) => type === 'Healthy');
}

function status(object: ApiObject): string {
  const health = healthOf(object);
  if (health === undefined) return 'Unknown';
  return health.status === 'True' ? 'Healthy' : 'Unhealthy';
}
