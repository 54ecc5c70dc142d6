/** A service worker for pages with their own `/api`; it does not take control of open pages. */
import { createCluster } from 'orchplane';
import { fire } from 'orchplane/service-worker';

fire(createCluster({ dialect: 'kubernetes' }), { base: '/app/cluster/', claim: false });
