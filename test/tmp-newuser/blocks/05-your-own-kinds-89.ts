import assert from 'node:assert/strict';
import { createCluster, defineKind, status } from 'orchplane';
import * as z from 'zod';

const Job = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Job',
  scope: 'Namespaced',
  body: { spec: z.object({ command: z.string() }), status: z.object({ done: z.boolean() }).optional() },
  subresources: { status },
});
const cluster = createCluster({ kinds: [Job] });
const jobs = cluster.api(Job);
await jobs.create({ metadata: { name: 'a' }, spec: { command: 'ls' }, status: { done: true } });
assert.equal((await jobs.get('a')).status, undefined);

await jobs.status.edit('a', (draft) => {
  draft.status = { done: true };
  draft.spec.command = 'rm'; // has no effect here
});
const job = await jobs.get('a');
assert.deepEqual([job.status, job.spec], [{ done: true }, { command: 'ls' }]);
assert.equal(job.metadata.generation, 1); // the status does not count
export {};
