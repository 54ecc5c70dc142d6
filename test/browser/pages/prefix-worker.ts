/** A service worker for pages that have an `/api` of their own; it does not take over pages that are open. */
import { createCluster } from 'orchplane';
import { fire } from 'orchplane/service-worker';

fire(createCluster({ dialect: 'kubernetes' }), { base: '/app/cluster/', claim: false });
