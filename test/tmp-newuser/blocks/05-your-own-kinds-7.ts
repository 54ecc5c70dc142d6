import assert from 'node:assert/strict';
import { createCluster, defineKind, fieldError, type InputOf, type ObjectOf, StatusError, status } from 'orchplane';
import * as z from 'zod';

const Backup = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Backup',
  scope: 'Namespaced', // or 'Cluster'
  body: {
    spec: z.object({
      source: z.string().min(1),
      schedule: z.enum(['hourly', 'daily']).default('daily'),
      keep: z.number().int().min(1).default(7),
    }),
    status: z.object({ phase: z.enum(['Pending', 'Done']) }).optional(),
  },
  subresources: { status },
  // Rules across fields.
  validate: ({ spec }) =>
    spec.schedule === 'hourly' && spec.keep < 24
      ? [fieldError('invalid', 'spec.keep', { value: spec.keep, detail: 'hourly backups are kept for a day' })]
      : [],
});
type Backup = ObjectOf<typeof Backup>; // what the server returns, deep-readonly; DraftOf is what a recipe of edit gets
type BackupInput = InputOf<typeof Backup>; // what it accepts

const cluster = createCluster();
cluster.install(Backup);
const backups = cluster.api(Backup);

const input: BackupInput = { metadata: { name: 'photos' }, spec: { source: '/photos' } };
const made = await backups.create(input);
assert.deepEqual(made.spec, { keep: 7, schedule: 'daily', source: '/photos' });

const bad = backups.create({ metadata: { name: 'x' }, spec: { source: '/x', schedule: 'hourly', keep: 3 } });
await assert.rejects(bad, (error) => StatusError.is(error, 'Invalid'));

// Rules hold for every write, not just for the first.
const worse = backups.edit('photos', (draft) => {
  draft.spec.schedule = 'hourly';
});
await assert.rejects(worse, (error) => StatusError.is(error, 'Invalid'));
export {};
