/**
 * CustomResourceDefinition: a kind that its users define while the cluster runs. `rules/` judges the definition itself,
 * `lifecycle/` says what becomes of it, and `kinds/custom/` makes the kind of it.
 */

import { defineBuiltIn, type InputBase, type ObjectBase } from '../../kinds/define-kind.js';
import type { Kind, WriteContext } from '../../kinds/kind.js';
import { createdColumn, nameColumn } from '../../kinds/shared/common-columns.js';
import { specGeneration, statusSubresource } from '../../kinds/shared/strategies.js';
import { type Dialect, kubernetesDialect, serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { always } from '../../schema/hints.js';
import type { Input, Output } from '../../schema/type.js';
import type { MutableRecord } from '../../util/json.js';
import { beforeDelete } from '../lifecycle/deletion.js';
import { attendDefinitions } from '../lifecycle/reconciler.js';
import type { CustomResourceDefinitionNames, WebhookConversion } from './schema.js';
import { definitionSpec, definitionStatus } from './schema.js';
import { settleSchema } from './settle.js';
import { nameOfDefinition, validate, validateStatus, validateUpdate } from './validate.js';

const shape = () => ({ spec: definitionSpec(), status: always(definitionStatus()) });
export interface CustomResourceDefinition extends ObjectBase, Output<typeof shape> {}
export interface CustomResourceDefinitionInput extends InputBase, Input<typeof shape> {}

export const CustomResourceDefinition: Kind<
  CustomResourceDefinition,
  CustomResourceDefinitionInput,
  'Cluster',
  'status'
> = defineBuiltIn({
  apiVersion: `${serviceGroup('apiextensions')}/v1`,
  kind: 'CustomResourceDefinition',
  scope: 'Cluster',
  names: { shortNames: ['crd', 'crds'], categories: ['api-extensions'] },
  body: shape,
  strategy: {
    nameRule: nameOfDefinition,
    ownMetadata: { create: 'plain', update: 'plain' },
    unconditionalUpdate: false,
    statusApart: true,
    generation: specGeneration,
    defaults,
    prepareForCreate: rememberStorageVersion,
    prepareForUpdate: rememberStorageVersion,
    validate,
    validateUpdate,
    beforeDelete,
    refuseUnknownField: refuseForeignExtension,
  },
  attend: attendDefinitions,
  subresources: {
    status: statusSubresource({
      tables: false,
      ownMetadata: 'plain',
      claimable: { except: ['metadata', 'spec'] },
      validateUpdate: validateStatus,
    }),
  },
  keptAsVersion: 'v1beta1',
  columns: [nameColumn, createdColumn],
});

/**
 * Extensions in the spelling of another dialect: a server would drop them, and with them the rules that they hold. Only in
 * the dialect that no other server speaks; the other one does as its server does.
 */
function refuseForeignExtension(finding: string, { name, extension }: Dialect): string | undefined {
  if (name === kubernetesDialect.name) return undefined;
  const foreign = kubernetesDialect.extension('');
  if (!finding.includes(`.${foreign}`) && !finding.includes(`"${foreign}`)) return undefined;
  return `this cluster speaks ${name}, where extensions begin with ${extension('')}; for definitions in those names use createCluster({ dialect: '${kubernetesDialect.name}' })`;
}

function defaults(draft: DraftObject, { dialect }: WriteContext): void {
  const { spec, status } = draft as unknown as CustomResourceDefinition;
  const { names, versions, conversion } = spec;
  // A webhook of which nothing is said is none.
  if (conversion?.webhook !== undefined && isBlank(conversion.webhook)) delete conversion.webhook;
  if ((status.storedVersions ?? []).length === 0) rememberStorageVersion(draft);
  if (names.kind !== '') spec.names = completeNames(names);
  for (const version of versions ?? []) {
    const schema = version.schema?.openAPIV3Schema;
    if (schema !== undefined) settleSchema(schema as MutableRecord, dialect);
  }
}

function isBlank({ clientConfig, conversionReviewVersions }: WebhookConversion): boolean {
  return clientConfig === undefined && (conversionReviewVersions ?? []).length === 0;
}

/** In the order of the wire. */
function completeNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const { plural, singular, shortNames, kind, listKind, categories } = names;
  return {
    plural,
    singular: singular ?? kind.toLowerCase(),
    ...(shortNames === undefined ? {} : { shortNames }),
    kind,
    listKind: listKind ?? `${kind}List`,
    ...(categories === undefined ? {} : { categories }),
  };
}

/** Objects may be stored in every version that ever was the one to store in. */
function rememberStorageVersion(draft: DraftObject): void {
  const { spec, status } = draft as unknown as CustomResourceDefinition;
  const stored = status.storedVersions ?? [];
  // If there is more than one to store in, the rules will say so.
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (storage === undefined || stored.includes(storage)) return;
  draft['status'] = { ...status, storedVersions: [...stored, storage] };
}
