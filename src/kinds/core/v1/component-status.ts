/**
 * The ComponentStatus kind: the health of control plane components. Nothing is stored; all components run in this
 * process and are reported as healthy. spec: ComponentStatus
 */
import { errors } from '../../../meta/errors.js';
import type { DraftObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type ComponentCondition,
  type ComponentStatusKind,
  type ComponentStatusObject,
  componentStatusBase,
} from '../../generated/core-v1.js';
import { nameColumn, textColumn } from '../../shared/common-columns.js';

export interface ComponentStatus extends ComponentStatusObject {}

const COMPONENTS: readonly string[] = ['controller-manager', 'scheduler', 'etcd-0'];

export const ComponentStatus: ComponentStatusKind<ComponentStatus> = defineBuiltIn({
  ...componentStatusBase,
  names: { shortNames: ['cs'] },
  verbs: ['get', 'list'],
  lifecycle: { deprecatedIn: '1.19' },
  columns: [
    nameColumn,
    textColumn('Status', 'Whether the component is healthy.', status),
    textColumn('Message', 'The health message of the component.', (object) => healthOf(object)?.message ?? ''),
    textColumn('Error', 'The error of the health check.', (object) => healthOf(object)?.error ?? ''),
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

function healthOf(object: ComponentStatus): ComponentCondition | undefined {
  return object.conditions?.find(({ type }) => type === 'Healthy');
}

function status(object: ComponentStatus): string {
  const health = healthOf(object);
  if (health === undefined) return 'Unknown';
  return health.status === 'True' ? 'Healthy' : 'Unhealthy';
}
