/**
 * Builds the served kinds of a CustomResourceDefinition: one per version, all for the same objects.
 * spec: CustomResourceDefinition
 */

import { buildKind, mergeStrategies } from '../kinds/build-kind.js';
import { equalExcept, objectSchemaFromBody, SEPARATE_STATUS } from '../kinds/define-kind.js';
import type { CustomResourceDefinitionVersion } from '../kinds/generated/apiextensions-v1.js';
import type { Kind, Scope, Strategy, StrategyDefinition } from '../kinds/kind.js';
import type { ReconcilerHost } from '../kinds/reconciler.js';
import { unqualifiedFinalizerWarnings } from '../kinds/shared/finalizers.js';
import { status } from '../kinds/status-subresource.js';
import type { AnySubresource } from '../kinds/subresource.js';
import { compareVersions } from '../meta/gvk.js';
import type { ApiObject, DeepReadonly } from '../meta/object.js';
import type { JSONSchemaProps } from '../schema/json-schema.js';
import type { ObjectNode } from '../schema/schema-node.js';
import { parseJsonPath } from '../text/json-path/json-path.js';
import { isRecord } from '../util/json.js';
import { getOrInsertComputed, once } from '../util/once.js';
import { createConverter } from './conversion.js';
import { type Crd, isTerminating } from './lifecycle/conditions.js';
import { printerColumns } from './printer-columns.js';
import { compileRules } from './rules/compile.js';
import { scaleAt } from './scale.js';
import { structuralSchemaOf } from './structural-schema.js';
import { schemaNodeOf } from './to-schema-node.js';
import { type CrdVersions, VersionHandler } from './version-handler.js';

type Version = DeepReadonly<CustomResourceDefinitionVersion>;

/** The kinds of one CRD. */
export interface CustomKinds {
  /** The served versions. */
  readonly versions: readonly Kind[];
  /** The storage version, served or not. */
  readonly storageKind: Kind;
}

const kindsByDefinition = new WeakMap<
  Crd,
  Pick<ReconcilerHost, 'external' | 'clock' | 'objects'> & { readonly kinds: CustomKinds }
>();

/** The kinds of a CRD, one per version. Cached, because a fork of a cluster shares its CRDs. */
export function customKindsOf(crd: Crd, server: ReconcilerHost): CustomKinds {
  const cached = kindsByDefinition.get(crd);
  const { external, clock, objects } = server;
  // Webhook converters use the clock and the services of their own cluster, so they cannot be shared with a fork.
  const usesWebhook = crd.spec.conversion?.strategy === 'Webhook';
  const isReusable =
    cached?.external === external && (!usesWebhook || (cached.clock === clock && cached.objects === objects));
  if (isReusable) return cached.kinds;
  const kinds = buildCustomKinds(crd, server);
  kindsByDefinition.set(crd, { external, clock, objects, kinds });
  return kinds;
}

function buildCustomKinds(crd: Crd, server: ReconcilerHost): CustomKinds {
  const { metadata, spec } = crd;
  const storage = spec.versions.find((version) => version.storage) ?? (spec.versions[0] as Version);
  const crdVersions: CrdVersions = {
    converter: createConverter(
      {
        crdName: metadata.name,
        strategy: spec.conversion?.strategy ?? 'None',
        ...(spec.conversion?.webhook === undefined ? {} : { webhook: spec.conversion.webhook }),
      },
      server,
    ),
    uid: metadata.uid,
    isTerminating: isTerminating(crd),
    handlers: new Map(),
    storageApiVersion: `${spec.group}/${storage.name}`,
  };
  const storageKind = buildVersionKind(crd, storage, crdVersions, undefined, server);
  const all = spec.versions.map((version) =>
    version === storage ? storageKind : buildVersionKind(crd, version, crdVersions, storageKind, server),
  );
  return { versions: all.filter((_, index) => spec.versions[index]?.served === true), storageKind };
}

function buildVersionKind(
  { spec, status: { acceptedNames } }: Crd,
  version: Version,
  crdVersions: CrdVersions,
  storageKind: Kind | undefined,
  { dialect }: ReconcilerHost,
): Kind {
  const apiVersion = `${spec.group}/${version.name}`;
  const raw = (version.schema?.openAPIV3Schema ?? {}) as JSONSchemaProps;
  const structural = once(() => structuralSchemaOf(raw, dialect));
  const { subresources } = version;
  const schemaNode = once(() => objectSchemaFromBody(schemaNodeOf(structural()), acceptedNames.kind));
  const handler = new VersionHandler(
    {
      apiVersion,
      kind: acceptedNames.kind,
      publishedSchema: raw,
      schema: structural,
      metadataOnlySchema: metadataOnlySchemaOf(acceptedNames.kind),
      rules: once(() => compileRules(structural(), true)),
      scale: subresources?.scale,
    },
    crdVersions,
  );
  crdVersions.handlers.set(apiVersion, handler);
  const columns = printerColumns(version.additionalPrinterColumns);
  const { plural, singular = '', kind, listKind = `${acceptedNames.kind}List`, shortNames, categories } = acceptedNames;
  const hasStatus = subresources?.status !== undefined;
  const warning = deprecationWarningOf(version, spec.versions, `${spec.group}/`, kind);
  return buildKind(
    {
      apiVersion,
      kind,
      scope: spec.scope as Scope,
      names: { plural, singular, listKind, shortNames: shortNames ?? [], categories: categories ?? [] },
      subresources: subresourcesOf(version),
      customResourceHandler: handler,
      ...(storageKind === undefined ? {} : { storageVersion: { kind: storageKind } }),
      ...(columns === undefined ? {} : { columns }),
      ...(warning === undefined ? {} : { deprecation: () => warning }),
    },
    { representation: 'document', schema: schemaNode },
    strategyOf(version, hasStatus),
  );
}

const metadataOnlySchemas = new Map<string, ObjectNode>();

/** A schema that decodes `metadata` like that of any object and leaves all other fields as they are. */
function metadataOnlySchemaOf(kind: string): ObjectNode {
  return getOrInsertComputed(metadataOnlySchemas, kind, () => {
    const names = { representation: 'document', goType: kind, goName: kind } as const;
    const body: ObjectNode = { type: 'object', ...names, fields: new Map(), preserveUnknown: true, atomic: false };
    return objectSchemaFromBody(body, kind);
  });
}

function subresourcesOf({ subresources }: Version): Record<string, AnySubresource> {
  return {
    ...(subresources?.status === undefined ? {} : { status }),
    ...(subresources?.scale === undefined ? {} : { scale: scaleAt(subresources.scale) }),
  };
}

function strategyOf(version: Version, hasStatus: boolean): StrategyDefinition {
  const strategy: StrategyDefinition = {
    update: { allowUnconditionalUpdate: false },
    read: {
      unknownFieldLabel: (field) => `field label not supported: ${field}`,
      selectableFields: selectableFieldsOf(version),
    },
    write: {
      warnings: unqualifiedFinalizerWarnings,
      generation: (next, live) => !equalExcept(next, live, hasStatus ? ['metadata', 'status'] : ['metadata']),
    },
  };
  return hasStatus ? mergeStrategies(strategy, SEPARATE_STATUS) : strategy;
}

type SelectableFields = Strategy['read']['selectableFields'];

function selectableFieldsOf({ selectableFields }: Version): SelectableFields {
  const fields: Record<string, (object: ApiObject) => string> = {};
  for (const { jsonPath } of selectableFields ?? []) {
    const find = parseJsonPath(jsonPath);
    fields[jsonPath.replace(/^\./, '')] = (object) => textOf(find(object)?.[0]);
  }
  return fields;
}

function textOf(value: unknown): string {
  return value === undefined || value === null || isRecord(value) ? '' : String(value);
}

/** The warning header text for requests that use a deprecated version. */
function deprecationWarningOf(
  version: Version,
  all: readonly Version[],
  prefix: string,
  kind: string,
): string | undefined {
  if (version.deprecated !== true) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const text = `${prefix}${version.name} ${kind} is deprecated`;
  const newer = all
    .filter(({ served, deprecated, name }) => served && deprecated !== true && compareVersions(name, version.name) < 0)
    .sort((left, right) => compareVersions(left.name, right.name));
  return newer[0] === undefined ? text : `${text}; use ${prefix}${newer[0].name} ${kind}`;
}
