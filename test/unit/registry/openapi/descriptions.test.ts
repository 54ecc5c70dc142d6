/** The OpenAPI descriptions of types and fields. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import {
  describeField,
  describeType,
  descriptions,
  parseDescriptions,
} from '../../../../src/registry/openapi/definitions.js';
import { listParameters } from '../../../../src/registry/openapi/parameters.js';
import { allSchemas, type Schema } from './documents.js';

test('parses descriptions of types and of their fields, for several types or all', () => {
  const { types, fields } = parseDescriptions([
    `
Lease A hold.
 holder Who.
Lease,Candidate Either.
 holder,strategy Shared.
`,
    `
*
 name The name.
`,
  ]);
  expect(Object.fromEntries(types)).toEqual({ Lease: 'A hold.', Candidate: 'Either.' });
  expect(Object.fromEntries(fields)).toEqual({
    'Lease holder': 'Who.',
    'Lease strategy': 'Shared.',
    'Candidate holder': 'Shared.',
    'Candidate strategy': 'Shared.',
    '* name': 'The name.',
  });
});

test.each([
  ['core', 'Pod', 'spec', 'The containers to run and their settings.'],
  ['apps', 'Deployment', 'spec', 'The desired state.'],
  ['core', 'PodCondition', 'reason', 'A machine-readable reason.'],
  ['core', 'SecretReference', 'name', 'The name of the object.'],
  ['core', 'Pod', 'nothing', undefined],
  ['', 'Widget', 'metadata', "Standard object's metadata: its name, namespace, labels and annotations."],
  ['', 'Widget', 'spec', undefined],
])('describes the field %s %s.%s', (group, type, field, expected) => {
  expect(describeField(group, type, field)).toBe(expected);
});

describe('OpenAPI descriptions', () => {
  const schemas = allSchemas(orchDialect);
  const all = Object.values(descriptions).map(parseDescriptions);
  const sentences = all.flatMap(({ types, fields }) => [...types, ...fields]);

  test('contains only short sentences', () => {
    const wrong = sentences.filter(([, text]) => !/^[A-Z0-9$].*\.$/.test(text) && !/^[a-z]+(,| or ).*\.$/.test(text));
    expect(wrong).toEqual([]);
    expect(sentences.filter(([, text]) => text.length > 125)).toEqual([]);
  });

  test('describes only existing types and fields', () => {
    const known = new Set<string>();
    for (const [name, { properties }] of schemas) {
      const type = name.slice(name.lastIndexOf('.') + 1);
      known.add(type);
      for (const field of Object.keys(properties ?? {})) known.add(`${type} ${field.replace('x-orch-', 'x-')}`);
    }
    // A line may name several types, of which only some have the field.
    const stale = all.flatMap(({ types, fields }) => {
      const isKnown = (key: string) => /^(\*|List )/.test(key) || known.has(key);
      const live = new Set([...fields].filter(([key]) => isKnown(key)).map(([key, text]) => key.split(' ')[1] + text));
      const staleFields = [...fields].filter(([key, text]) => !live.has(key.split(' ')[1] + text));
      return [...types.keys(), ...staleFields.map(([key]) => key)].filter((key) => !isKnown(key));
    });
    expect(stale).toEqual([]);
  });

  test('describes nearly every field', () => {
    const silent: string[] = [];
    let count = 0;
    for (const [name, { properties }] of schemas) {
      for (const [field, { description }] of Object.entries(properties ?? {})) {
        count += 1;
        if (description === undefined) silent.push(`${name}.${field}`);
      }
    }
    expect(count).toBeGreaterThan(2500);
    // Obsolete fields of nodes and volumes.
    const forgotten = /NodeConfig|ConfigMapNode|PhotonPersistentDisk/;
    expect(silent.filter((field) => !forgotten.test(field))).toEqual([]);
  });

  // spec: Resource types covered
  test.each([
    'certificates.v1alpha1.ClusterTrustBundle',
    'rbac.v1.Role',
    'core.v1.Endpoints',
    'apps.v1.ControllerRevision',
    'flowcontrol.v1.FlowSchema',
    'core.v1.LimitRange',
    'core.v1.ResourceQuota',
    'core.v1.ConfigMap',
    'core.v1.Secret',
    'core.v1.Namespace',
    'core.v1.ComponentStatus',
    'resource.v1beta1.DeviceClass',
    'apiregistration.v1.APIService',
    'events.v1.Event',
    'networking.v1beta1.IPAddress',
    'batch.v1.CronJob',
    'storagemigration.v1alpha1.StorageVersionMigration',
    'scheduling.v1.PriorityClass',
    'storage.v1.CSIDriver',
    'storage.v1.CSINode',
    'storage.v1.CSIStorageCapacity',
    'apiextensions.v1.CustomResourceDefinition',
    'admissionregistration.v1.ValidatingAdmissionPolicy',
    'admissionregistration.v1.ValidatingAdmissionPolicyBinding',
  ])('describes every type and field of %s', (kind) => {
    const root = [...schemas.keys()].find((name) => name.endsWith(`.${kind}`));
    expect(root).toBeDefined();
    const silent: string[] = [];
    const seen = new Set<string>();
    const visit = (name: string): void => {
      if (seen.has(name)) return;
      seen.add(name);
      const schema = schemas.get(name);
      if (schema?.description === undefined) silent.push(name);
      for (const [field, property] of Object.entries(schema?.properties ?? {})) {
        if (property.description === undefined) silent.push(`${name}.${field}`);
        for (const reference of referencesOf(property)) visit(reference);
      }
    };
    visit(root ?? '');
    expect(seen.size).toBeGreaterThan(1);
    expect(silent.filter((name) => !/PhotonPersistentDisk|Portworx/.test(name))).toEqual([]);
  });

  test('compresses to less than 25 kB', () => {
    expect(gzipSync(Object.values(descriptions).flat().join('')).length).toBeLessThan(25_000);
  });

  // spec: the beginnings that users of kubectl explain know, and that the tests of the reference look for
  test.each([
    ['core', 'Pod', 'apiVersion', /^APIVersion defines /],
    ['', 'Widget', 'apiVersion', /^APIVersion defines /],
    ['core', 'Pod', 'kind', /^Kind is /],
    ['core', 'Pod', 'metadata', /^Standard object's metadata/],
    ['meta', 'List', 'metadata', /^Standard list metadata/],
    ['meta', 'ObjectMeta', 'creationTimestamp', /^CreationTimestamp is a timestamp/],
  ])('begins the description of %s %s.%s with %s', (group, type, field, beginning) => {
    expect(describeField(group, type, field)).toMatch(beginning);
  });

  test('names the resource of a list, and has the beginnings of list and watch parameters', () => {
    const items = [...schemas].find(([name]) => name.endsWith('core.v1.ServiceList'))?.[1].properties?.['items'];
    expect(items?.description).toBe('List of services.');
    const described = listParameters.map(({ name, description }) => `${name}: ${description}`);
    expect(described).toContainEqual(expect.stringMatching(/^labelSelector: .*list of returned objects/));
    expect(described).toContainEqual(expect.stringMatching(/^watch: Watch for changes to the described resources/));
  });

  test('describes the purpose of a type', () => {
    expect(describeType('meta', 'ObjectMeta')).toBe('The metadata that every object has.');
    expect(describeType('core', 'Nothing')).toBeUndefined();
  });
});

function referencesOf(schema: Schema): string[] {
  return [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = '']) => name);
}
