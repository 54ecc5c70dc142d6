/** Scenarios for a page whose worker answers below a path only, and takes control after a reload. */
import { createClient } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { Pod } from 'orchplane/kinds';
import { equal, present, type Scenarios } from './check.js';

export const prefixFirst: Scenarios = {
  'does not control the page before a reload': async () => {
    await navigator.serviceWorker.register('/app/worker.js');
    await navigator.serviceWorker.ready;
    equal(navigator.serviceWorker.controller, null);
  },
};

export const prefixLater: Scenarios = {
  'serves the cluster below its path': async () => {
    present(navigator.serviceWorker.controller);
    const pods = createClient({
      transport: httpTransport({ baseUrl: '/app/cluster', dialect: 'kubernetes' }),
    }).api(Pod);
    const spec = { containers: [{ name: 'web', image: 'web:1' }] };
    equal((await pods.create({ metadata: { name: 'web' }, spec })).status.phase, 'Pending');
    equal((await (await fetch('cluster/api/v1/pods?limit=1')).json()).items.length, 1);
    equal((await (await fetch('/app/cluster')).json()).paths.includes('/api'), true);
  },

  "leaves the API of the page's server to the network": async () => {
    equal(await (await fetch('/app/api/v1/plain.txt')).text(), 'from the network');
  },
};
