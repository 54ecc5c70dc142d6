import assert from 'node:assert/strict';
import { createCluster, defineKind } from 'orchplane';
import * as z from 'zod';

const Pool = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Pool',
  scope: 'Namespaced',
  body: { spec: z.object({ min: z.number().int().default(1), max: z.number().int(), zone: z.string() }) },
  rules: [
    { rule: 'self.spec.min <= self.spec.max', message: 'min is at most max', fieldPath: '.spec.min' },
    // A rule about a change has nothing to say on create.
    { rule: 'self.spec.zone == oldSelf.spec.zone', message: 'a pool does not move' },
  ],
});
const pools = createCluster({ kinds: [Pool] }).api(Pool);

await assert.rejects(pools.create({ metadata: { name: 'a' }, spec: { min: 3, max: 2, zone: 'z1' } }), {
  message: 'Pool.example.com "a" is invalid: spec.min: Invalid value: "object": min is at most max',
});
await pools.create({ metadata: { name: 'a' }, spec: { max: 2, zone: 'z1' } });
const moved = pools.edit('a', (draft) => {
  draft.spec.zone = 'z2';
});
await assert.rejects(moved, /a pool does not move/);

// What is wrong with a rule shows at once.
const wrong = () =>
  defineKind({
    apiVersion: 'example.com/v1',
    kind: 'Wrong',
    scope: 'Cluster',
    body: { spec: z.object({ size: z.number().int() }) },
    rules: [{ rule: 'self.spec.sise > 0' }],
  });
assert.throws(wrong, /undefined field 'sise'/);
export {};
