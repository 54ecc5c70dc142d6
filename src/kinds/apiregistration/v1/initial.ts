/**
 * The initial APIServices of a cluster: one for each served group version, except for the group of APIServices itself.
 */
import { type FieldSet, LEAF, setOfFields } from '../../../merge/apply/field-set.js';
import { fieldElement } from '../../../merge/apply/path-element.js';
import { type Dialect, SERVER_MANAGER } from '../../../meta/dialect.js';
import type { GroupVersion } from '../../../meta/gvk.js';
import type { APIServiceSpec } from '../../generated/apiregistration-v1.js';
import type { InitialObject } from '../../kind.js';
import { apiServiceName, builtInPriority, CUSTOM_PRIORITY, REGISTRATION_GROUP } from '../priorities.js';
import { datedCondition, LOCAL } from './availability.js';

/** `onstart`: created once, users may change it. `true`: reconciled while the version is served. */
export type Managed = 'onstart' | 'true';

/** The label with this value. */
export function managedLabel(dialect: Dialect): string {
  return dialect.subkey('kube-aggregator', 'automanaged');
}

/** The desired APIService of a version that this server serves. */
export interface DesiredService {
  readonly name: string;
  readonly managed: Managed;
  readonly spec: APIServiceSpec;
}

/** The desired APIService of a version; undefined for the group of APIServices. */
export function desiredService(gv: GroupVersion, dialect: Dialect): DesiredService | undefined {
  const { group, version } = gv;
  if (group === dialect.group(REGISTRATION_GROUP)) return undefined;
  const builtIn = builtInPriority(gv, dialect);
  const priority = builtIn ?? CUSTOM_PRIORITY;
  return {
    name: apiServiceName(gv),
    managed: builtIn === undefined ? 'true' : 'onstart',
    spec: {
      ...(group === '' ? {} : { group }),
      version,
      groupPriorityMinimum: priority.group,
      versionPriority: priority.version,
    },
  };
}

/** A cache for one second, because tests create many clusters in a second. */
const lastBuilt = new Map<Dialect, { readonly now: string; readonly byName: Map<string, InitialObject> }>();

/** The initial APIServices of the served versions. */
export function initialApiServices(
  dialect: Dialect,
  now: string,
  served: () => readonly GroupVersion[],
): readonly InitialObject[] {
  let made = lastBuilt.get(dialect);
  if (made?.now !== now) {
    made = { now, byName: new Map() };
    lastBuilt.set(dialect, made);
  }
  const { byName } = made;
  return served().flatMap((gv) => {
    const name = apiServiceName(gv);
    let object = byName.get(name);
    if (object === undefined) {
      const wanted = desiredService(gv, dialect);
      if (wanted === undefined) return [];
      object = initialObject(wanted, dialect, now);
      byName.set(name, object);
    }
    return [object];
  });
}

function initialObject({ name, managed, spec }: DesiredService, dialect: Dialect, now: string): InitialObject {
  const label = managedLabel(dialect);
  const labels: FieldSet = { '.': LEAF, [fieldElement(label)]: LEAF };
  const fields: FieldSet = { 'f:metadata': { 'f:labels': labels }, 'f:spec': setOfFields(Object.keys(spec).sort()) };
  return {
    metadata: { name, labels: { [label]: managed }, managers: [{ manager: SERVER_MANAGER, fields }] },
    spec,
    status: { conditions: [datedCondition(LOCAL, now)] },
  };
}
