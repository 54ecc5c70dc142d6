import assert from 'node:assert/strict';
import { errors, type Middleware } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
const configMaps = cluster.api(ConfigMap);
await configMaps.create({ metadata: { name: 'web' } });

/** Fails the next so many updates, as if somebody else had been faster. */
function conflicts(times: number): Middleware {
  let left = times;
  return (request, next) => {
    if (request.verb !== 'update' || left-- <= 0) return next();
    const { group, resource } = request.resource;
    throw errors.conflict({ group, resource }, request.name ?? '', 'injected');
  };
}

/** Lets time pass before every request. */
const slow: Middleware = async (_request, next) => {
  await new Promise<void>((resolve) => cluster.clock.after(2_000, resolve));
  return next();
};

{
  using _conflicts = cluster.use(conflicts(2));
  const edited = await configMaps.edit('web', (draft) => {
    draft.data = { size: 'm' };
  });
  assert.deepEqual(edited.data, { size: 'm' }); // the third attempt got through
}
{
  using _slow = cluster.use(slow);
  let answered = false;
  const reading = configMaps.get('web').then(() => {
    answered = true;
  });
  await cluster.clock.advance(1_999);
  assert.equal(answered, false);
  await cluster.clock.advance(1);
  await reading;
}
const log: string[] = [];
{
  using _log = cluster.use((request, next) => {
    log.push(`${request.verb} ${request.resource.resource}`);
    return next();
  });
  await configMaps.list();
}
await configMaps.list();
assert.deepEqual(log, ['list configmaps']);
export {};
