import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: people.example.com }
spec:
  group: example.com
  scope: Cluster
  names: { plural: people, singular: person, kind: Person }
  conversion:
    strategy: Webhook
    webhook: { conversionReviewVersions: [v1], clientConfig: { url: 'https://convert.example.com/people' } }
  versions:
  - name: v1
    served: true
    storage: false
    deprecated: true
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { name: { type: string } } } } } }
  - name: v2
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: { spec: { type: object, properties: { first: { type: string }, last: { type: string } } } }
`;

const cluster = createCluster({
  dialect: 'kubernetes',
  conversions: {
    // In place of the webhook: gets a copy, and returns it in the version that is asked for.
    'people.example.com': (object, toVersion) => {
      const { spec } = object as unknown as { spec: { name?: string; first?: string; last?: string } };
      const [first = '', last = ''] = (spec.name ?? '').split(' ');
      const converted = toVersion === 'v1' ? { name: `${spec.first} ${spec.last}` } : { first, last };
      return { ...object, apiVersion: `example.com/${toVersion}`, spec: converted };
    },
  },
});
await cluster.installYaml(definition);
const version = (name: string) => cluster.api(cluster.kind(`example.com/${name}`, 'Person'));

await version('v1').create({ metadata: { name: 'ada' }, spec: { name: 'Ada Lovelace' } });
assert.deepEqual((await version('v2').get('ada'))['spec'], { first: 'Ada', last: 'Lovelace' });
assert.deepEqual((await version('v1').get('ada'))['spec'], { name: 'Ada Lovelace' });
export {};
