/**
 * A cluster that starts from a capture equals the captured one: in every text format, with custom resources, terminating
 * objects, status, bytes and integers beyond doubles.
 */

import { ConfigMap, Deployment, Namespace, Pod, Secret } from 'orchplane/kinds';
import {
  captureCluster,
  captureJson,
  captureYaml,
  parseCapture,
  type TestCluster,
  testCluster,
} from 'orchplane/testing';
import { expect, test } from 'vitest';
import fc from './seeded.js';

const DEFINITION = `
apiVersion: apiextensions.orch.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, kind: Gadget }
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: { openAPIV3Schema: { type: object, x-orch-preserve-unknown-fields: true } }
  - name: v1
    served: true
    storage: true
    subresources: { status: {} }
    schema: { openAPIV3Schema: { type: object, x-orch-preserve-unknown-fields: true } }
`;

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '',
    ' ',
    'yes',
    'null',
    '0x1f',
    '1e3',
    '~',
    'a: b',
    '# no',
    '- x',
    "it's",
    'a\nb',
    'a\n\n',
    '\ttab',
    '|',
    '2030-01-01',
  ),
);
const key = fc.stringMatching(/^[A-Za-z0-9._-]{1,8}$/).filter((each) => each !== '.' && each !== '..');
const texts = fc.dictionary(key, text, { maxKeys: 3, noNullPrototype: true });
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((each) => (each === 0 ? 0 : each)),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(
        key,
        text.filter((each) => each !== ''),
      ),
      tie('any'),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).any;

const name = fc.constantFrom('a', 'b', 'c', 'd');
type Step = (cluster: TestCluster) => Promise<unknown>;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(name, texts).map(
    ([each, data]): Step =>
      (cluster) =>
        cluster.api(ConfigMap).create({ metadata: { name: each }, data }),
  ),
  fc.tuple(name, fc.uint8Array({ maxLength: 8 })).map(
    ([each, bytes]): Step =>
      (cluster) =>
        cluster.api(Secret).create({
          metadata: { name: each, finalizers: ['example.com/hold'] },
          data: { bytes: btoa(String.fromCharCode(...bytes)) },
        }),
  ),
  name.map(
    (each): Step =>
      (cluster) =>
        cluster.api(Secret).delete(each),
  ),
  fc.tuple(name, texts).map(
    ([each, annotations]): Step =>
      (cluster) =>
        cluster
          .api(ConfigMap)
          .apply({ metadata: { name: each, annotations: prefixed(annotations) } }, { fieldManager: each, force: true }),
  ),
  fc.tuple(name, fc.nat(9)).map(
    ([each, replicas]): Step =>
      (cluster) =>
        cluster.api(Deployment).create({
          metadata: { name: each },
          spec: {
            replicas,
            selector: { matchLabels: { app: each } },
            template: {
              metadata: { labels: { app: each } },
              spec: { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '0.5', memory: '64Mi' } } }] },
            },
          },
        }),
  ),
  name.map(
    (each): Step =>
      async (cluster) => {
        await cluster.api(Pod).create({ metadata: { name: each }, spec: { containers: [{ name: 'c', image: 'i' }] } });
        await cluster.api(Pod).status.edit(each, (draft) => {
          draft.status = { ...draft.status, phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
        });
      },
  ),
  fc.tuple(name, value).map(
    ([each, spec]): Step =>
      (cluster) =>
        cluster.api(cluster.kind('example.com/v1', 'Gadget'), 'default').create({ metadata: { name: each }, spec }),
  ),
  fc.tuple(name, value).map(
    ([each, spec]): Step =>
      (cluster) =>
        cluster
          .api(cluster.kind('example.com/v1beta1', 'Gadget'), 'default')
          .create({ metadata: { name: each }, spec }),
  ),
  name.map(
    (each): Step =>
      (cluster) =>
        cluster.api(Namespace).delete(each),
  ),
  fc.constant<Step>((cluster) => cluster.clock.advance(61_000)),
);

function prefixed(record: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([each, item]) => [`x${each}x`, item]));
}

test('captures a cluster that starts from a capture identically', async () => {
  let rejected = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }), async (steps) => {
      const cluster = testCluster();
      await cluster.installYaml(DEFINITION);
      for (const each of ['a', 'b']) await cluster.api(Namespace).create({ metadata: { name: each } });
      // Rejected writes (a name that is taken, an invalid annotation) are not part of the state.
      for (const each of steps) {
        await each(cluster).then(
          () => taken++,
          () => rejected++,
        );
      }
      const state = captureCluster(cluster);
      for (const form of [captureYaml, captureJson]) {
        const written = form(cluster);
        const copy = testCluster({ from: parseCapture(written) });
        expect(form(copy)).toBe(written);
        expect(captureCluster(copy)).toEqual(state);
        expect(copy.resourceVersion).toBe(cluster.resourceVersion);
        expect(printed(captureCluster(copy))).toBe(printed(state));
      }
      expect(printed(captureCluster(testCluster({ from: state })))).toBe(printed(state));
    }),
    { numRuns: 20 },
  );
  expect(taken).toBeGreaterThan(rejected);
});

/** Prints the key order and integers in full. */
function printed(state: unknown): string {
  return JSON.stringify(state, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
}
