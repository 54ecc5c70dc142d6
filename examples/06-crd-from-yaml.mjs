/**
 * A kind from a CRD in YAML, with rules in CEL, columns and a scale; manifests with several objects; and a CRD made
 * from a kind of zod.
 */
import assert from 'node:assert/strict';
import { createCluster, defineKind, ManifestsError, StatusError, toCRD } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import * as z from 'zod';

const CRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: caches.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: caches, singular: cache, kind: Cache, shortNames: [ca] }
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - { name: Size, type: string, jsonPath: .spec.size }
    - { name: Nodes, type: integer, jsonPath: .spec.nodes }
    subresources:
      status: {}
      scale: { specReplicasPath: .spec.nodes, statusReplicasPath: .status.nodes }
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: { type: string, pattern: '^[0-9]+(Mi|Gi)$', maxLength: 16 }
              nodes: { type: integer, minimum: 1, default: 1 }
              zone: { type: string, maxLength: 32 }
            x-kubernetes-validations:
            - rule: quantity(self.size).isLessThan(quantity('64Gi'))
              message: a cache has less than 64Gi
              fieldPath: .size
            - rule: "!has(oldSelf.zone) || (has(self.zone) && self.zone == oldSelf.zone)"
              message: a cache does not move
          status: { type: object, properties: { nodes: { type: integer } } }
`;

console.log('A kind from a CRD');
const cluster = createCluster({ dialect: 'kubernetes' });
const [Cache] = await cluster.installYaml(CRD);
const caches = cluster.api(Cache);
const made = await caches.create({ metadata: { name: 'sessions' }, spec: { size: '2Gi', zone: 'a' } });
assert.deepEqual(made.spec, { nodes: 1, size: '2Gi', zone: 'a' });

const refusals = [
  [caches.create({ metadata: { name: 'x' }, spec: { size: 'big' } }), /should match/],
  [caches.create({ metadata: { name: 'x' }, spec: { size: '80Gi' } }), /spec.size: .* a cache has less than 64Gi/],
  [
    caches.edit('sessions', (draft) => {
      draft.spec.zone = 'b';
    }),
    /a cache does not move/,
  ],
];
for (const [refused, message] of refusals) {
  const error = await refused.then(
    () => undefined,
    (thrown) => thrown,
  );
  assert.ok(StatusError.is(error, 'Invalid') && message.test(error.message), String(error));
  console.log(`refused: ${error.message.slice(error.message.indexOf('invalid: ') + 'invalid: '.length)}`);
}
await caches.subresource('scale').edit('sessions', (draft) => {
  draft.spec.replicas = 3;
});

console.log('As kubectl sees it');
const handler = createFetchHandler(cluster);
const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const path = 'http://cluster/apis/example.com/v1/namespaces/default/caches';
const table = await (await handler(new Request(path, { headers: { accept } }))).json();
assert.deepEqual(
  table.columnDefinitions.map(({ name }) => name),
  ['Name', 'Size', 'Nodes'],
);
assert.deepEqual(table.rows[0].cells, ['sessions', '2Gi', 3]);

console.log('Many objects from one text; CRDs are applied first');
const manifests = `
apiVersion: example.com/v1
kind: Cache
metadata: { name: pages, namespace: web }
spec: { size: 512Mi }
---
apiVersion: v1
kind: Namespace
metadata: { name: web }
---
${CRD}`;
const other = createCluster({ dialect: 'kubernetes' });
const report = await other.applyYaml(manifests, { fieldManager: 'ci' });
assert.deepEqual(
  report.map(({ kind, outcome }) => `${kind} ${outcome}`),
  ['Cache created', 'Namespace created', 'CustomResourceDefinition created'],
);
const broken = other.applyYaml(manifests.replace('512Mi', 'huge'), { fieldManager: 'ci' });
await assert.rejects(broken, (error) => error instanceof ManifestsError && error.errors.length === 1);

console.log('From zod to a CRD');
const Queue = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Queue',
  scope: 'Namespaced',
  body: { spec: z.object({ depth: z.int().min(1).max(1000).default(10), keep: z.int().min(0).max(1000) }) },
  rules: [{ rule: 'self.spec.keep <= self.spec.depth', message: 'keep is at most depth' }],
});
await cluster.applyYaml(JSON.stringify(toCRD(Queue)));
const queues = cluster.api(cluster.kind('example.com/v1', 'Queue'));
await assert.rejects(queues.create({ metadata: { name: 'q' }, spec: { keep: 11 } }), /keep is at most depth/);
assert.deepEqual((await queues.create({ metadata: { name: 'q' }, spec: { keep: 5 } })).spec, { depth: 10, keep: 5 });
