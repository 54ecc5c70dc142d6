import assert from 'node:assert/strict';
import { createCluster, defineKind, mapList, status, toCRD } from 'orchplane';
import * as z from 'zod';

const Backup = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Backup',
  scope: 'Namespaced',
  body: {
    spec: z.object({
      source: z.string().regex(/^\/[a-z/]*$/).describe('An absolute path.'),
      schedule: z.enum(['hourly', 'daily']).default('daily'),
      keep: z.int32().min(1).default(7),
      targets: mapList(z.object({ name: z.string(), url: z.url() }), 'name').optional(),
    }),
    status: z.object({ phase: z.enum(['Pending', 'Done']) }).optional(),
  },
  subresources: { status },
});

const manifest = toCRD(Backup); // a plain object: print it, write it to a file, hand it to a client
assert.equal(manifest.metadata.name, 'backups.example.com');
const spec = manifest.spec.versions[0]?.schema?.openAPIV3Schema?.properties?.['spec'];
assert.deepEqual(spec?.properties?.['source'], {
  description: 'An absolute path.',
  type: 'string',
  pattern: '^\\/[a-z/]*$',
});
assert.deepEqual(spec?.properties?.['keep'], { type: 'integer', format: 'int32', minimum: 1, maximum: 2147483647, default: 7 });
assert.equal(spec?.properties?.['targets']?.['x-kubernetes-list-type'], 'map');

// A cluster of this library takes it too, in its own spelling.
const cluster = createCluster();
const [Served] = await cluster.installYaml(JSON.stringify(toCRD(Backup, { dialect: cluster.dialect.name })));
assert.equal(Served?.kind, 'Backup');
export {};
