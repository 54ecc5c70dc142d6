/** Controllers of nodes and tokens with the permissions of their own service accounts, in both dialects. */
import {
  bootstrapSigner,
  controllers,
  legacyTokenCleaner,
  nodeLifecycle,
  taintEviction,
  tokenCleaner,
} from 'orchplane/controllers';
import { ConfigMap, CoreEvent, Node, Pod, Secret, ServiceAccount } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { ready } from '../workload-fixture.js';

const DAY_MS = 86_400_000;

test.each(['orch', 'kubernetes'] as const)(
  'runs the controllers of nodes and tokens with own accounts in the %s dialect',
  async (dialect) => {
    const complaints: string[] = [];
    const onError = (error: unknown, about: string) => void complaints.push(`${about}: ${String(error)}`);
    const cleaner = legacyTokenCleaner({ cleanUpPeriodMs: DAY_MS });
    const list = [nodeLifecycle(), taintEviction(), bootstrapSigner(), tokenCleaner(), cleaner];
    const cluster = testCluster({ dialect, controllers: controllers(list, { accounts: 'own', onError }) });
    const domain = dialect === 'orch' ? 'orch.io' : 'kubernetes.io';
    const secrets = cluster.api(Secret, 'kube-system');

    const conditions = [{ type: 'Ready', status: 'True' as const }];
    for (const name of ['a', 'b']) {
      await cluster.api(Node).create({ metadata: { name, labels: { [`${domain}/os`]: 'linux' } } });
      await cluster.api(Node).status.patch(name, { type: 'merge', merge: { status: { conditions } } });
    }
    await cluster.api(Pod).create({
      metadata: { name: 'p' },
      spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i' }] },
    });
    await cluster
      .api(Pod)
      .status.patch('p', { type: 'merge', merge: { status: ready('2030-01-01T00:00:00Z') as object } });
    await cluster.api(ServiceAccount).create({ metadata: { name: 's' }, secrets: [{ name: 't' }] });
    await cluster.api(Secret).create({
      metadata: { name: 't', annotations: { [`${domain}/service-account.name`]: 's' } },
      type: `${domain}/service-account-token`,
    });
    const tracking = 'kube-apiserver-legacy-service-account-token-tracking';
    await cluster.api(ConfigMap, 'kube-system').create({ metadata: { name: tracking }, data: { since: '2029-01-01' } });
    await cluster
      .api(ConfigMap, 'kube-public')
      .create({ metadata: { name: 'cluster-info' }, data: { kubeconfig: 'x' } });
    await secrets.create({
      metadata: { name: 'bootstrap-token-abcdef' },
      type: `bootstrap.${domain}/token`,
      stringData: {
        'token-id': 'abcdef',
        'token-secret': '0123456789abcdef',
        'usage-bootstrap-signing': 'true',
        expiration: '2030-01-01T01:00:00Z',
      },
    });
    await cluster.settle();
    const signed = (await cluster.api(ConfigMap, 'kube-public').get('cluster-info')).data;
    expect(Object.keys(signed ?? {})).toContain('jws-kubeconfig-abcdef');

    await cluster.clock.advance(30_000);
    const later = [{ type: 'Ready', status: 'True' as const, lastHeartbeatTime: '2030-01-01T00:00:30Z' }];
    await cluster.api(Node).status.patch('b', { type: 'merge', merge: { status: { conditions: later } } });
    await cluster.clock.advance(35_000);
    const lost = await cluster.api(Node).get('a');
    expect(lost.metadata.labels).toMatchObject({ [`beta.${domain}/os`]: 'linux' });
    expect(lost.spec.taints?.map(({ key, effect }) => `${key}:${effect}`)).toEqual([
      `node.${domain}/unreachable:NoSchedule`,
      `node.${domain}/unreachable:NoExecute`,
    ]);
    const reasons = (await cluster.api(CoreEvent).list()).items.map(({ reason }) => reason);
    expect(new Set(reasons)).toEqual(new Set(['RegisteredNode', 'NodeNotReady']));
    await cluster.api(Node).patch('a', {
      type: 'merge',
      merge: { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } },
    });
    await cluster.settle();
    expect((await cluster.api(Pod).get('p')).metadata.deletionTimestamp).toBeDefined();

    await cluster.clock.advance(4 * DAY_MS);
    expect(await secrets.find('bootstrap-token-abcdef')).toBeUndefined();
    expect(await cluster.api(Secret).find('t')).toBeUndefined();
    expect(complaints).toEqual([]);
    await cluster.close();
  },
);
