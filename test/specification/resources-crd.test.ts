/** docs/specification.md, R24.1 to R24.17: CustomResourceDefinition without its schemas. */
import { describe, expect, test } from 'vitest';
import { definition, THINGS, things, version } from './custom-resources.js';
import { fieldsOf, type Json, openService } from './service.js';

const create = (spec: Json, name?: string) => openService().create('CustomResourceDefinition', definition(spec, name));
const withNames = (names: Json) => create({ names: { plural: 'things', kind: 'Thing', ...names } });
const withVersion = (change: Json) => create({ versions: [version(change)] });
const AT = 'spec.versions[0]';

describe('CustomResourceDefinition', () => {
  test('R24.1: has the documented fields', async () => {
    const service = openService();
    const fields = (type: string) => fieldsOf(service, 'CustomResourceDefinition', type);
    expect(await fields('CustomResourceDefinitionSpec')).toEqual({
      group: 'string!',
      names: 'CustomResourceDefinitionNames!',
      scope: 'string!',
      versions: '[]CustomResourceDefinitionVersion atomic!',
      conversion: 'CustomResourceConversion',
      preserveUnknownFields: 'boolean',
    });
    expect(await fields('CustomResourceDefinitionNames')).toEqual({
      kind: 'string!',
      plural: 'string!',
      singular: 'string',
      listKind: 'string',
      shortNames: '[]string atomic',
      categories: '[]string atomic',
    });
    expect(await fields('CustomResourceDefinitionVersion')).toEqual({
      name: 'string!',
      served: 'boolean!',
      storage: 'boolean!',
      deprecated: 'boolean',
      deprecationWarning: 'string',
      schema: 'CustomResourceValidation',
      additionalPrinterColumns: '[]CustomResourceColumnDefinition atomic',
      selectableFields: '[]SelectableField atomic',
      subresources: 'CustomResourceSubresources',
    });
    expect(await fields('CustomResourceConversion')).toEqual({ strategy: 'string!', webhook: 'WebhookConversion' });
    expect(await fields('WebhookConversion')).toEqual({
      conversionReviewVersions: '[]string atomic!',
      clientConfig: 'WebhookClientConfig',
    });
    expect(await fields('WebhookClientConfig')).toEqual({
      caBundle: 'byte',
      service: 'ServiceReference',
      url: 'string',
    });
    expect(await fields('ServiceReference')).toEqual({
      name: 'string!',
      namespace: 'string!',
      path: 'string',
      port: 'int32',
    });
    expect(await fields('CustomResourceColumnDefinition')).toEqual({
      jsonPath: 'string!',
      name: 'string!',
      type: 'string!',
      description: 'string',
      format: 'string',
      priority: 'int32',
    });
    expect(await fields('SelectableField')).toEqual({ jsonPath: 'string!' });
    expect(await fields('CustomResourceSubresourceScale')).toEqual({
      specReplicasPath: 'string!',
      statusReplicasPath: 'string!',
      labelSelectorPath: 'string',
    });
  });

  test('R24.2: the name is plural and group, and the objects are served below the group', async () => {
    const service = openService();
    const { post } = await things(service, definition());
    expect((await post({})).code).toBe(201);
    expect((await create({}, 'other.example.com')).causes).toContain('metadata.name: Invalid');
    expect((await create({ group: 'other.com' })).causes).toContain('metadata.name: Invalid');
  });

  test.each(['group', 'names', 'scope', 'versions'])('R24.3: spec.%s is required', async (field) => {
    const { code, causes } = await create({ [field]: undefined });
    expect(code).toBe(422);
    expect(causes.join()).toContain(`spec.${field}`);
  });

  test('R24.4: the kind is required and in CamelCase, the plural required and in lower case', async () => {
    expect((await withNames({ kind: undefined })).causes.join()).toContain('spec.names.kind: Required');
    expect((await withNames({ plural: undefined })).causes.join()).toContain('spec.names.plural: Required');
    for (const kind of ['thing', 'Thing-one', 'thingOne']) {
      expect((await withNames({ kind })).causes).toContain('spec.names.kind: Invalid');
    }
    expect((await withNames({ kind: 'ThingV2' })).code).toBe(201);
    expect((await withNames({ plural: 'Things' })).causes).toContain('spec.names.plural: Invalid');
    expect((await withNames({ singular: 'Thing' })).causes).toEqual(['spec.names.singular: Invalid']);
    expect((await withNames({ shortNames: ['TH'] })).causes).toEqual(['spec.names.shortNames[0]: Invalid']);
  });

  test('R24.5: singular and listKind have defaults', async () => {
    expect((await create({})).body.spec.names).toMatchObject({ singular: 'thing', listKind: 'ThingList' });
  });

  test('R24.6: the scope is Cluster or Namespaced', async () => {
    for (const scope of ['Cluster', 'Namespaced']) expect((await create({ scope })).code).toBe(201);
    expect((await create({ scope: 'World' })).causes).toEqual(['spec.scope: NotSupported']);
  });

  const webhook = {
    conversionReviewVersions: ['v1'],
    clientConfig: { service: { name: 's', namespace: 'n' } },
  };
  const convert = (conversion: Json) => create({ conversion });
  const withClient = (clientConfig: Json) => convert({ strategy: 'Webhook', webhook: { ...webhook, clientConfig } });

  test('R24.7: the strategy is None, the default, or Webhook, which needs a webhook', async () => {
    expect((await create({})).body.spec.conversion).toEqual({ strategy: 'None' });
    expect((await convert({ strategy: 'Webhook', webhook })).code).toBe(201);
    expect((await convert({ strategy: 'Webhook' })).code).toBe(422);
    expect((await convert({ strategy: 'Magic' })).causes).toEqual(['spec.conversion.strategy: NotSupported']);
    const preserving = await create({ conversion: { strategy: 'Webhook', webhook }, preserveUnknownFields: true });
    expect(preserving.code).toBe(422);
  });

  test('R24.7: with the strategy None only the apiVersion changes', async () => {
    const service = openService();
    const versions = [version(), version({ name: 'v2', storage: false })];
    const { post } = await things(service, definition({ versions }));
    await post({ spec: { a: 1 } });
    const { body } = await service.send('GET', `${THINGS.replace('v1', 'v2')}/t`);
    expect(body).toMatchObject({ apiVersion: 'example.com/v2', spec: { a: 1 } });
  });

  test('R24.8: a webhook has review versions and either a service or an https URL', async () => {
    const noVersions = { ...webhook, conversionReviewVersions: undefined };
    expect((await convert({ strategy: 'Webhook', webhook: noVersions })).causes).toEqual([
      expect.stringContaining('conversionReviewVersions: Required'),
    ]);
    expect((await withClient({ url: 'https://example.com/convert' })).code).toBe(201);
    expect((await withClient({})).code).toBe(422);
    expect((await withClient({ url: 'https://example.com', ...webhook.clientConfig })).code).toBe(422);
    for (const url of [
      'http://example.com',
      'https://user:secret@example.com',
      'https://example.com/#part',
      'https://example.com/?a=b',
    ]) {
      expect((await withClient({ url })).code).toBe(422);
    }
    const service = (change: Json) => withClient({ service: { name: 's', namespace: 'n', ...change } });
    expect((await service({})).body.spec.conversion.webhook.clientConfig.service.port).toBe(443);
    // The paths in these errors are those of the reference server.
    for (const change of [{ name: undefined }, { namespace: undefined }]) {
      expect((await service(change)).causes).toEqual([expect.stringMatching(/\.service\.\w+: Required$/)]);
    }
    expect((await service({ port: 65_536 })).causes).toEqual([expect.stringMatching(/\.service\.port: Invalid$/)]);
  });

  test('R24.9: the webhook is replaced as a whole', async () => {
    const service = openService();
    const schema = await service.schema('CustomResourceDefinition', 'WebhookConversion');
    expect(schema['x-orch-map-type']).toBe('atomic');
    const apply = (part: Json, manager: string) => {
      const { metadata: _, ...body } = definition({ conversion: { strategy: 'Webhook', webhook: part } });
      return service.apply('CustomResourceDefinition', 'things.example.com', body, manager);
    };
    expect((await apply(webhook, 'one')).code).toBe(201);
    const conflict = await apply({ ...webhook, conversionReviewVersions: ['v1beta1', 'v1'] }, 'two');
    expect(conflict).toMatchObject({ code: 409, causes: ['.spec.conversion.webhook: FieldManagerConflict'] });
  });

  test('R24.10: preserveUnknownFields is deprecated and cannot be set', async () => {
    expect((await create({ preserveUnknownFields: true })).causes).toContain('spec.preserveUnknownFields: Invalid');
    expect((await create({ preserveUnknownFields: false })).code).toBe(201);
  });

  test('R24.11: a version has a name, served and storage, and exactly one is stored', async () => {
    expect((await withVersion({ name: undefined })).causes.join()).toContain(`${AT}.name`);
    expect((await withVersion({ served: undefined })).causes).toEqual([`${AT}.served: Required`]);
    expect((await withVersion({ storage: undefined })).causes).toEqual([`${AT}.storage: Required`]);
    expect((await withVersion({ served: false })).code).toBe(201);
    for (const storage of [true, false]) {
      const versions = [version({ storage }), version({ name: 'v2', storage })];
      expect((await create({ versions })).causes).toContain('spec.versions: Invalid');
    }
  });

  test('R24.12: requests to a deprecated version get a warning', async () => {
    const warn = async (change: Json) => {
      const service = openService();
      const { post } = await things(service, definition({ versions: [version(change)] }));
      return (await post({})).headers.get('warning');
    };
    expect(await warn({})).toBeNull();
    expect(await warn({ deprecated: true })).toContain('example.com/v1 Thing is deprecated');
    expect(await warn({ deprecated: true, deprecationWarning: 'use v2' })).toContain('use v2');
    expect((await withVersion({ deprecationWarning: 'use v2' })).causes.join()).toContain('deprecationWarning');
  });

  const column = { name: 'A', type: 'string', jsonPath: '.spec.a' };
  const withColumn = (change: Json) => withVersion({ additionalPrinterColumns: [{ ...column, ...change }] });

  test.each(['name', 'type', 'jsonPath'])('R24.13: the %s of a column is required', async (field) => {
    expect((await withColumn({ [field]: undefined })).code).toBe(422);
  });

  test('R24.14: columns are those of the version, or the age', async () => {
    const table = async (change: Json) => {
      const service = openService();
      const { post } = await things(service, definition({ versions: [version(change)] }));
      await post({ spec: { a: 'x' } });
      const accept = { accept: 'application/json;as=Table;v=v1;g=meta.orch.io' };
      return (await service.send('GET', `${THINGS}/t`, undefined, accept)).body.columnDefinitions;
    };
    expect((await table({})).map(({ name }: Json) => name)).toEqual(['Name', 'Age']);
    const own = await table({ additionalPrinterColumns: [{ ...column, priority: 1 }] });
    expect(own).toEqual([
      expect.objectContaining({ name: 'Name', format: 'name' }),
      expect.objectContaining({ name: 'A', priority: 1 }),
    ]);
  });

  test('R24.15: the format name is accepted for a column, an unknown format is not', async () => {
    expect((await withColumn({ format: 'name' })).code).toBe(201);
    expect((await withColumn({ format: 'date-time' })).code).toBe(201);
    expect((await withColumn({ format: 'unknown' })).code).toBe(422);
  });

  const selectable = (...paths: (string | undefined)[]) => {
    const names = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    const spec = {
      type: 'object',
      properties: {
        ...properties,
        n: { type: 'integer' },
        b: { type: 'boolean' },
        list: { type: 'array', items: { type: 'string' } },
        object: { type: 'object' },
      },
    };
    return definition({
      versions: [
        version({
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
          selectableFields: paths.map((jsonPath) => ({ jsonPath })),
        }),
      ],
    });
  };

  test.each<[string, (string | undefined)[], number]>([
    ['a string', ['.spec.f0'], 201],
    ['an integer and a boolean', ['.spec.n', '.spec.b'], 201],
    ['eight fields', Array.from({ length: 8 }, (_, index) => `.spec.f${index}`), 201],
    ['nine fields', Array.from({ length: 9 }, (_, index) => `.spec.f${index}`), 422],
    ['no path', [undefined], 422],
    ['an array', ['.spec.list[0]'], 422],
    ['an object', ['.spec.object'], 422],
    ['metadata', ['.metadata.name'], 422],
  ])('R24.16: selectable fields with %s are answered as documented', async (_, paths, code) => {
    expect((await openService().create('CustomResourceDefinition', selectable(...paths))).code).toBe(code);
  });

  test('R24.16: objects are selected by a field, a missing one is empty', async () => {
    const service = openService();
    const { post } = await things(service, selectable('.spec.f0'));
    await post({ spec: { f0: 'x' } });
    await post({ metadata: { name: 'u' } });
    const names = async (selector: string) => {
      const { body } = await service.send('GET', `${THINGS}?fieldSelector=${encodeURIComponent(selector)}`);
      return body.items.map(({ metadata }: Json) => metadata.name);
    };
    expect(await names('spec.f0=x')).toEqual(['t']);
    expect(await names('spec.f0=')).toEqual(['u']);
  });
});

describe('subresources of custom resources', () => {
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

  test('R24.17: the status is written only by its subresource, which writes nothing else', async () => {
    const service = openService();
    const { post } = await things(service, definition({ versions: [version({ subresources: { status: {} } })] }));
    const { body } = await post({ spec: { a: 1 }, status: { b: 1 } });
    expect(body).not.toHaveProperty('status');
    const next = { ...body, spec: { a: 2 }, status: { b: 2 } };
    const status = await service.send('PUT', `${THINGS}/t/status`, next);
    expect(status.body).toMatchObject({ spec: { a: 1 }, status: { b: 2 } });
    const main = await service.send('PUT', `${THINGS}/t`, { ...status.body, spec: { a: 3 }, status: { b: 3 } });
    expect(main.body).toMatchObject({ spec: { a: 3 }, status: { b: 2 } });
  });

  test('R24.18: the scale is read and written by paths; missing values are 0 and empty', async () => {
    const service = openService();
    const subresources = { status: {}, scale: { ...scale, labelSelectorPath: '.status.selector' } };
    const { post, get } = await things(service, definition({ versions: [version({ subresources })] }));
    await post({ spec: { replicas: 3 } });
    const { body } = await get('t/scale');
    expect(body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } });
    expect([body.status.replicas, body.status.selector ?? '']).toEqual([0, '']);
    await service.send('PUT', `${THINGS}/t/scale`, { ...body, spec: { replicas: 5 } });
    expect((await get()).body.spec.replicas).toBe(5);
  });

  test.each<[string, Json]>([
    ['no spec path', { specReplicasPath: undefined }],
    ['no status path', { statusReplicasPath: undefined }],
    ['a spec path in status', { specReplicasPath: '.status.replicas' }],
    ['a status path in spec', { statusReplicasPath: '.spec.replicas' }],
    ['a selector path elsewhere', { labelSelectorPath: '.metadata.labels' }],
  ])('R24.19: rejects a scale with %s', async (_, change) => {
    expect((await withVersion({ subresources: { scale: { ...scale, ...change } } })).code).toBe(422);
  });

  test('R24.20: versions are listed in the order of their names', async () => {
    const service = openService();
    const names = ['v1alpha1', 'v2', 'other', 'v1beta1', 'v10'];
    const versions = names.map((name, index) => version({ name, storage: index === 0 }));
    await service.create('CustomResourceDefinition', definition({ versions }));
    const { groups } = (await service.send('GET', '/apis')).body;
    const group = groups.find(({ name }: Json) => name === 'example.com');
    const listed = group.versions.map((one: Json) => one.version);
    expect(listed).toEqual(['v10', 'v2', 'v1beta1', 'v1alpha1', 'other']);
  });
});
