/**
 * A user-defined kind: zod schemas define types, defaults and validation. The server treats it like any other kind:
 * versions, watches, selectors, generations, a status subresource.
 */
import assert from 'node:assert/strict';
import { createCluster, defineKind, fieldError, jsonPatch, StatusError, status } from 'orchplane';
import * as z from 'zod';

const Backup = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Backup',
  scope: 'Namespaced',
  names: { shortNames: ['bu'] },
  body: {
    spec: z.object({
      source: z.string().min(1),
      schedule: z.enum(['hourly', 'daily', 'weekly']).default('daily'),
      keep: z.number().int().min(1).max(100).default(7),
      exclude: z.array(z.string()).optional(),
    }),
    status: z.object({ phase: z.enum(['Pending', 'Done']), size: z.number().optional() }).optional(),
  },
  subresources: { status },
  // Rules across fields, in addition to the schemas.
  validate: ({ spec }) =>
    spec.schedule === 'hourly' && spec.keep < 24
      ? [fieldError('invalid', 'spec.keep', { value: spec.keep, detail: 'hourly backups must be kept for a day' })]
      : [],
});

const cluster = createCluster();
cluster.install(Backup);
const backups = cluster.api(Backup);

console.log('Defaults are set; unknown fields are dropped with a warning');
const warnings = [];
const made = await cluster
  .with({ onWarning: (warning) => warnings.push(warning) })
  .api(Backup)
  .create({ metadata: { name: 'photos' }, spec: { source: '/photos', color: 'red' } });
console.log(`  spec     ${JSON.stringify(made.spec)}`);
console.log(`  warnings ${warnings.join(', ')}`);
assert.deepEqual(made.spec, { keep: 7, schedule: 'daily', source: '/photos' });
assert.deepEqual(warnings, ['unknown field "spec.color"']);

console.log('\nAn invalid object is rejected with an error for each field');
const error = await backups
  .create({ metadata: { name: 'bad' }, spec: { source: '', schedule: 'hourly', keep: 3 } })
  .catch((thrown) => thrown);
assert.ok(StatusError.is(error, 'Invalid'));
for (const { field, message } of error.status.details.causes) console.log(`  ${field}: ${message}`);
assert.deepEqual(
  error.status.details.causes.map((cause) => cause.field),
  ['spec.source', 'spec.keep'],
);

console.log('\nThe status is a subresource, and generation counts changes of the rest');
await backups.status.edit('photos', (backup) => {
  backup.status = { phase: 'Done', size: 4096 };
  backup.spec.keep = 99; // Has no effect in a write to the status.
});
const patched = await backups.patch('photos', jsonPatch([{ op: 'replace', path: '/spec/keep', value: 30 }]));
console.log(`  spec       ${JSON.stringify(patched.spec)}`);
console.log(`  status     ${JSON.stringify(patched.status)}`);
console.log(`  generation ${patched.metadata.generation}`);
assert.equal(patched.spec.keep, 30);
assert.deepEqual(patched.status, { phase: 'Done', size: 4096 });
assert.equal(patched.metadata.generation, 2);

await cluster.close();
