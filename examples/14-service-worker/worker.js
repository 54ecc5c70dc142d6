/** The service worker: a cluster below /cluster/, for every page of this origin. */
import { createCluster } from 'orchplane/core';
import { fire } from 'orchplane/service-worker';
import { Note } from './note.js';

const cluster = createCluster({ kinds: [Note] });
// The browser may end an idle worker. The next one starts with the objects that are created here.
cluster.api(Note).create({ metadata: { name: 'welcome' }, spec: { text: 'Open this page in a second tab.' } });
fire(cluster, { base: '/cluster/' });
