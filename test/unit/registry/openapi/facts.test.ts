/**
 * The OpenAPI types and fields, compared with the facts about the reference server: names, types, formats, required
 * fields, merge keys. Intended differences are listed here with the reason.
 */
import { describe, expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { readVectors } from '../../../vectors/read.js';
import { allSchemas, type Schema } from './documents.js';

interface ValueFact {
  readonly type?: string;
  readonly format?: string;
  readonly ref?: string;
  readonly list?: ValueFact;
  readonly map?: ValueFact;
}

interface FieldFact extends ValueFact {
  readonly required?: boolean;
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly mapType?: string;
}

interface TypeFact {
  readonly gvk?: { readonly group: string; readonly kind: string; readonly version: string };
  readonly mapType?: string;
  readonly fields?: Readonly<Record<string, FieldFact>>;
}

/** Intended differences from the facts, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'core.v1.Event required: metadata': 'metadata is never required of a client',
  'core.v1.PersistentVolumeSpec.claimRef map-type':
    'not modelled: the schema has it atomic, as its type is everywhere else',
  'core.v1.PersistentVolumeClaimStatus.allocatedResourceStatuses map-type': 'granular is what maps are anyway',
  'apiextensions.v1.WebhookConversion map-type': 'atomic in dialect orch, docs/specification.md R24.9',
  'meta.v1.Status.details list-type': 'it is no list',
  'storagemigration.v1alpha1.StorageVersionMigrationList.items list-type': 'items have no type',
  'storagemigration.v1alpha1.StorageVersionMigrationList.items list-map-keys': 'items have no type',
  'storagemigration.v1alpha1.StorageVersionMigrationList.items patch-strategy': 'items have no type',
  'storagemigration.v1alpha1.StorageVersionMigrationList.items patch-merge-key': 'items have no type',
};

/** Defaults that the reference server publishes, except zero values of a type. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  'core.v1.AzureDiskVolumeSource.cachingMode': 'ReadWrite',
  'core.v1.AzureDiskVolumeSource.fsType': 'ext4',
  'core.v1.AzureDiskVolumeSource.kind': 'Shared',
  'core.v1.ContainerPort.protocol': 'TCP',
  'core.v1.ISCSIPersistentVolumeSource.iscsiInterface': 'default',
  'core.v1.ISCSIVolumeSource.iscsiInterface': 'default',
  'core.v1.RBDPersistentVolumeSource.keyring': '/etc/ceph/keyring',
  'core.v1.RBDPersistentVolumeSource.pool': 'rbd',
  'core.v1.RBDPersistentVolumeSource.user': 'admin',
  'core.v1.RBDVolumeSource.keyring': '/etc/ceph/keyring',
  'core.v1.RBDVolumeSource.pool': 'rbd',
  'core.v1.RBDVolumeSource.user': 'admin',
  'core.v1.ReplicationControllerSpec.replicas': 1,
  'core.v1.ScaleIOPersistentVolumeSource.fsType': 'xfs',
  'core.v1.ScaleIOPersistentVolumeSource.storageMode': 'ThinProvisioned',
  'core.v1.ScaleIOVolumeSource.fsType': 'xfs',
  'core.v1.ScaleIOVolumeSource.storageMode': 'ThinProvisioned',
  'core.v1.ServicePort.protocol': 'TCP',
};

const schemas = new Map([...allSchemas(orchDialect)].map(([name, schema]) => [factName(name), schema]));

test.each(Object.entries(DEFAULTS))('publishes the default of %s', (path, expected) => {
  const at = path.lastIndexOf('.');
  expect(schemas.get(path.slice(0, at))?.properties?.[path.slice(at + 1)]?.default).toEqual(expected);
});

test('publishes zero values as defaults of fields that are always present', () => {
  const fallback = (type: string, field: string) => schemas.get(type)?.properties?.[field]?.default;
  expect(fallback('core.v1.ContainerPort', 'containerPort')).toBe(0);
  expect(fallback('core.v1.EnvVar', 'name')).toBe('');
  expect(fallback('core.v1.ContainerStatus', 'ready')).toBe(false);
  expect(fallback('core.v1.Pod', 'metadata')).toEqual({});
  expect(fallback('core.v1.EnvVar', 'value')).toBeUndefined();
  expect(fallback('apps.v1.DeploymentSpec', 'selector')).toBeUndefined();
});

describe('OpenAPI types and reference facts', () => {
  const facts = readVectors('types') as Readonly<Record<string, TypeFact>>;

  test('uses only type names of the reference', () => {
    const unknown = [...schemas.keys()].filter((name) => facts[name] === undefined);
    expect(unknown).toEqual([]);
    expect(schemas.size).toBeGreaterThan(600);
  });

  test('publishes every type of the reference', () => {
    const missing = Object.keys(facts).filter((name) => !schemas.has(name));
    expect(missing).toEqual([]);
  });

  test('publishes types and fields like the reference', () => {
    const differences = Object.entries(facts).flatMap(([name, fact]) => typeDifferences(name, fact, schemas.get(name)));
    const unexpected = differences.filter(({ what }) => EXCEPTIONS[what] === undefined);
    expect(unexpected).toEqual([]);
  });

  test('differs from the reference in every listed exception', () => {
    const differences = Object.entries(facts).flatMap(([name, fact]) => typeDifferences(name, fact, schemas.get(name)));
    const found = new Set(differences.map(({ what }) => what));
    expect(Object.keys(EXCEPTIONS).filter((what) => !found.has(what))).toEqual([]);
  });
});

interface Difference {
  readonly what: string;
  readonly fact: unknown;
  readonly published: unknown;
}

function typeDifferences(name: string, fact: TypeFact, schema: Schema | undefined): Difference[] {
  if (schema === undefined || fact.fields === undefined) return [];
  const found: Difference[] = [];
  const compare = (what: string, expected: unknown, published: unknown): void => {
    if (JSON.stringify(expected) !== JSON.stringify(published)) found.push({ what, fact: expected, published });
  };
  const properties = schema.properties ?? {};
  compare(`${name} fields`, Object.keys(fact.fields).sort(), Object.keys(properties).sort());
  compare(`${name} map-type`, fact.mapType, schema['x-orch-map-type']);
  if (fact.gvk !== undefined) {
    const kinds = schema['x-orch-group-version-kind'] as readonly object[] | undefined;
    const isPublished = kinds?.some((kind) => JSON.stringify(kind) === JSON.stringify(fact.gvk));
    compare(`${name} kind`, true, isPublished);
  }
  for (const [field, fieldFact] of Object.entries(fact.fields)) {
    const property = properties[field];
    if (property === undefined) continue;
    const path = `${name}.${field}`;
    compare(`${name} required: ${field}`, fieldFact.required === true, schema.required?.includes(field) === true);
    compare(`${path} value`, valueOfFact(fieldFact), publishedValue(property));
    // The items of kind lists have no list type; other lists default to atomic.
    const isItems = field === 'items' && name.endsWith('List');
    compare(
      `${path} list-type`,
      fieldFact.listType ?? (fieldFact.list && !isItems ? 'atomic' : undefined),
      property['x-orch-list-type'],
    );
    compare(`${path} list-map-keys`, fieldFact.listMapKeys, property['x-orch-list-map-keys']);
    compare(`${path} patch-strategy`, fieldFact.patchStrategy, property['x-orch-patch-strategy']);
    compare(`${path} patch-merge-key`, fieldFact.patchMergeKey, property['x-orch-patch-merge-key']);
    compare(`${path} map-type`, fieldFact.mapType, property['x-orch-map-type']);
  }
  return found;
}

function valueOfFact({ type, format, ref, list, map }: ValueFact): unknown {
  if (list !== undefined) return { list: valueOfFact(list) };
  if (map !== undefined) return { map: valueOfFact(map) };
  return ref ?? [type, format].filter(Boolean).join(' ');
}

function publishedValue(schema: Schema): unknown {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return factName(reference.slice(reference.lastIndexOf('/') + 1));
  if (schema.items !== undefined) return { list: publishedValue(schema.items) };
  if (schema.additionalProperties !== undefined) return { map: publishedValue(schema.additionalProperties) };
  return [schema.type, schema.format].filter(Boolean).join(' ');
}

/** `io.orch.api.core.v1.Pod` → `core.v1.Pod`, the type name in the facts. */
function factName(name: string): string {
  return name
    .replace(/^io\.orch\./, '')
    .replace(/^(apiextensions-apiserver|kube-aggregator)\.pkg\.apis\./, '')
    .replace(/^apimachinery\.pkg\.(apis\.)?/, '')
    .replace(/^api\.(?!resource\.Quantity)/, '');
}
