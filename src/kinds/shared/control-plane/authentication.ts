/**
 * Keeps ConfigMap kube-system/extension-apiserver-authentication, in which listeners publish the CA of client
 * certificates. It is restored at once when it is deleted, and a minute after another change.
 * upstream: pkg/controlplane/controller/clusterauthenticationtrust/cluster_authentication_trust_controller.go
 */
import type { GroupResource } from '../../../meta/gvk.js';
import { deepEqual } from '../../../util/json.js';
import type { ConfigData, ReconcilerHost, ServerListener, ServerReconciler } from '../../reconciler.js';
import { type Repair, RepairTimer } from '../repair-timer.js';

const CONFIG_MAPS: GroupResource = { group: '', resource: 'configmaps' };
const NAMED = { namespace: 'kube-system', name: 'extension-apiserver-authentication' };
const INTERVAL_MS = 60_000;

export function authenticationReconciler(server: ReconcilerHost): ServerReconciler {
  const timer = new RepairTimer(server, INTERVAL_MS);
  let seen = -1;
  let listenersSeen: readonly ServerListener[] | undefined;

  const repairs = (
    writers: readonly Writer[],
  ): { readonly repairs: readonly Repair[]; readonly isMissing: boolean } => {
    const live = server.objects.get({ ...CONFIG_MAPS, ...NAMED });
    const present = (live?.['data'] ?? {}) as ConfigData;
    const data = writers.reduce((before, write) => write(before), present);
    if (deepEqual(data, present)) return { repairs: [], isMissing: false };
    if (live === undefined) return { repairs: [() => server.create({ metadata: NAMED, data })], isMissing: true };
    const change: Repair = () =>
      server.update(live, (draft) => {
        draft['data'] = data;
      });
    return { repairs: [change], isMissing: false };
  };

  return {
    reconcile() {
      const listeners = server.listeners();
      const writers = (listeners ?? []).flatMap(({ authenticationData }) => authenticationData ?? []);
      // Without any, ConfigMaps are not read, so that their writes run no reconciler.
      if (writers.length === 0) return;
      const isNew = listeners !== listenersSeen;
      if (!timer.isDue && !isNew && server.lastChange(CONFIG_MAPS) === seen) return;
      listenersSeen = listeners;
      const found = repairs(writers);
      timer.settle(found.repairs, { now: isNew || found.isMissing });
      seen = server.lastChange(CONFIG_MAPS);
    },
  };
}

type Writer = NonNullable<ServerListener['authenticationData']>;
