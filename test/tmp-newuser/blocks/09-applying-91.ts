import assert from 'node:assert/strict';
import { atomic, createCluster, defineKind, mapList, setList } from 'orchplane';
import * as z from 'zod';

const Team = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Team',
  scope: 'Cluster',
  body: {
    spec: z.object({
      members: mapList(z.object({ name: z.string(), role: z.string().default('guest') }), 'name').optional(),
      tags: setList(z.string()).optional(),
      window: atomic(z.object({ from: z.string(), to: z.string() })).optional(),
    }),
  },
});

const cluster = createCluster();
cluster.install(Team);
const as = (fieldManager: string) => cluster.with({ fieldManager }).api(Team);
await as('lead').apply({ metadata: { name: 'blue' }, spec: { members: [{ name: 'ada' }], tags: ['core'] } });
const both = await as('hr').apply({
  metadata: { name: 'blue' },
  spec: { members: [{ name: 'bob' }], tags: ['paid'], window: { from: '9', to: '17' } },
});
assert.deepEqual(both.spec.members, [{ name: 'ada', role: 'guest' }, { name: 'bob', role: 'guest' }]);
assert.deepEqual(both.spec.tags, ['core', 'paid']);
export {};
