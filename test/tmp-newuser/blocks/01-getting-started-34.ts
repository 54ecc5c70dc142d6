import { createCluster, defaultAdmission, memoryStorage } from 'orchplane';
import { ConfigMap, Secret } from 'orchplane/kinds';

createCluster({
  kinds: [ConfigMap, Secret], // all built-in kinds unless given; Namespace is always there
  dialect: 'kubernetes', // see below
  storage: memoryStorage({ history: 1_000 }), // how much of the past is kept
  admission: defaultAdmission, // plugins, in order
  client: { namespace: 'kube-system', fieldManager: 'ci' }, // what calls assume unless they say otherwise
});
export {};
