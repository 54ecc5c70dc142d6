import { createCluster } from 'orchplane';
import { fire } from 'orchplane/service-worker';

fire(createCluster());
export {};
