/** The service worker of the test, with an extra path that reports its errors. */
import { zodSettings } from './without-eval.js';

// Modules that create schemas must be imported after the zod settings.

import { createCluster } from 'orchplane';
import { fire, type WorkerScope } from 'orchplane/service-worker';
import { equal, policyViolations } from './check.js';

equal(zodSettings.jitless, true);
const violations = policyViolations();
const faults: string[] = [];
addEventListener('error', ({ message }) => faults.push(message));
addEventListener('unhandledrejection', ({ reason }) => faults.push(String(reason)));

const worker = globalThis as unknown as WorkerScope;
worker.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (pathname === '/faults') event.respondWith(Promise.resolve(Response.json([...faults, ...violations])));
});

fire(createCluster(), { onError: (error) => faults.push(String(error)) });
