import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
await configMaps.create({ metadata: { name: 'counter' }, data: { n: '0' } });

const countUp = () =>
  configMaps.edit('counter', (draft) => {
    draft.data = { n: String(Number(draft.data?.['n']) + 1) };
  });
await Promise.all([countUp(), countUp(), countUp()]);
assert.equal((await configMaps.get('counter')).data?.['n'], '3');
export {};
