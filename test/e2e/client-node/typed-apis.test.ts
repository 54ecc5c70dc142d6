/** The generated API classes of client-node: every verb, every patch type, typed values and errors. */
import {
  AppsV1Api,
  AuthenticationV1Api,
  AuthorizationV1Api,
  BatchV1Api,
  CoordinationV1Api,
  CoreV1Api,
  NetworkingV1Api,
  PatchStrategy,
  PolicyV1Api,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  V1MicroTime,
} from '@kubernetes/client-node';
import { ConfigMap, Deployment, Job, Pod, Secret } from 'orchplane/kinds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asSent, openSite, refusal, type Site, ways } from './sites.js';

const namespace = 'default';
const asPatch = (strategy: string): ReturnType<typeof setHeaderOptions> => setHeaderOptions('Content-Type', strategy);

/** A minimal container. */
const container = { name: 'app', image: 'app:1' };
const deployment = (name: string, replicas: number): { metadata: { name: string }; spec: DeploymentSpec } => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ ...container }] } },
  },
});
interface DeploymentSpec {
  replicas: number;
  selector: { matchLabels: Record<string, string> };
  template: { metadata: { labels: Record<string, string> }; spec: { containers: { name: string; image: string }[] } };
}

describe.each(ways)('client-node API classes (%s)', (way) => {
  let site: Site;
  let core: CoreV1Api;
  let apps: AppsV1Api;

  beforeAll(async () => {
    site = await openSite(way);
    core = site.config.makeApiClient(CoreV1Api);
    apps = site.config.makeApiClient(AppsV1Api);
  });
  afterAll(() => site[Symbol.asyncDispose]());

  describe('a single object', () => {
    test("creates, reads, replaces and deletes an object like the library's own client", async () => {
      const ours = site.cluster.api(ConfigMap);
      const body = { metadata: { name: 'life', labels: { a: 'b' } }, data: { text: 'grün 日本 🚀 \u0000\n"' } };
      const created = await core.createNamespacedConfigMap({ namespace, body });
      expect(asSent(created)).toEqual(await ours.get('life'));
      expect(created.data).toEqual(body.data);

      const read = await core.readNamespacedConfigMap({ namespace, name: 'life' });
      expect(read).toEqual(created);

      const replaced = await core.replaceNamespacedConfigMap({
        namespace,
        name: 'life',
        body: { ...read, data: { text: 'new' } },
      });
      expect((await ours.get('life')).data).toEqual({ text: 'new' });
      expect(replaced.metadata?.uid).toBe(created.metadata?.uid);

      const stale = await refusal(core.replaceNamespacedConfigMap({ namespace, name: 'life', body: read }));
      expect([stale.code, stale.status.reason]).toEqual([409, 'Conflict']);

      const gone = await core.deleteNamespacedConfigMap({ namespace, name: 'life' });
      expect([gone.status, gone.details?.name]).toEqual(['Success', 'life']);
      expect(await ours.find('life')).toBeUndefined();
    });

    test('generates a name', async () => {
      const body = { metadata: { generateName: 'made-' } };
      const { metadata } = await core.createNamespacedConfigMap({ namespace, body });
      expect(metadata?.name).toMatch(/^made-[a-z0-9]{5}$/);
    });

    test('stores nothing in a dry run', async () => {
      const body = deployment('dry', 1);
      const dryRunResult = await apps.createNamespacedDeployment({ namespace, body, dryRun: 'All' });
      expect(dryRunResult.spec?.strategy?.type).toBe('RollingUpdate');
      expect(await site.cluster.api(Deployment).find('dry')).toBeUndefined();
      const fresh = deployment('dry', 1);
      await apps.createNamespacedDeployment({ namespace, body: fresh });
      const scaled = await apps.patchNamespacedDeployment(
        { namespace, name: 'dry', body: { spec: { replicas: 9 } }, dryRun: 'All' },
        asPatch(PatchStrategy.MergePatch),
      );
      expect(scaled.spec?.replicas).toBe(9);
      await apps.deleteNamespacedDeployment({ namespace, name: 'dry', dryRun: 'All' });
      expect((await site.cluster.api(Deployment).get('dry')).spec.replicas).toBe(1);
    });

    test('deletes an object only if the preconditions in the body hold', async () => {
      const body = { metadata: { name: 'guarded' } };
      const { metadata } = await core.createNamespacedConfigMap({ namespace, body });
      const wrong = { preconditions: { uid: 'another' } };
      const refused = await refusal(core.deleteNamespacedConfigMap({ namespace, name: 'guarded', body: wrong }));
      expect(refused.code).toBe(409);
      const right = { preconditions: { uid: metadata?.uid ?? '' }, propagationPolicy: 'Background' };
      await core.deleteNamespacedConfigMap({ namespace, name: 'guarded', body: right });
      expect(await site.cluster.api(ConfigMap).find('guarded')).toBeUndefined();
    });

    test('addresses an object with or without a namespace according to its kind', async () => {
      await core.createNamespace({ body: { metadata: { name: 'team' } } });
      const body = { metadata: { name: 'web' }, data: { a: '1' } };
      await core.createNamespacedConfigMap({ namespace: 'team', body });
      const found = await core.listConfigMapForAllNamespaces({ fieldSelector: 'metadata.name=web' });
      expect(found.items.map(({ metadata }) => metadata?.namespace)).toEqual(['team']);
      const rbac = site.config.makeApiClient(RbacAuthorizationV1Api);
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }];
      const role = await rbac.createClusterRole({ body: { metadata: { name: 'reader' }, rules } });
      expect(role.rules).toEqual(rules);
      const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }];
      const roleRef = { kind: 'ClusterRole', name: 'reader', apiGroup: 'rbac.authorization.k8s.io' };
      const binding = { metadata: { name: 'readers' }, subjects, roleRef };
      const bound = await rbac.createNamespacedRoleBinding({ namespace: 'team', body: binding });
      expect(bound.roleRef).toEqual(roleRef);
    });
  });

  describe('typed values', () => {
    test('converts dates to the second or to the microsecond', async () => {
      const coordination = site.config.makeApiClient(CoordinationV1Api);
      const renewTime = new V1MicroTime('2031-02-03T04:05:06.789Z');
      const body = { metadata: { name: 'leader' }, spec: { holderIdentity: 'a', renewTime } };
      const lease = await coordination.createNamespacedLease({ namespace, body });
      expect(lease.metadata?.creationTimestamp).toEqual(new Date(site.cluster.clock.now()));
      // Its type differs, but client-node does not convert this value.
      expect(lease.spec?.renewTime).toBe('2031-02-03T04:05:06.789000Z');
    });

    test('keeps or canonicalizes quantities', async () => {
      const limits = { cpu: '1500m', memory: '0.5Gi' };
      const requests = { cpu: '0.50', memory: '1e6' };
      const body = {
        metadata: { name: 'sized' },
        spec: { containers: [{ ...container, resources: { limits, requests } }] },
      };
      const { spec } = await core.createNamespacedPod({ namespace, body });
      expect(spec?.containers[0]?.resources).toEqual({
        limits: { cpu: '1500m', memory: '512Mi' },
        requests: { cpu: '500m', memory: '1e6' },
      });
    });

    test('keeps the type of IntOrString values', async () => {
      const ports = [
        { name: 'a', port: 80, targetPort: 8080 },
        { name: 'b', port: 81, targetPort: 'metrics' },
      ];
      const service = await core.createNamespacedService({
        namespace,
        body: { metadata: { name: 'web' }, spec: { ports } },
      });
      expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual([8080, 'metrics']);
      const policy = site.config.makeApiClient(PolicyV1Api);
      const spec = { minAvailable: '50%', selector: { matchLabels: { app: 'web' } } };
      const budget = await policy.createNamespacedPodDisruptionBudget({
        namespace,
        body: { metadata: { name: 'web' }, spec },
      });
      expect(budget.spec?.minAvailable).toBe('50%');
    });

    test('supports fields whose names are reserved in JavaScript', async () => {
      const networking = site.config.makeApiClient(NetworkingV1Api);
      const from = [{ podSelector: { matchLabels: { app: 'web' } } }];
      const spec = { podSelector: {}, ingress: [{ _from: from, ports: [{ port: 'http' }] }] };
      const made = await networking.createNamespacedNetworkPolicy({
        namespace,
        body: { metadata: { name: 'p' }, spec },
      });
      expect(made.spec?.ingress?.[0]?._from).toEqual(from);
    });

    test('encodes secrets as base64, and the server encodes stringData', async () => {
      const data = { binary: Buffer.from([0, 255, 128]).toString('base64') };
      const body = { metadata: { name: 'keys' }, data, stringData: { text: 'pässwörd' }, immutable: true };
      const secret = await core.createNamespacedSecret({ namespace, body });
      expect(secret.data).toEqual({ ...data, text: Buffer.from('pässwörd').toString('base64') });
      expect(secret.stringData).toBeUndefined();
      expect(asSent(secret)).toEqual(await site.cluster.api(Secret).get('keys'));
      const refused = await refusal(
        core.replaceNamespacedSecret({ namespace, name: 'keys', body: { ...secret, data: {} } }),
      );
      expect([refused.code, refused.status.details?.causes?.[0]?.field]).toEqual([422, 'data']);
    });

    test('transfers large bodies completely in both directions', async () => {
      const data = { big: 'ü'.repeat(300_000) };
      const made = await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'big' }, data } });
      expect(made.data?.['big']?.length).toBe(300_000);
      expect((await site.cluster.api(ConfigMap).get('big')).data).toEqual(data);
    });
  });

  describe('client-node patches', () => {
    beforeAll(async () => {
      await apps.createNamespacedDeployment({ namespace, body: deployment('web', 1) });
    });

    test('supports JSON patch', async () => {
      const body = [
        { op: 'test', path: '/spec/replicas', value: 1 },
        { op: 'add', path: '/metadata/labels', value: { tier: 'front' } },
      ];
      // The default content type of client-node.
      const patched = await apps.patchNamespacedDeployment({ namespace, name: 'web', body });
      expect(patched.metadata?.labels).toEqual({ tier: 'front' });
      const failed = await refusal(
        apps.patchNamespacedDeployment({ namespace, name: 'web', body: [{ op: 'remove', path: '/spec/nope' }] }),
      );
      expect([failed.code, failed.status.reason]).toEqual([422, 'Invalid']);
    });

    test('supports merge patch', async () => {
      const body = { metadata: { labels: { tier: null, team: 'a' } } };
      const patched = await apps.patchNamespacedDeployment(
        { namespace, name: 'web', body },
        asPatch(PatchStrategy.MergePatch),
      );
      expect(patched.metadata?.labels).toEqual({ team: 'a' });
    });

    test('supports strategic merge patch', async () => {
      const containers = [{ name: 'side', image: 'side:1' }];
      const body = { spec: { template: { spec: { containers } } } };
      const options = asPatch(PatchStrategy.StrategicMergePatch);
      const patched = await apps.patchNamespacedDeployment({ namespace, name: 'web', body }, options);
      expect(patched.spec?.template.spec?.containers.map(({ name }) => name)).toEqual(['side', 'app']);
    });

    test('supports server-side apply with conflicts and force', async () => {
      const applied = (size: string): object => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'applied' },
        data: { size },
      });
      const apply = (
        fieldManager: string,
        size: string,
        force = false,
      ): ReturnType<CoreV1Api['patchNamespacedConfigMap']> =>
        core.patchNamespacedConfigMap(
          { namespace, name: 'applied', body: applied(size), fieldManager, force },
          asPatch(PatchStrategy.ServerSideApply),
        );
      await apply('a', 'm');
      const conflict = await refusal(apply('b', 'l'));
      expect(conflict.code).toBe(409);
      expect(conflict.status.details?.causes).toEqual([
        { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.data.size' },
      ]);
      const forced = await apply('b', 'l', true);
      expect(forced.data).toEqual({ size: 'l' });
      const managers = forced.metadata?.managedFields?.map(({ manager, operation }) => [manager, operation]);
      expect(managers).toContainEqual(['b', 'Apply']);
    });

    test('rejects a patch with an unsupported content type', async () => {
      const call = core.patchNamespacedConfigMap({ namespace, name: 'applied', body: {} }, asPatch('application/json'));
      const { code, status } = await refusal(call);
      expect([code, status.reason]).toEqual([415, 'UnsupportedMediaType']);
    });
  });

  describe('client-node subresources', () => {
    test('changes status through the status path only', async () => {
      const batch = site.config.makeApiClient(BatchV1Api);
      const template = { spec: { containers: [container], restartPolicy: 'Never' } };
      const made = await batch.createNamespacedJob({
        namespace,
        body: { metadata: { name: 'once' }, spec: { template } },
      });
      const startTime = new Date('2030-01-01T00:00:05Z');
      const body = { ...made, status: { active: 1, startTime } };
      await batch.replaceNamespacedJob({ namespace, name: 'once', body: { ...body, metadata: { name: 'once' } } });
      expect((await site.cluster.api(Job).get('once')).status).toEqual({});
      const latest = await batch.readNamespacedJobStatus({ namespace, name: 'once' });
      const written = await batch.replaceNamespacedJobStatus({
        namespace,
        name: 'once',
        body: { ...latest, status: { active: 1, startTime } },
      });
      expect(written.status).toMatchObject({ active: 1, startTime });
      const cron = { schedule: '*/5 * * * *', jobTemplate: { spec: { template } } };
      const cronJob = await batch.createNamespacedCronJob({
        namespace,
        body: { metadata: { name: 'often' }, spec: cron },
      });
      expect(cronJob.spec?.concurrencyPolicy).toBe('Allow');
    });

    test('reads and sets replicas through scale', async () => {
      await apps.createNamespacedDeployment({ namespace, body: deployment('grow', 2) });
      const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'grow' });
      expect([scale.kind, scale.spec?.replicas, scale.status?.selector]).toEqual(['Scale', 2, 'app=grow']);
      await apps.replaceNamespacedDeploymentScale({
        namespace,
        name: 'grow',
        body: { ...scale, spec: { replicas: 5 } },
      });
      const body = { spec: { replicas: 7 } };
      const patched = await apps.patchNamespacedDeploymentScale(
        { namespace, name: 'grow', body },
        asPatch(PatchStrategy.MergePatch),
      );
      expect(patched.spec?.replicas).toBe(7);
      expect((await site.cluster.api(Deployment).get('grow')).spec.replicas).toBe(7);
    });

    test('binds and evicts a pod', async () => {
      await core.createNamespacedPod({
        namespace,
        body: { metadata: { name: 'bound' }, spec: { containers: [container] } },
      });
      const target = { kind: 'Node', name: 'node-1' };
      // The models declare a Binding as response; servers respond with a Status.
      await core.createNamespacedPodBinding({
        namespace,
        name: 'bound',
        body: { metadata: { name: 'bound' }, target },
      });
      expect((await site.cluster.api(Pod).get('bound')).spec.nodeName).toBe('node-1');
      await core.createNamespacedPodEviction({ namespace, name: 'bound', body: { metadata: { name: 'bound' } } });
      expect((await site.cluster.api(Pod).find('bound'))?.metadata.deletionTimestamp).not.toBe('');
    });

    test('answers reviews without storing them', async () => {
      const authorization = site.config.makeApiClient(AuthorizationV1Api);
      const resourceAttributes = { namespace, verb: 'delete', group: 'apps', resource: 'deployments' };
      const self = await authorization.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } });
      expect(self.status?.allowed).toBe(true);
      const other = await authorization.createSubjectAccessReview({
        body: { spec: { user: 'alice', resourceAttributes } },
      });
      expect(other.status?.allowed).toBe(false);
      const rules = await authorization.createSelfSubjectRulesReview({ body: { spec: { namespace } } });
      expect(rules.status?.resourceRules.length).toBeGreaterThan(0);
      const authentication = site.config.makeApiClient(AuthenticationV1Api);
      const me = await authentication.createSelfSubjectReview({ body: {} });
      expect(me.status?.userInfo?.groups).toContain('system:masters');
    });
  });
});
