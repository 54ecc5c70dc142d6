import { createClient } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

await underWorker('/worker.js'); // the bundled file

const client = createClient({ transport: httpTransport({ baseUrl: location.origin }), fieldManager: 'page' });
// apply, because create fails when the page is loaded again: the worker, and its cluster, outlive the page.
await client.api(ConfigMap).apply({ metadata: { name: 'web' }, data: { size: 'm' } });
const response = await fetch('/api/v1/namespaces/default/configmaps/web'); // the same object
console.log(response.status, await response.json());

/** Resolves when the requests of this page go through the worker. */
async function underWorker(script: string, options?: RegistrationOptions): Promise<void> {
  const { serviceWorker } = navigator;
  const taken = new Promise((resolve) => {
    serviceWorker.addEventListener('controllerchange', resolve, { once: true });
  });
  const { active } = await serviceWorker.register(script, options);
  // The first time there is no worker yet; it takes over as soon as it is there.
  if (serviceWorker.controller === null && active === null) await taken;
  // A hard reload (with Shift) leaves the worker out, for as long as the page lives. An ordinary one brings it back.
  if (serviceWorker.controller === null) {
    if (sessionStorage.getItem('reloaded') !== null) throw new Error(`this page is not in the scope of ${script}`);
    sessionStorage.setItem('reloaded', 'yes');
    location.reload();
    await new Promise(() => undefined); // the page ends here
  }
  sessionStorage.removeItem('reloaded');
}
export {};
