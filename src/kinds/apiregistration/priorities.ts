/**
 * The discovery priorities of the built-in group versions, as in the reference server, and the order of groups and
 * versions by the priorities in APIServices. Other versions come after the built-in ones.
 */
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { compareVersions, type GroupVersion } from '../../meta/gvk.js';
import { compareText } from '../../util/order.js';
import type { APIService } from './v1/api-service.js';

/** The priority of a group version. */
export interface VersionPriority {
  /** The priority of the group; higher comes first. */
  readonly group: number;
  /** The priority of the version within its group. */
  readonly version: number;
}

/** The priority of custom resource kinds and user-defined kinds. */
export const CUSTOM_PRIORITY: VersionPriority = { group: 1000, version: 100 };

/** The group of APIServices. It has no APIService and comes first. */
export const REGISTRATION_GROUP: string = serviceGroup('apiregistration');

/** The groups and their versions, by priority. */
const TABLE: readonly (readonly [group: string, priority: number, versions: Readonly<Record<string, number>>])[] = [
  ['', 18_000, { v1: 1 }],
  ['apps', 17_800, { v1: 15 }],
  [serviceGroup('events'), 17_750, { v1: 15, v1beta1: 5 }],
  [serviceGroup('authentication'), 17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [serviceGroup('authorization'), 17_600, { v1: 15 }],
  ['autoscaling', 17_500, { v2: 30, v1: 15, v2beta1: 9, v2beta2: 1 }],
  ['batch', 17_400, { v1: 15, v1beta1: 9 }],
  [serviceGroup('certificates'), 17_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [serviceGroup('networking'), 17_200, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  ['policy', 17_100, { v1: 15, v1beta1: 9 }],
  [serviceGroup('rbac.authorization'), 17_000, { v1: 15 }],
  [serviceGroup('storage'), 16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [serviceGroup('admissionregistration'), 16_700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  [serviceGroup('apiextensions'), 16_700, { v1: 15 }],
  [serviceGroup('scheduling'), 16_600, { v1: 15 }],
  [serviceGroup('coordination'), 16_500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  [serviceGroup('node'), 16_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  [serviceGroup('discovery'), 16_200, { v1: 15, v1beta1: 12 }],
  [serviceGroup('resource'), 16_200, { v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  [serviceGroup('flowcontrol.apiserver'), 16_100, { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12 }],
  [serviceGroup('internal.apiserver'), 16_000, { v1alpha1: 9 }],
  [serviceGroup('storagemigration'), 15_800, { v1alpha1: 9 }],
];

const REGISTRATION_PRIORITY: VersionPriority = { group: 20_001, version: 0 };

type Table = ReadonlyMap<string, (typeof TABLE)[number]>;
const tables = new Map<Dialect, Table>();

/** The table by group name in the dialect. */
function tableOf(dialect: Dialect): Table {
  let table = tables.get(dialect);
  if (table === undefined) {
    table = new Map(TABLE.map((row) => [dialect.group(row[0]), row]));
    tables.set(dialect, table);
  }
  return table;
}

/** The priority of a built-in group version (group in the dialect); undefined for others. */
export function builtInPriority({ group, version }: GroupVersion, dialect: Dialect): VersionPriority | undefined {
  const row = tableOf(dialect).get(group);
  if (row === undefined || !Object.hasOwn(row[2], version)) return undefined;
  return { group: row[1], version: row[2][version] ?? 0 };
}

/** The priority of any served group version. */
export function priorityOf(gv: GroupVersion, dialect: Dialect): VersionPriority {
  if (gv.group === dialect.group(REGISTRATION_GROUP)) return REGISTRATION_PRIORITY;
  // Versions of older releases have the priority of their group.
  const group = tableOf(dialect).get(gv.group)?.[1] ?? CUSTOM_PRIORITY.group;
  return builtInPriority(gv, dialect) ?? { group, version: 0 };
}

/** The priority of a group; higher comes first. */
export function groupPriority(group: string, dialect: Dialect): number {
  return priorityOf({ group, version: '' }, dialect).group;
}

/** Compares versions of one group in discovery order. */
export function compareByPriority(left: GroupVersion, right: GroupVersion, dialect: Dialect): number {
  const higher = priorityOf(right, dialect).version - priorityOf(left, dialect).version;
  return higher !== 0 ? higher : compareVersions(left.version, right.version);
}

/** The name of a version's APIService: `v1.apps`, and `v1.` for the core group. */
export function apiServiceName({ group, version }: GroupVersion): string {
  return `${version}.${group}`;
}

/** The fields that determine the order. */
export interface RankedVersion {
  readonly metadata: Pick<APIService['metadata'], 'name'>;
  readonly spec: Pick<APIService['spec'], 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'>;
}

/**
 * The versions by group: groups by the highest minimum that any version of theirs asks for, versions by their own
 * priority, the preferred one first. Where two ask for the same, names decide between groups and the usual order of
 * versions (`v2`, `v1`, `v1beta1`) within one.
 */
export function orderApiServices<Ranked extends RankedVersion>(services: readonly Ranked[]): Ranked[][] {
  const groups = new Map<string, Ranked[]>();
  for (const service of [...services].sort(byGroupPriority)) {
    const group = service.spec.group ?? '';
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [service]);
    else known.push(service);
  }
  return [...groups.values()].map((versions) => versions.sort(byVersionPriority));
}

function byGroupPriority(left: RankedVersion, right: RankedVersion): number {
  const higher = right.spec.groupPriorityMinimum - left.spec.groupPriorityMinimum;
  return higher || compareText(left.metadata.name, right.metadata.name);
}

function byVersionPriority(left: RankedVersion, right: RankedVersion): number {
  const higher = right.spec.versionPriority - left.spec.versionPriority;
  return higher !== 0 ? higher : compareVersions(left.spec.version ?? '', right.spec.version ?? '');
}
