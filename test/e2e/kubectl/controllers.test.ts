/** kubectl against a cluster with controllers, so that waits complete. */
import { controllers, stages, standardControllers } from 'orchplane/controllers';
import { Deployment, Namespace, Pod, ReplicaSet } from 'orchplane/kinds';
import { expect } from 'vitest';
import { kubectlTests } from './session.js';

kubectlTests(
  'with controllers',
  (test) => {
    test('rolls out, rolls back and scales a deployment', async ({ run, cluster, namespace }) => {
      await run('create deployment web --image=web:1 --replicas=3');
      expect(await run('rollout status deployment/web --timeout=30s')).toContain('successfully rolled out');
      await run('set image deployment/web web=web:2');
      expect(await run('rollout status deployment/web --timeout=30s')).toContain('successfully rolled out');
      expect(await run('rollout history deployment/web')).toMatch(/1 .*\n2 /);
      await run('rollout undo deployment/web');
      await run('rollout status deployment/web --timeout=30s');
      const web = await cluster.api(Deployment, namespace).get('web');
      expect(web.spec.template.spec?.containers[0]?.image).toBe('web:1');
      await run('scale deployment/web --replicas=1');
      await run('wait --for=jsonpath={.status.availableReplicas}=1 deployment/web --timeout=30s');
      expect((await cluster.api(Pod, namespace).list()).items).toHaveLength(1);
    });

    test('deletes dependents with their owner', async ({ run, cluster, namespace }) => {
      await run('create deployment web --image=web:1 --replicas=2');
      await run('rollout status deployment/web --timeout=30s');
      await run('delete deployment web --cascade=foreground --timeout=30s');
      expect((await cluster.api(ReplicaSet, namespace).list()).items).toEqual([]);
      expect((await cluster.api(Pod, namespace).list()).items).toEqual([]);
    });

    test('deletes a namespace and runs a job', async ({ run, cluster, namespace }) => {
      const other = `${namespace}-other`;
      await run(`create namespace ${other}`);
      await run(`create job hello --image=hello:1 -n ${other}`);
      await run(`wait --for=condition=Complete job/hello -n ${other} --timeout=30s`);
      await run(`delete namespace ${other} --timeout=30s`);
      expect(await cluster.api(Namespace).find(other)).toBeUndefined();
    });

    test('delays evictions because of disruption budgets', async ({ run, cluster, namespace }) => {
      await run('create deployment web --image=web:1 --replicas=2');
      await run('rollout status deployment/web --timeout=30s');
      await run('create poddisruptionbudget web --selector=app=web --min-available=2');
      await run('wait --for=jsonpath={.status.currentHealthy}=2 pdb/web --timeout=30s');
      const [pod] = (await cluster.api(Pod, namespace).list()).items;
      const evicting = cluster
        .api(Pod, namespace)
        .subresource('eviction')
        .create(pod?.metadata.name ?? '', {});
      await expect(evicting).rejects.toMatchObject({ reason: 'TooManyRequests' });
    });
  },
  { controllers: controllers([...standardControllers(), stages()]) },
);
