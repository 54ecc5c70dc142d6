/** StorageVersionMigration controller: phases, paging and failures. */
import { controllers, storageVersionMigrations } from 'orchplane/controllers';
import { ConfigMap, CustomResourceDefinition, StorageVersionMigration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { errors } from '../../../src/meta/errors.js';
import type { ApiObject } from '../../../src/meta/object.js';

const NAME = 'storage-version-migrator-controller';

function cluster() {
  return testCluster({
    featureGates: { StorageVersionMigrator: true },
    runtimeConfig: 'api/all=true',
    controllers: controllers([storageVersionMigrations()]),
  });
}

function definition(stored: 'v1' | 'v2') {
  const version = (name: 'v1' | 'v2') => ({
    name,
    served: true,
    storage: name === stored,
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', 'x-orch-preserve-unknown-fields': true } },
      },
    },
  });
  return {
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced' as const,
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [version('v1'), version('v2')],
    },
  };
}

const migrationOf = (resource: object) => ({ metadata: { name: 'm' }, spec: { resource } });

describe('storage version migration controller', () => {
  test('runs a migration from the list version through Running to Succeeded', async () => {
    const run = cluster();
    await run.api(ConfigMap).create({ metadata: { name: 'a' } });
    const seen: unknown[] = [];
    run
      .api(StorageVersionMigration)
      .informer()
      .subscribe(({ object }) => {
        const { resourceVersion, conditions } = object.status;
        seen.push([resourceVersion, conditions?.map(({ type, status, reason }) => [type, status, reason])]);
      });
    const before = run.resourceVersion;
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    const running = ['Running', 'True', 'StorageVersionMigrationInProgress'];
    const done = ['Succeeded', 'True', 'StorageVersionMigrationSucceeded'];
    const version = String(Number(before) + 1);
    expect(seen).toEqual([
      [undefined, undefined],
      [version, undefined],
      [version, [running]],
      [version, [['Running', 'False', running[2]], done]],
    ]);
  });

  test('rewrites objects stored in an old version and no others', async () => {
    const run = cluster();
    await run.api(CustomResourceDefinition).create(definition('v1') as never);
    const kind = run.kinds().find(({ gvr }) => gvr.resource === 'widgets' && gvr.version === 'v1')?.kind;
    if (kind === undefined) throw new Error('widgets are served');
    for (const name of ['a', 'b'])
      await run.api(kind, 'default').create({ metadata: { name }, spec: { n: 1 } } as never);
    await run.api(CustomResourceDefinition).edit('widgets.example.com', (draft) => {
      draft.spec = definition('v2').spec as never;
    });
    const old = (await run.api(kind, 'default').get('a')) as unknown as ApiObject;
    await run
      .api(StorageVersionMigration)
      .create(migrationOf({ group: 'example.com', version: 'v2', resource: 'widgets' }) as never);
    await run.settle();
    const { status } = await run.api(StorageVersionMigration).get('m');
    expect(status.conditions?.at(-1)).toMatchObject({ type: 'Succeeded', status: 'True' });
    const now = (await run.api(kind, 'default').get('a')) as unknown as ApiObject;
    expect(now.metadata.resourceVersion).not.toBe(old.metadata.resourceVersion);
    expect(now.metadata.managedFields?.some(({ manager }) => manager === NAME)).toBe(false);
    expect(now).toMatchObject({ spec: { n: 1 } });
  });

  test('leaves objects in the storage version unchanged', async () => {
    const run = cluster();
    const { metadata } = await run.api(ConfigMap).create({ metadata: { name: 'a' }, data: { k: 'v' } });
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    expect((await run.api(ConfigMap).get('a')).metadata).toEqual(metadata);
  });

  test('reads many objects in pages', async () => {
    const run = cluster();
    for (let n = 0; n < 1100; n++) await run.api(ConfigMap).create({ metadata: { name: `c${n}` } });
    const lists: unknown[] = [];
    let applied = 0;
    run.use((request, next) => {
      if (request.resource.resource === 'configmaps') {
        if (request.verb === 'list') lists.push([request.options.limit, request.options.continue !== undefined]);
        if (request.verb === 'patch') applied++;
      }
      return next();
    });
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    expect(lists).toEqual([
      [1, false],
      [500, false],
      [500, true],
      [500, true],
    ]);
    expect(applied).toBe(1100);
  });

  test.each([
    ['resource', { version: 'v1', resource: 'nopes' }],
    ['version', { group: 'apps', version: 'v9', resource: 'deployments' }],
    ['group', { group: 'nope.example.com', version: 'v1', resource: 'configmaps' }],
  ])('fails a migration of an unknown %s at once', async (_, resource) => {
    const run = cluster();
    await run.api(StorageVersionMigration).create(migrationOf(resource) as never);
    await run.settle();
    const { status } = await run.api(StorageVersionMigration).get('m');
    expect(status).toEqual({
      conditions: [
        {
          type: 'Failed',
          status: 'True',
          lastUpdateTime: expect.any(String),
          reason: 'StorageVersionMigrationFailed',
          message: 'resource does not exist in discovery',
        },
      ],
    });
  });

  test('fails after a minute when the resource is not in the garbage collector graph', async () => {
    const run = cluster();
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'events' }) as never);
    await run.clock.advance(59_000);
    expect((await run.api(StorageVersionMigration).get('m')).status.conditions).toBeUndefined();
    await run.clock.advance(1000);
    const { status } = await run.api(StorageVersionMigration).get('m');
    expect(status.resourceVersion).toBeDefined();
    expect(status.conditions).toMatchObject([{ type: 'Failed', message: 'resource not found' }]);
  });

  test.each([
    ['Conflict', 'Succeeded'],
    ['NotFound', 'Succeeded'],
    ['Forbidden', 'Failed'],
  ] as const)('treats an object rejected with %s as %s', async (reason, outcome) => {
    const run = cluster();
    for (const name of ['a', 'b']) await run.api(ConfigMap).create({ metadata: { name } });
    run.use((request, next) => {
      if (request.verb !== 'patch' || request.name !== 'a') return next();
      const qualified = { group: '', resource: 'configmaps' };
      if (reason === 'Conflict') throw errors.conflict(qualified, 'a', 'it is another');
      if (reason === 'NotFound') throw errors.notFound(qualified, 'a');
      throw errors.forbidden(qualified, 'a', 'no');
    });
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    const { conditions } = (await run.api(StorageVersionMigration).get('m')).status;
    expect(conditions?.map(({ type, status }) => [type, status])).toEqual([
      ['Running', 'False'],
      [outcome, 'True'],
    ]);
    if (outcome === 'Failed') expect(conditions?.[1]?.message).toBe('migration encountered unhandled error');
  });

  test('runs a finished migration only once', async () => {
    const run = cluster();
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    let requests = 0;
    run.use((request, next) => {
      if (request.resource.resource === 'configmaps') requests++;
      return next();
    });
    await run.api(StorageVersionMigration).edit('m', (draft) => {
      draft.metadata.labels = { seen: 'yes' };
    });
    await run.settle();
    expect(requests).toBe(0);
  });

  test('works with the permissions of its own role', async () => {
    const errors: unknown[] = [];
    const run = testCluster({
      featureGates: { StorageVersionMigrator: true },
      runtimeConfig: 'api/all=true',
      controllers: controllers([storageVersionMigrations()], {
        accounts: 'own',
        onError: (error) => errors.push(error),
      }),
    });
    await run.api(ConfigMap).create({ metadata: { name: 'a' } });
    await run.api(StorageVersionMigration).create(migrationOf({ version: 'v1', resource: 'configmaps' }) as never);
    await run.settle();
    const { conditions } = (await run.api(StorageVersionMigration).get('m')).status;
    expect(errors).toEqual([]);
    expect(conditions?.at(-1)).toMatchObject({ type: 'Succeeded', status: 'True' });
  });
});
