/**
 * The beta versions of flow control. FlowSchemas have the fields of v1. Priority levels have
 * `assuredConcurrencyShares` before v1beta3, and zero shares are possible only since v1.
 */

import { LEAF } from '../../merge/apply/field-set.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { always } from '../../schema/declare.js';
import { sortedRecord } from '../../util/order.js';
import { mergeStrategies } from '../build-kind.js';
import type { Column } from '../columns.js';
import { anotherVersion } from '../define-kind.js';
import { priorityLevelColumns } from '../flowcontrol/v1/columns.js';
import { FlowSchema } from '../flowcontrol/v1/flow-schema/flow-schema.js';
import { PriorityLevelConfiguration, zeroSharesAnnotation } from '../flowcontrol/v1/priority-level-configuration.js';
import { flowSchemaBase, priorityLevelConfigurationBase } from '../generated/flowcontrol-v1.js';
import {
  flowSchemaStatus,
  priorityLevelConfigurationSpec as priorityLevelConfigurationSpecV1beta2,
  priorityLevelConfigurationStatus,
} from '../generated/flowcontrol-v1beta2.js';
import { priorityLevelConfigurationSpec as priorityLevelConfigurationSpecV1beta3 } from '../generated/flowcontrol-v1beta3.js';
import type { InitialManager, InitialObject, Kind, StrategyDefinition } from '../kind.js';
import type { Lifecycle } from '../lifecycle.js';
import { NONE, textColumn } from '../shared/common-columns.js';
import { type Conversion, storageVersionHooks } from '../shared/storage-conversion.js';

type Version = 'v1beta1' | 'v1beta2' | 'v1beta3';

const GROUP = serviceGroup('flowcontrol.apiserver');
const DEFAULT_SHARES = 30;

const LIFECYCLES: Readonly<Record<Version, Lifecycle & { readonly next: string }>> = {
  v1beta1: { introducedIn: '1.20', deprecatedIn: '1.23', removedIn: '1.26', next: 'v1beta2' },
  v1beta2: { introducedIn: '1.23', deprecatedIn: '1.26', removedIn: '1.29', next: 'v1beta3' },
  // Served by default although newer beta versions are not, because it replaces a version that was.
  v1beta3: { introducedIn: '1.26', deprecatedIn: '1.29', removedIn: '1.32', next: 'v1' },
};

/** @__NO_SIDE_EFFECTS__ */
function named(version: Version, kind: string): { readonly apiVersion: string; readonly lifecycle: Lifecycle } {
  const { next, ...lifecycle } = LIFECYCLES[version];
  const replacement = { apiVersion: `${GROUP}/${next}`, kind };
  return { apiVersion: `${GROUP}/${version}`, lifecycle: { ...lifecycle, servedByDefault: true, replacement } };
}

const flowBody = () => ({ ...flowSchemaBase.body(), status: always(flowSchemaStatus()) });

interface Limited {
  readonly [field: string]: unknown;
  readonly nominalConcurrencyShares?: number;
  readonly assuredConcurrencyShares?: number;
}

function limitedOf(object: ApiObject | DraftObject): Limited | undefined {
  return (object['spec'] as { readonly limited?: Limited } | undefined)?.limited;
}

function setLimited(draft: DraftObject, limited: Limited): void {
  draft['spec'] = { ...(draft['spec'] as object), limited };
}

const assured: Conversion = {
  toStored(draft) {
    const { assuredConcurrencyShares: shares, ...rest } = limitedOf(draft) ?? {};
    if (shares !== undefined) setLimited(draft, { nominalConcurrencyShares: shares, ...rest });
  },
  fromStored(draft) {
    const { nominalConcurrencyShares: shares, ...rest } = limitedOf(draft) ?? {};
    if (shares !== undefined) setLimited(draft, { assuredConcurrencyShares: shares, ...rest });
  },
};

/** v1beta3 distinguishes zero shares from absent shares by an annotation, which exists only in this version. */
const nominal: Conversion = {
  toStored(draft, dialect) {
    const { [zeroSharesAnnotation(dialect)]: mark, ...annotations } = draft.metadata.annotations ?? {};
    if (mark !== undefined) draft.metadata.annotations = annotations;
  },
  fromStored(draft, dialect) {
    if (limitedOf(draft)?.nominalConcurrencyShares !== 0) return;
    const marked = { ...draft.metadata.annotations, [zeroSharesAnnotation(dialect)]: '' };
    draft.metadata.annotations = sortedRecord(Object.entries(marked));
  },
};

const levels = PriorityLevelConfiguration.strategy;

/** @__NO_SIDE_EFFECTS__ */
function assuredStrategy(): StrategyDefinition {
  const through = storageVersionHooks(levels, assured);
  const here = (field: string) =>
    field === 'spec.limited.nominalConcurrencyShares' ? 'spec.limited.assuredConcurrencyShares' : field;
  return mergeStrategies(through, {
    create: {
      validate: (object, context) =>
        (through.create?.validate?.(object, context) ?? []).map((problem) => ({
          ...problem,
          field: here(problem.field),
        })),
    },
  });
}

/** @__NO_SIDE_EFFECTS__ */
function nominalStrategy(): StrategyDefinition {
  return mergeStrategies(storageVersionHooks(levels, nominal), {
    decode: {
      defaults(draft, { dialect }) {
        const limited = limitedOf(draft);
        const isMeant = Object.hasOwn(draft.metadata.annotations ?? {}, zeroSharesAnnotation(dialect));
        if (limited?.nominalConcurrencyShares === 0 && !isMeant) {
          setLimited(draft, { ...limited, nominalConcurrencyShares: DEFAULT_SHARES });
        }
      },
    },
  });
}

const NOMINAL_COLUMN = 'NominalConcurrencyShares';

/** @__NO_SIDE_EFFECTS__ */
function assuredColumns(): Column<PriorityLevelConfiguration>[] {
  return priorityLevelColumns.map((column) =>
    column.name === NOMINAL_COLUMN
      ? textColumn<PriorityLevelConfiguration>(
          'AssuredConcurrencyShares',
          column.description,
          (object) => limitedOf(object)?.assuredConcurrencyShares ?? NONE,
        )
      : column,
  );
}

/** In a release with this version, the field managers of the initial objects own this version's field. */
function assuredInitial(...args: Parameters<NonNullable<Kind['initial']>>): readonly InitialObject[] {
  const objects = PriorityLevelConfiguration.initial?.(...args) ?? [];
  return objects.map(({ metadata, ...object }) => ({
    ...object,
    metadata: { ...metadata, managers: metadata.managers.map(withAssuredShares) },
  }));
}

function withAssuredShares(manager: InitialManager): InitialManager {
  const spec = manager.fields['f:spec'];
  const { 'f:nominalConcurrencyShares': shares, ...limited } = spec?.['f:limited'] ?? {};
  if (spec === undefined || shares === undefined) return manager;
  const renamed = { '.': LEAF, 'f:assuredConcurrencyShares': shares, ...limited };
  return { ...manager, fields: { ...manager.fields, 'f:spec': { ...spec, 'f:limited': renamed } } };
}

/** @__NO_SIDE_EFFECTS__ */
function assuredLevel(version: 'v1beta1' | 'v1beta2'): Kind<PriorityLevelConfiguration> {
  return anotherVersion(PriorityLevelConfiguration, {
    ...named(version, 'PriorityLevelConfiguration'),
    ...assured,
    body: () => ({
      spec: always(priorityLevelConfigurationSpecV1beta2()),
      status: always(priorityLevelConfigurationStatus()),
    }),
    strategy: assuredStrategy(),
    columns: assuredColumns(),
    initial: assuredInitial,
  });
}

/** The newest version first: the server writes its own objects in the first served version. */
export const flowcontrolBetaKinds: readonly Kind[] = [
  anotherVersion(FlowSchema, named('v1beta3', 'FlowSchema')),
  anotherVersion(FlowSchema, { ...named('v1beta2', 'FlowSchema'), body: flowBody }),
  anotherVersion(FlowSchema, { ...named('v1beta1', 'FlowSchema'), body: flowBody }),
  anotherVersion(PriorityLevelConfiguration, {
    ...named('v1beta3', 'PriorityLevelConfiguration'),
    ...nominal,
    body: () => ({ ...priorityLevelConfigurationBase.body(), spec: always(priorityLevelConfigurationSpecV1beta3()) }),
    strategy: nominalStrategy(),
  }),
  assuredLevel('v1beta2'),
  assuredLevel('v1beta1'),
];
