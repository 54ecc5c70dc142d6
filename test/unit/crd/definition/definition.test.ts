/** Validation of CustomResourceDefinitions, except for their schemas. */
import { mergePatch } from 'orchplane';
import { CustomResourceDefinition } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { rejectionCauses } from '../../kinds/rejections.js';

const schema = {
  openAPIV3Schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: { size: { type: 'integer' }, list: { type: 'array', items: { type: 'string' } } },
      },
    },
  },
};
const version = { name: 'v1', served: true, storage: true, schema };
const spec = {
  group: 'example.com',
  names: { plural: 'widgets', kind: 'Widget' },
  scope: 'Namespaced',
  versions: [version],
};
const TEXT = { type: 'string' };
const NINE = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const metadata = { name: 'widgets.example.com' };
const LABEL =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const DUMP = (name: string, storage: boolean) =>
  `apiextensions.CustomResourceDefinitionVersion{Name:"${name}", Served:true, Storage:${storage}, Deprecated:false, DeprecationWarning:(*string)(nil), Schema:(*apiextensions.CustomResourceValidation)(nil), Subresources:(*apiextensions.CustomResourceSubresources)(nil), AdditionalPrinterColumns:[]apiextensions.CustomResourceColumnDefinition(nil), SelectableFields:[]apiextensions.SelectableField(nil)}`;

function definitions() {
  const cluster = testCluster();
  cluster.install(CustomResourceDefinition);
  return cluster.api(CustomResourceDefinition);
}

const create = (more: object, meta: object = metadata) =>
  definitions().create({ metadata: meta, spec: { ...spec, ...more } } as never);

test('sets the defaults and an empty status of a CRD', async () => {
  const webhook = { conversionReviewVersions: ['v1'], clientConfig: { service: { namespace: 'n', name: 's' } } };
  const created = await definitions().create({
    metadata,
    spec: { ...spec, conversion: { strategy: 'Webhook', webhook } },
    status: { storedVersions: ['v0'] },
  } as never);
  expect(created).toMatchObject({
    metadata: { generation: 1 },
    spec: {
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
      conversion: { webhook: { clientConfig: { service: { port: 443 } } } },
    },
    status: { conditions: null, acceptedNames: { plural: '', kind: '' }, storedVersions: ['v1'] },
  });
  expect((await create({})).spec.conversion).toEqual({ strategy: 'None' });
  expect(Object.keys((await create({})).spec.names)).toEqual(['plural', 'singular', 'kind', 'listKind']);
});

const versioned = (more: object) => ({ versions: [{ ...version, ...more }] });
const converted = (webhook: object) => ({ conversion: { strategy: 'Webhook', webhook } });
const [CLIENT, REVIEWS] = ['spec.conversion.webhookClientConfig', 'spec.conversion.conversionReviewVersions'];

test.each<[string, object, string[]]>([
  [
    'another name',
    { names: { plural: 'gadgets', kind: 'Widget' } },
    ['metadata.name: Invalid value: "widgets.example.com": must be spec.names.plural+"."+spec.group'],
  ],
  ['no scope', { scope: '' }, ['spec.scope: Required value']],
  [
    'a bad scope',
    { scope: 'Galaxy' },
    ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
  ],
  [
    'no names',
    { names: { plural: 'widgets' } },
    ['singular', 'kind', 'listKind'].map((field) => `spec.names.${field}: Required value`),
  ],
  [
    'bad names',
    { names: { plural: 'widgets', singular: 'W', kind: 'a b', listKind: 'a b', shortNames: [''], categories: ['C'] } },
    [
      `spec.names.singular: Invalid value: "W": ${LABEL}`,
      `spec.names.kind: Invalid value: "a b": may have mixed case, but should otherwise match: ${LABEL}`,
      `spec.names.listKind: Invalid value: "a b": may have mixed case, but should otherwise match: ${LABEL}`,
      `spec.names.shortNames[0]: Invalid value: "": ${LABEL}`,
      'spec.names.listKind: Invalid value: "a b": kind and listKind may not be the same',
      `spec.names.categories[0]: Invalid value: "C": ${LABEL}`,
    ],
  ],
  [
    'no schema',
    versioned({ schema: {} }),
    ['spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required'],
  ],
  [
    'a bad version name',
    versioned({ name: 'V1' }),
    [`spec.versions[0].name: Invalid value: "V1": ${LABEL}`, `spec.version: Invalid value: "V1": ${LABEL}`],
  ],
  [
    'a repeated version',
    { versions: [version, { ...version, storage: false }] },
    [
      `spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{${DUMP('v1', true)}, ${DUMP('v1', false)}}: must contain unique version names`,
    ],
  ],
  [
    'no storage version',
    versioned({ storage: false }),
    [
      `spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion{${DUMP('v1', false)}}: must have exactly one version marked as storage version`,
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  ],
  [
    'no version',
    { versions: null },
    [
      'spec.versions: Invalid value: []apiextensions.CustomResourceDefinitionVersion(nil): must have exactly one version marked as storage version',
      'status.storedVersions: Invalid value: []string(nil): must have at least one stored version',
    ],
  ],
  [
    'a deprecation warning without deprecation',
    versioned({ deprecationWarning: '' }),
    ['spec.versions[0].deprecationWarning: Invalid value: "": can only be set for deprecated versions'],
  ],
  [
    'an invalid deprecation warning',
    versioned({ deprecated: true, deprecationWarning: `é\n${'x'.repeat(255)}` }),
    [
      `spec.versions[0].deprecationWarning: Invalid value: "é\\n${'x'.repeat(255)}": must be <= 256 characters long`,
      `spec.versions[0].deprecationWarning: Invalid value: "é\\n${'x'.repeat(255)}": must only contain printable UTF-8 characters; non-printable character found at index 2`,
    ],
  ],
  [
    'bad scale paths',
    versioned({
      subresources: { scale: { specReplicasPath: 'x', statusReplicasPath: '.spec.x', labelSelectorPath: '.x' } },
    }),
    [
      'spec.subresources.scale.specReplicasPath: Invalid value: "x": must be a simple json path starting with .',
      'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.x": should be a json path under .status',
      'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
    ],
  ],
  [
    'no scale paths',
    versioned({ subresources: { scale: {} } }),
    ['specReplicasPath', 'statusReplicasPath'].map((field) => `spec.subresources.scale.${field}: Required value`),
  ],
  [
    'bad columns',
    versioned({ additionalPrinterColumns: [{ format: 'odd' }, { name: 'a', type: 'x', jsonPath: 'x' }] }),
    [
      'spec.additionalPrinterColumns[0].name: Required value',
      'spec.additionalPrinterColumns[0].type: Required value: must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[0].format: Invalid value: "odd": must be one of byte,date,date-time,double,float,int32,int64,name,password',
      'spec.additionalPrinterColumns[0].JSONPath: Required value',
      'spec.additionalPrinterColumns[1].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
      'spec.additionalPrinterColumns[1].JSONPath: Invalid value: "x": must be a simple json path starting with .',
    ],
  ],
  [
    'bad selectable fields',
    versioned({
      selectableFields: ['', 'x', '.spec.size', '.spec.size', '.spec.list', '.spec[', '.spec.', '.spec.x'].map(
        (jsonPath) => ({ jsonPath }),
      ),
    }),
    [
      'spec.selectableFields[0].jsonPath: Required value',
      'spec.selectableFields[1].jsonPath: Invalid value: "x": is an invalid path: expected [ or . but got: x',
      'spec.selectableFields[3].jsonPath: Duplicate value: ".spec.size"',
      'spec.selectableFields[4].jsonPath: Invalid value: ".spec.list": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      'spec.selectableFields[5].jsonPath: Invalid value: ".spec[": is an invalid path: array notation is not allowed',
      'spec.selectableFields[6].jsonPath: Invalid value: ".spec.": is an invalid path: unexpected end of JSON path',
      'spec.selectableFields[7].jsonPath: Invalid value: ".spec.x": is an invalid path: does not refer to a valid field',
    ],
  ],
  [
    'nine selectable fields',
    versioned({
      schema: { openAPIV3Schema: { type: 'object', properties: Object.fromEntries(NINE.map((name) => [name, TEXT])) } },
      selectableFields: NINE.map((name) => ({ jsonPath: `.${name}` })),
    }),
    ['spec.selectableFields: Too many: 9: must have at most 8 items'],
  ],
  ['no strategy', { conversion: {} }, ['spec.conversion.strategy: Required value']],
  [
    'a bad strategy',
    { conversion: { strategy: 'Magic' } },
    ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
  ],
  [
    'no webhook',
    { conversion: { strategy: 'Webhook' } },
    [`${CLIENT}: Required value: required when strategy is set to Webhook`, `${REVIEWS}: Required value`],
  ],
  [
    'a webhook that is not called',
    { conversion: { strategy: 'None', webhook: { clientConfig: {}, conversionReviewVersions: ['v1'] } } },
    [CLIENT, REVIEWS].map((field) => `${field}: Forbidden: should not be set when strategy is not set to Webhook`),
  ],
  [
    'bad review versions',
    converted({ clientConfig: { url: 'https://h' }, conversionReviewVersions: ['v9', 'v9', 'V'] }),
    [
      `${REVIEWS}[1]: Invalid value: "v9": duplicate version`,
      `${REVIEWS}[2]: Invalid value: "V": ${LABEL}`,
      `${REVIEWS}: Invalid value: []string{"v9", "v9", "V"}: must include at least one of v1, v1beta1`,
    ],
  ],
  [
    'unknown fields preserved',
    { preserveUnknownFields: true },
    [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-orch-preserve-unknown-fields to true in spec.versions[*].schema instead',
    ],
  ],
])('rejects a CRD with %s', async (_, more, causes) => {
  expect(await rejectionCauses(create(more))).toEqual(causes);
});

test.each<[string, string]>([
  ['', 'Required value'],
  ['nodots', 'Invalid value: "nodots": should be a domain with at least one dot'],
])('rejects a CRD with the group "%s"', async (group, message) => {
  expect(await rejectionCauses(create({ group }, { name: `widgets.${group}` }))).toContain(`spec.group: ${message}`);
});

describe('versions', () => {
  const second = { ...version, name: 'v2', storage: false };

  test('reports differing versions at their own paths', async () => {
    const bad = [{ name: 'A', type: 'x', jsonPath: '.a' }];
    expect(
      await rejectionCauses(create({ versions: [version, { ...second, additionalPrinterColumns: bad }] })),
    ).toEqual([
      'spec.versions[1].additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string',
    ]);
    const selectableFields = [{ jsonPath: '.spec.size' }];
    expect(await rejectionCauses(create({ versions: [{ ...version, selectableFields }, second] }))).toEqual([
      'spec.versions[0].selectableFields: Invalid value: "": selectableFields may only be set when version.schema.openAPIV3Schema is not included',
    ]);
  });

  test('keeps stored versions and records new ones', async () => {
    const api = definitions();
    await api.create({ metadata, spec } as never);
    const versions = [
      { ...version, storage: false },
      { ...second, storage: true },
    ];
    const patched = await api.patch('widgets.example.com', mergePatch({ spec: { versions } } as never));
    expect(patched.status.storedVersions).toEqual(['v1', 'v2']);
    expect(patched.metadata.generation).toBe(2);
    const removed = api.patch('widgets.example.com', mergePatch({ spec: { versions: versions.slice(1) } } as never));
    expect(await rejectionCauses(removed)).toEqual([
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ]);
  });
});

test('rejects changes of immutable fields, more of them once the CRD is established', async () => {
  const api = definitions();
  await api.create({ metadata, spec } as never);
  const patch = (change: object) => api.patch('widgets.example.com', mergePatch({ spec: change } as never));
  const other = { group: 'other.com', names: { plural: 'gadgets' } };
  expect(await rejectionCauses(patch(other))).toEqual([
    'spec.group: Invalid value: "other.com": field is immutable',
    'spec.names.plural: Invalid value: "gadgets": field is immutable',
  ]);
  expect(await rejectionCauses(patch({ scope: 'Cluster', names: { kind: 'Gadget' } }))).toEqual([
    'spec.scope: Invalid value: "Cluster": field is immutable',
    'spec.names.kind: Invalid value: "Gadget": field is immutable',
  ]);
  // The kind is taken, so the CRD is not served and the kind may still change.
  const late = { ...spec, names: { plural: 'gadgets', kind: spec.names.kind } };
  await api.create({ metadata: { name: 'gadgets.example.com' }, spec: late } as never);
  const changed = await api.patch('gadgets.example.com', mergePatch({ spec: { scope: 'Cluster' } } as never));
  expect(changed.spec.scope).toBe('Cluster');
});

test('validates accepted names in the status', async () => {
  const api = definitions();
  await api.create({ metadata, spec } as never);
  const change = { status: { acceptedNames: { plural: 'W', kind: 'W' } }, spec: { scope: 'Cluster' } };
  const patch = api.subresource('status').patch('widgets.example.com', mergePatch(change as never));
  expect(await rejectionCauses(patch)).toEqual([`status.acceptedNames.plural: Invalid value: "W": ${LABEL}`]);
});

test('requires an approval annotation for protected groups', async () => {
  const [group, key] = ['x.orch.io', 'api-approved.orch.io'];
  const named = (annotations: object) => ({ name: `widgets.${group}`, annotations });
  const at = `metadata.annotations[${key}]`;
  const must = `protected groups must have approval annotation "${key}"`;
  const [missing] = await rejectionCauses(create({ group }, named({})));
  expect(missing).toMatch(`${at}: Required value: ${must}, see https://`);
  const [bad] = await rejectionCauses(create({ group }, named({ [key]: 'yes' })));
  expect(bad).toMatch(`${at}: Invalid value: "yes": ${must} with either a URL or a reason starting with "unapproved"`);
  for (const text of ['unapproved, for now', 'https://example.com/x']) {
    expect((await create({ group }, named({ [key]: text }))).spec.group).toBe(group);
  }
});

test('rejects extensions of the other dialect instead of pruning them', async () => {
  const rules = { 'x-kubernetes-validations': [{ rule: 'self.a > 1' }] };
  const inside = { type: 'object', properties: { a: { type: 'integer' } }, ...rules };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: inside } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const api = definitions();
  await expect(api.create({ metadata, spec: { ...spec, versions } } as never)).rejects.toThrow(
    'unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validations": this cluster uses the orch dialect, whose extensions begin with x-orch-; for CRDs with Kubernetes names use createCluster({ dialect: \'kubernetes\' })',
  );
  expect((await api.list()).items).toEqual([]);
});
