import assert from 'node:assert/strict';
import { createCluster, defineKind } from 'orchplane';
import * as z from 'zod';

const cluster = createCluster({ dialect: 'kubernetes' });
await cluster.installYaml(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: lamps.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { plural: lamps, singular: lamp, kind: Lamp }
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields: [{ jsonPath: .spec.colour }]
    schema:
      openAPIV3Schema:
        type: object
        properties: { spec: { type: object, properties: { colour: { type: string, enum: [red, green] }, on: { type: boolean } } } }
`);

const Lamp = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Lamp',
  scope: 'Cluster',
  body: { spec: z.object({ colour: z.string(), on: z.boolean().optional() }) },
});
const lamps = cluster.api(Lamp); // not installed
await lamps.create({ metadata: { name: 'a' }, spec: { colour: 'red' } });
const colour: string = (await lamps.get('a')).spec.colour;
assert.equal(colour, 'red');
await assert.rejects(lamps.create({ metadata: { name: 'b' }, spec: { colour: 'blue' } }), /Unsupported value: "blue"/);

// selectableFields of a definition are fields to select by, in lists, watches and deleteCollection.
const green = await lamps.list({ fields: 'spec.colour=green' });
assert.equal(green.items.length, 0);
export {};
