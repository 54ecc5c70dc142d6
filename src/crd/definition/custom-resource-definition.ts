/**
 * The CustomResourceDefinition kind. The files beside it validate CRDs, `lifecycle/` serves them, and `value/` and
 * `rules/` handle their objects.
 */

import { defineBuiltIn } from '../../kinds/define-kind.js';
import {
  type CustomResourceDefinitionKind,
  type CustomResourceDefinitionNames,
  type CustomResourceDefinitionObject,
  customResourceDefinitionBase,
  type WebhookConversion,
} from '../../kinds/generated/apiextensions-v1.js';
import { createdColumn, nameColumn } from '../../kinds/shared/common-columns.js';
import { specGeneration, statusSubresource } from '../../kinds/shared/strategies.js';
import { type Dialect, kubernetesDialect } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { markTerminating } from '../lifecycle/deletion.js';
import { createCrdReconciler } from '../lifecycle/reconciler.js';
import { internStrings } from './intern-strings.js';
import { crdNameProblems, validate, validateStatus, validateUpdate } from './validate.js';

export interface CustomResourceDefinition extends CustomResourceDefinitionObject {}

/** The CustomResourceDefinition kind. */
export const CustomResourceDefinition: CustomResourceDefinitionKind<CustomResourceDefinition> = defineBuiltIn({
  ...customResourceDefinitionBase,
  names: { shortNames: ['crd', 'crds'], categories: ['api-extensions'] },
  strategy: {
    name: { validate: crdNameProblems },
    create: { metadataValidation: 'repeated', prepare: recordStorageVersion, validate },
    update: {
      metadataValidation: 'repeated',
      allowUnconditionalUpdate: false,
      prepare: recordStorageVersion,
      validate: validateUpdate,
    },
    write: { separateStatus: true, generation: specGeneration },
    decode: { defaults, rejectUnknownField: rejectForeignExtension },
    delete: { intercept: markTerminating },
  },
  reconciler: createCrdReconciler,
  subresources: {
    status: statusSubresource({
      tables: false,
      metadataValidation: 'repeated',
      ownableFields: { except: ['metadata', 'spec'] },
      validate: validateStatus,
    }),
  },
  referenceStorageVersion: 'v1beta1',
  columns: [nameColumn, createdColumn],
});

/**
 * Rejects schema extensions in the spelling of the other dialect: the server would prune them and silently lose the
 * rules they contain. The Kubernetes dialect prunes them, as the reference server does.
 */
function rejectForeignExtension(finding: string, { name, extension }: Dialect): string | undefined {
  if (name === kubernetesDialect.name) return undefined;
  const foreign = kubernetesDialect.extension('');
  if (!finding.includes(`.${foreign}`) && !finding.includes(`"${foreign}`)) return undefined;
  return `this cluster uses the ${name} dialect, whose extensions begin with ${extension('')}; for CRDs with Kubernetes names use createCluster({ dialect: '${kubernetesDialect.name}' })`;
}

function defaults(draft: DraftObject & CustomResourceDefinition): void {
  const { spec, status } = draft;
  const { names, conversion } = spec;
  // An empty webhook is removed.
  if (conversion?.webhook !== undefined && isEmptyWebhook(conversion.webhook)) delete conversion.webhook;
  if ((status.storedVersions ?? []).length === 0) recordStorageVersion(draft);
  if (names.kind !== '') spec.names = completeNames(names);
  internStrings(draft);
}

function isEmptyWebhook({ clientConfig, conversionReviewVersions }: WebhookConversion): boolean {
  return clientConfig === undefined && (conversionReviewVersions ?? []).length === 0;
}

/** Fills in the singular name and the list kind. The fields are in wire order. */
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

/** Adds the storage version to `status.storedVersions`. */
function recordStorageVersion(draft: DraftObject & CustomResourceDefinition): void {
  const { spec, status } = draft;
  const stored = status.storedVersions ?? [];
  // Validation reports more than one storage version.
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (storage === undefined || stored.includes(storage)) return;
  draft['status'] = { ...status, storedVersions: [...stored, storage] };
}
