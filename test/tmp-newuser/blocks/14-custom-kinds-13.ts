import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gadgets.example.com
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd] }
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
    additionalPrinterColumns:
    - { name: Size, type: string, jsonPath: .spec.size }
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: { type: string, enum: [s, m, l] }
              replicas: { type: integer, minimum: 0, default: 1 }
              parts: { type: array, maxItems: 8, items: { type: string, maxLength: 20 } }
            x-kubernetes-validations:
            - rule: self.size != 's' || self.replicas <= 3
              message: small gadgets come in threes
              fieldPath: .replicas
          status:
            type: object
            properties: { replicas: { type: integer } }
`;

// Definitions of other projects are written for Kubernetes, so this cluster speaks its names. In the default dialect the
// group is apiextensions.orch.io, and extensions are spelled x-orch-validations, x-orch-list-type, …
const cluster = createCluster({ dialect: 'kubernetes' });
const [Gadget] = await cluster.installYaml(definition);
if (Gadget === undefined) throw new Error('the text holds no definition');
const gadgets = cluster.api(Gadget);

const made = await gadgets.create({ metadata: { name: 'a' }, spec: { size: 's', colour: 'red' } });
assert.deepEqual(made['spec'], { replicas: 1, size: 's' }); // defaults filled in, unknown fields gone

const refused = gadgets.create({ metadata: { name: 'b' }, spec: { size: 's', replicas: 4 } });
await assert.rejects(refused, (error) => {
  assert.ok(StatusError.is(error, 'Invalid'));
  const [cause] = error.status.details?.causes ?? [];
  assert.equal(cause?.field, 'spec.replicas');
  assert.equal(cause?.message, 'Invalid value: "object": small gadgets come in threes');
  return true;
});

await gadgets.status.edit('a', (draft) => {
  draft['status'] = { replicas: 1 };
});
const scaled = await gadgets.subresource('scale').update('a', { spec: { replicas: 3 } });
assert.deepEqual([scaled.spec.replicas, scaled.status?.replicas], [3, 1]);
export {};
