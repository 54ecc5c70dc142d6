/** The ServiceAccount plugin. */
import { mergePatch } from 'orchplane';
import { defaultAdmission, serviceAccount } from 'orchplane/admission';
import { controllers, serviceAccounts } from 'orchplane/controllers';
import { Namespace, Pod, type PodInput, ServiceAccount, type ServiceAccountInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster({ admission: [serviceAccount, ...defaultAdmission] });
});

const account = (name: string, body: Omit<ServiceAccountInput, 'metadata'> = {}, annotations = {}) =>
  cluster.api(ServiceAccount).create({ metadata: { name, annotations }, ...body });
const pod = (spec: object = {}, metadata: object = { name: 'p' }) =>
  cluster.api(Pod).create({ metadata, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } as PodInput);
const forbidden = (why: string) => ({ code: 403, message: `pods "p" is forbidden: ${why}` });

const PATH = '/var/run/secrets/orch.io/serviceaccount';

describe('a new pod', () => {
  test('gets the default account and its token in every container', async () => {
    await account('default');
    const { spec } = await pod({ initContainers: [{ name: 'i', image: 'i' }] });
    expect(spec).toMatchObject({ serviceAccountName: 'default', serviceAccount: 'default' });
    const [volume] = spec.volumes ?? [];
    expect(volume?.name).toMatch(/^kube-api-access-.{5}$/);
    expect(volume).toEqual({
      name: volume?.name,
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    });
    const mount = { name: volume?.name, readOnly: true, mountPath: PATH };
    expect(spec.containers[0]?.volumeMounts).toEqual([mount]);
    expect(spec.initContainers?.[0]?.volumeMounts).toEqual([mount]);
    expect(spec).not.toHaveProperty('imagePullSecrets');
  });

  test('keeps an existing mount at the token path', async () => {
    await account('default');
    const volumes = [{ name: 'v', emptyDir: {} }];
    const containers = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: PATH }] }];
    expect((await pod({ containers, volumes })).spec.volumes).toHaveLength(1);
  });

  test('mounts an existing token volume', async () => {
    await account('default');
    const { spec } = await pod({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] });
    expect(spec.volumes).toHaveLength(1);
    expect(spec.containers[0]?.volumeMounts).toMatchObject([{ name: 'kube-api-access-mine', mountPath: PATH }]);
  });

  test.each<[string, boolean | undefined, boolean | undefined, boolean]>([
    ['neither account nor pod sets automountServiceAccountToken', undefined, undefined, true],
    ['the account disables it', false, undefined, false],
    ['the pod disables it', undefined, false, false],
    ['the pod enables it and the account disables it', false, true, true],
  ])('gets a token or not if %s', async (_, ofAccount, ofPod, isMounted) => {
    await account('default', ofAccount === undefined ? {} : { automountServiceAccountToken: ofAccount });
    const { spec } = await pod(ofPod === undefined ? {} : { automountServiceAccountToken: ofPod });
    expect(spec.volumes !== undefined).toBe(isMounted);
  });

  test('gets the image pull secrets of the account unless it has its own', async () => {
    await account('default', { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] });
    expect((await pod()).spec.imagePullSecrets).toEqual([{ name: 'a' }, { name: 'b' }]);
    const own = await pod({ imagePullSecrets: [{ name: 'c' }] }, { name: 'q' });
    expect(own.spec.imagePullSecrets).toEqual([{ name: 'c' }]);
  });

  test('rejects a new pod if the account does not exist', async () => {
    const why = 'error looking up service account default/robot: serviceaccount "robot" not found';
    await expect(pod({ serviceAccountName: 'robot' })).rejects.toMatchObject(forbidden(why));
  });

  test('does not change a pod on update', async () => {
    await account('default');
    await pod();
    await cluster.api(ServiceAccount).delete('default');
    expect(await cluster.api(Pod).patch('p', mergePatch({ metadata: { labels: { a: 'b' } } }))).toBeDefined();
  });
});

describe('an account with mountable secrets', () => {
  const strict = { 'orch.io/enforce-mountable-secrets': 'true' };
  const secretRef = (name: string) => ({ valueFrom: { secretKeyRef: { name, key: 'k' } } });
  const why = (what: string) => `${what} is not allowed because service account default does not reference that secret`;
  const container = (part: object) => [{ name: 'c', image: 'i', ...part }];

  test.each<[string, object, string]>([
    ['a volume', { volumes: [{ name: 'v', secret: { secretName: 's' } }] }, why('volume with secret.secretName="s"')],
    [
      'a variable',
      { containers: container({ env: [{ name: 'E', ...secretRef('s') }] }) },
      why('container c with envVar E referencing secret.secretName="s"'),
    ],
    [
      'variables of an init container',
      { initContainers: [{ name: 'i', image: 'i', envFrom: [{ secretRef: { name: 's' } }] }] },
      why('init container i with envFrom referencing secret.secretName="s"'),
    ],
    [
      'imagePullSecrets',
      { imagePullSecrets: [{ name: 'pull' }, { name: 's' }] },
      'imagePullSecrets[1].name="s" is not allowed because service account default does not reference that imagePullSecret',
    ],
  ])('rejects other secrets in %s', async (_, spec, text) => {
    await account('default', { secrets: [{ name: 'ok' }], imagePullSecrets: [{ name: 'pull' }] }, strict);
    await expect(pod(spec)).rejects.toMatchObject(forbidden(text));
    const other = text.startsWith('image') ? 'q' : 'ok';
    await account('wide', { secrets: [{ name: 's' }], imagePullSecrets: [{ name: 'pull' }, { name: 's' }] }, strict);
    expect(await pod({ ...spec, serviceAccountName: 'wide' }, { name: other })).toBeDefined();
  });

  test('rejects other secrets in ephemeral containers with a plain error', async () => {
    await account('default', { secrets: [{ name: 'ok' }] }, strict);
    await pod();
    const debug = { name: 'd', image: 'i', env: [{ name: 'E', ...secretRef('s') }] };
    const below = cluster.api(Pod).subresource('ephemeralcontainers');
    await expect(
      below.patch('p', mergePatch({ spec: { ephemeralContainers: [debug] } } as never)),
    ).rejects.toMatchObject({
      code: 500,
      message: why('ephemeral container d with envVar E referencing secret.secretName="s"'),
    });
  });

  test.each(['false', 'yes', ''])('allows all secrets if the annotation is %j', async (value) => {
    await account('default', {}, { 'orch.io/enforce-mountable-secrets': value });
    expect(await pod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] })).toBeDefined();
    const debug = { name: 'd', image: 'i', env: [{ name: 'E', ...secretRef('s') }] };
    const below = cluster.api(Pod).subresource('ephemeralcontainers');
    expect(await below.patch('p', mergePatch({ spec: { ephemeralContainers: [debug] } } as never))).toBeDefined();
  });
});

describe('a mirror pod', () => {
  const metadata = { name: 'p', annotations: { 'orch.io/config.mirror': 'x' } };
  test.each<[string, object, string]>([
    ['an account', { serviceAccountName: 'a' }, 'a mirror pod may not reference service accounts'],
    ['a secret', { imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
    [
      'a token',
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      'a mirror pod may not use ServiceAccountToken volume projections',
    ],
  ])('does not allow a mirror pod to reference %s', async (_, spec, why) => {
    await expect(pod({ nodeName: 'n', ...spec }, metadata)).rejects.toMatchObject(forbidden(why));
  });

  test('does not change a mirror pod', async () => {
    const { spec } = await pod({ nodeName: 'n' }, metadata);
    expect(spec).not.toHaveProperty('serviceAccountName');
    expect(spec).not.toHaveProperty('volumes');
  });
});

describe('a pod created before its default account', () => {
  const spec = { containers: [{ name: 'c', image: 'i' }] };

  test('waits for the controller that creates the account', async () => {
    const whole = testCluster({
      admission: [serviceAccount, ...defaultAdmission],
      controllers: controllers([serviceAccounts()]),
    });
    await whole.api(Namespace).create({ metadata: { name: 'new' } });
    const pod = await whole.api(Pod, 'new').create({ metadata: { name: 'p' }, spec });
    expect(pod.spec.serviceAccountName).toBe('default');
    await whole.close();
  });

  test('rejects a pod created before its default account if no controller creates the account', async () => {
    await cluster.api(Namespace).create({ metadata: { name: 'new' } });
    await expect(cluster.api(Pod, 'new').create({ metadata: { name: 'p' }, spec })).rejects.toThrow(
      'pods "p" is forbidden: error looking up service account new/default: serviceaccount "default" not found',
    );
  });

  test('ignores later changes of the sent object while a pod waits for its account', async () => {
    const sent = { metadata: { name: 'p' }, spec: { ...spec, serviceAccountName: 'default' } };
    const creating = cluster.api(Pod, 'default').create(sent);
    sent.spec.serviceAccountName = 'other';
    await cluster.api(ServiceAccount).create({ metadata: { name: 'default' } });
    expect((await creating).spec.serviceAccountName).toBe('default');
  });
});
