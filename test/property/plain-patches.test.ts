/**
 * Plain patches take a fast path, unless the store has unvalidated objects. Both paths produce the same object, the same
 * owners and the same errors.
 */
import { expect, test } from 'vitest';
import { createClient } from '../../src/client/client.js';
import { mergePatch, strategicPatch } from '../../src/client/patches.js';
import { CoreEvent, Deployment, Job, Pod, PodDisruptionBudget, Service } from '../../src/kinds/index.js';
import type { Kind } from '../../src/kinds/kind.js';
import { StatusError } from '../../src/meta/errors.js';
import { parseCapture, testCluster } from '../../src/testing/index.js';
import fc from './seeded.js';

const container = { name: 'web', image: 'web:1' };
interface Subject {
  readonly kind: Kind;
  readonly input: object;
  /** A valid patch that qualifies for the fast path. */
  readonly plain: (count: number, text: string) => object;
}

const SUBJECTS: readonly Subject[] = [
  {
    kind: CoreEvent as unknown as Kind,
    input: {
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' },
      reason: 'Started',
      message: 'first',
      source: { component: 'test' },
      type: 'Normal',
      count: 1,
      firstTimestamp: '2024-01-01T00:00:00Z',
    },
    plain: (count, text) => ({ count, message: text, lastTimestamp: `2024-01-01T00:00:0${count}Z` }),
  },
  {
    kind: Deployment as unknown as Kind,
    input: {
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } },
      },
    },
    plain: (count) => ({ spec: { replicas: count, minReadySeconds: count }, status: { replicas: count } }),
  },
  {
    kind: Pod as unknown as Kind,
    input: { spec: { containers: [container], nodeName: 'n' } },
    plain: (count, text) => ({ spec: { activeDeadlineSeconds: count }, status: { reason: text, message: text } }),
  },
  {
    kind: Service as unknown as Kind,
    input: { spec: { ports: [{ port: 80 }], selector: { app: 'web' } } },
    plain: (count) => ({ spec: { sessionAffinity: count % 2 === 0 ? 'None' : 'ClientIP' } }),
  },
  {
    kind: PodDisruptionBudget as unknown as Kind,
    input: { spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } } },
    // The selector is replaced as a whole.
    plain: (count) => ({
      spec: { selector: {}, ...(count % 2 === 0 ? { unhealthyPodEvictionPolicy: 'AlwaysAllow' } : {}) },
    }),
  },
  {
    kind: Job as unknown as Kind,
    input: { spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
    plain: (count) => ({ spec: { parallelism: count, activeDeadlineSeconds: count } }),
  },
];

const scalar = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'Local',
    'first',
    '2024-05-01T12:00:00Z',
    '2024-05-01T14:00:00+02:00',
    '0001-01-01T00:00:00Z',
  ),
  fc.constantFrom(0, 1, 7, -1, 2 ** 31, 2 ** 40, 1.5, true, false, null),
);
const inner = fc.dictionary(
  fc.constantFrom(
    'replicas',
    'paused',
    'suspend',
    'parallelism',
    'activeDeadlineSeconds',
    'type',
    'component',
    'host',
    'uid',
    'generateName',
    'phase',
    'message',
    'startTime',
    'unknown',
    '$patch',
    'terminationGracePeriodSeconds',
    'minReadySeconds',
  ),
  scalar,
  { minKeys: 1, maxKeys: 3 },
);
const patch = fc.dictionary(
  fc.constantFrom(
    'spec',
    'status',
    'metadata',
    'source',
    'count',
    'message',
    'reason',
    'lastTimestamp',
    'eventTime',
    'type',
    'kind',
    'apiVersion',
    'unknown',
    'action',
  ),
  fc.oneof({ weight: 2, arbitrary: scalar }, { weight: 3, arbitrary: inner }),
  { minKeys: 1, maxKeys: 3 },
);

const step = fc.record({
  patch,
  isPlain: fc.boolean(),
  count: fc.integer({ min: 1, max: 9 }),
  text: fc.constantFrom('a', 'b'),
  type: fc.constantFrom('strategic', 'merge'),
  status: fc.boolean(),
  by: fc.constantFrom('a', 'b'),
  seconds: fc.integer({ min: 0, max: 2 }),
});

/** One unvalidated object is enough to disable the fast path. */
const UNVALIDATED = parseCapture(
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'unvalidated', namespace: 'default' } }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function runSteps(
  index: number,
  steps: readonly Step[],
  hasUnvalidatedObjects: boolean,
): Promise<readonly unknown[]> {
  const { kind, input, plain } = SUBJECTS[index] as (typeof SUBJECTS)[number];
  const cluster = testCluster(hasUnvalidatedObjects ? { from: UNVALIDATED } : {});
  await createClient({ transport: cluster, fieldManager: 'a' })
    .api(kind)
    .create({ metadata: { name: 'it', labels: { app: 'web' } }, ...input } as never);
  const results: unknown[] = [];
  for (const each of steps) {
    await cluster.clock.advance(each.seconds * 1000);
    const api = createClient({ transport: cluster, fieldManager: each.by }).api(kind);
    const body = (each.isPlain ? plain(each.count, each.text) : each.patch) as never;
    const sent = each.type === 'merge' ? mergePatch(body) : strategicPatch(body);
    const place =
      each.status && Object.hasOwn(kind.subresources, 'status') ? (api as never as { status: typeof api }).status : api;
    try {
      const { metadata, ...rest } = (await place.patch('it', sent as never)) as { metadata: Record<string, unknown> };
      const { resourceVersion: _version, uid: _uid, ...kept } = metadata;
      results.push({ ...rest, metadata: kept });
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      results.push(error.status);
    }
  }
  await cluster.close();
  return results;
}

test('patches an object on the fast path as on the general path', async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: SUBJECTS.length - 1 }),
      fc.array(step, { minLength: 2, maxLength: 5 }),
      async (index, steps) => {
        const short = await runSteps(index, steps, false);
        expect(short).toStrictEqual(await runSteps(index, steps, true));
        accepted += short.filter(
          (response) => 'metadata' in (response as object) && 'name' in (response as { metadata: object }).metadata,
        ).length;
      },
    ),
    { numRuns: 100 },
  );
  expect(accepted).toBeGreaterThan(40);
});
