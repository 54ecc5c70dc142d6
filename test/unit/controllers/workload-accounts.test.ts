/** Workload controllers with the permissions of their own service accounts, in both dialects. */
import { controllers, daemonSets, disruptionBudgets, nodeTtl, podCollector, statefulSets } from 'orchplane/controllers';
import {
  ControllerRevision,
  DaemonSet,
  Node,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StatefulSet,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { ready, selector, template } from './workload-fixture.js';

test.each(['orch', 'kubernetes'] as const)(
  'runs the workload controllers with own accounts in the %s dialect',
  async (dialect) => {
    const complaints: string[] = [];
    const onError = (error: unknown, about: string) => void complaints.push(`${about}: ${String(error)}`);
    const list = [statefulSets(), daemonSets(), podCollector(), disruptionBudgets(), nodeTtl()];
    const cluster = testCluster({ dialect, controllers: controllers(list, { accounts: 'own', onError }) });
    const domain = dialect === 'orch' ? 'orch.io' : 'kubernetes.io';

    await cluster.api(Node).create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect((await cluster.api(Node).get('a')).metadata.annotations).toEqual({ [`node.alpha.${domain}/ttl`]: '0' });
    await cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { taints: null } } });

    // An orphan to adopt, a claim to own, an update, and revisions to delete.
    const containers = [{ name: 'c', image: 'i' }];
    const volumes = [{ name: 'd', persistentVolumeClaim: { claimName: 'd-web-0' } }];
    await cluster.api(Pod).create({ metadata: { name: 'web-0', labels: { app: 'x' } }, spec: { containers, volumes } });
    const claim = { accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage: '1Gi' } } };
    const persistentVolumeClaimRetentionPolicy = { whenDeleted: 'Delete' as const };
    const spec = { serviceName: 's', selector, template: template(), revisionHistoryLimit: 0 };
    await cluster.api(StatefulSet).create({
      metadata: { name: 'web' },
      spec: {
        ...spec,
        replicas: 2,
        podManagementPolicy: 'Parallel',
        persistentVolumeClaimRetentionPolicy,
        volumeClaimTemplates: [{ metadata: { name: 'd' }, spec: claim }],
      },
    });
    await cluster.settle();
    const web1 = await cluster.api(Pod).get('web-1');
    expect(web1.metadata.labels).toMatchObject({
      [`statefulset.${domain}/pod-name`]: 'web-1',
      [`apps.${domain}/pod-index`]: '1',
    });
    expect((await cluster.api(PersistentVolumeClaim).get('d-web-1')).metadata.ownerReferences).toHaveLength(1);
    await cluster.api(StatefulSet).patch('web', { type: 'merge', merge: { spec: { template: template('i:2') } } });
    await cluster.settle();
    await cluster.api(StatefulSet).delete('web');
    await cluster.api(Pod).deleteCollection();
    await cluster.settle();

    await cluster.api(DaemonSet).create({
      metadata: { name: 'ds' },
      spec: { selector, template: template('i:1', { terminationGracePeriodSeconds: 0 }) },
    });
    await cluster.api(PodDisruptionBudget).create({ metadata: { name: 'b' }, spec: { selector, maxUnavailable: 1 } });
    await cluster.settle();
    const [pod] = (await cluster.api(Pod).list()).items;
    const name = pod?.metadata.name ?? '';
    await cluster
      .api(Pod)
      .subresource('binding')
      .create(name, { target: { kind: 'Node', name: 'a' } });
    await cluster
      .api(Pod)
      .status.patch(name, { type: 'merge', merge: { status: ready('2030-01-01T00:00:00Z') as object } });
    await cluster.settle();
    expect((await cluster.api(DaemonSet).get('ds')).status).toMatchObject({ numberReady: 1, numberAvailable: 1 });
    expect((await cluster.api(PodDisruptionBudget).get('b')).status.conditions?.[0]?.reason).toBe('SyncFailed');
    await cluster.api(DaemonSet).patch('ds', { type: 'merge', merge: { spec: { template: template('i:2') } } });
    await cluster.settle();
    expect((await cluster.api(ControllerRevision).list()).items.length).toBeGreaterThan(1);
    const [renewed] = (await cluster.api(Pod).list()).items;
    expect(renewed?.spec.containers[0]?.image).toBe('i:2');

    // The pod collector deletes pods of the deleted node.
    const target = { kind: 'Node', name: 'a' };
    await cluster
      .api(Pod)
      .subresource('binding')
      .create(renewed?.metadata.name ?? '', { target });
    await cluster.api(Node).delete('a');
    await cluster.clock.advance(60_000);
    await cluster.settle();
    expect((await cluster.api(Pod).list()).items).toEqual([]);

    expect(complaints).toEqual([]);
    await cluster.close();
  },
);
