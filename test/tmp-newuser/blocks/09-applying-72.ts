import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Service } from 'orchplane/kinds';

const cluster = createCluster();
const as = (fieldManager: string) => cluster.with({ fieldManager }).api(Service);

await as('team').apply({ metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } });
await as('metrics').apply({ metadata: { name: 'web' }, spec: { ports: [{ name: 'metrics', port: 9090 }] } });
assert.deepEqual((await as('team').get('web')).spec.ports?.map(({ port }) => port), [80, 9090]);

await as('metrics').apply({ metadata: { name: 'web' }, spec: { ports: [] } });
assert.deepEqual((await as('team').get('web')).spec.ports?.map(({ port }) => port), [80]);
export {};
