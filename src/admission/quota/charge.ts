/**
 * Writes down in quotas what is used of them.
 */
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { storedManagers, writeManagers } from '../../merge/apply/managers.js';
import { afterUpdate, type Versioned } from '../../merge/apply/ownership.js';
import { SERVER_MANAGER } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { formatTime } from '../../text/time/time.js';
import { readAmounts } from '../plugins/pod-amounts.js';
import type { ClusterView } from '../types.js';
import { toResourceList } from './arithmetic.js';
import type { Charge } from './check.js';

export const QUOTAS = Object.freeze({ group: '', resource: 'resourcequotas' });

/** All at once; the quotas are those that are stored at this moment. */
export function charge(charges: readonly Charge[], view: ClusterView): void {
  for (const { quota, used } of charges) {
    const { name, namespace = '' } = quota.metadata;
    const { status } = quota as unknown as ResourceQuota;
    const next = toResourceList(new Map([...readAmounts(status.used), ...used]));
    view.change({ ...QUOTAS, namespace, name }, (draft) => write(draft, next, { quota, view }));
  }
}

/** The amounts belong to the server from now on, whoever wrote them before. */
function write(
  draft: DraftObject,
  used: ResourceList,
  { quota, view }: { readonly quota: ApiObject; readonly view: ClusterView },
): void {
  draft['status'] = { ...(draft['status'] as ResourceQuota['status']), used };
  const { managedFields } = quota.metadata;
  const served = view.resourceNamed({ ...QUOTAS, version: 'v1' });
  // Where nobody keeps track of owners, nobody begins to.
  if (served === undefined || managedFields === undefined) return;
  const { apiVersion, schema } = served;
  const versioned = (value: unknown): Versioned => ({ apiVersion, schema, value });
  const managers = afterUpdate(
    {
      before: versioned(quota),
      after: versioned(draft),
      managers: storedManagers(managedFields),
      by: { manager: SERVER_MANAGER, operation: 'Update', apiVersion, subresource: 'status' },
      now: formatTime(view.clock.now()),
    },
    // There is one version, and all of the status may be written to.
    { convert: (object, version) => (version === apiVersion ? object : undefined), filter: (fields) => fields },
  );
  draft.metadata.managedFields = writeManagers(managers);
}
