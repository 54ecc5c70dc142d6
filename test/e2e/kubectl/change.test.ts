/** kubectl replace, edit, patch, scale, label, annotate, set and rollout; cordon and taint. */
import { Deployment, Node, Pod, Service } from 'orchplane/kinds';
import { expect } from 'vitest';
import { nodeManifest, POD, webApp } from './manifests.js';
import { kubectlTests, type Session } from './session.js';

const deployment = ({ cluster, namespace }: Session) => cluster.api(Deployment, namespace).get('web');

kubectlTests('change', (test) => {
  test('replaces objects, with --force if necessary', async (session) => {
    const { run, refused } = session;
    expect(await refused('replace -f -', { input: POD })).toContain('pods "alone" not found');
    await run('create -f -', { input: webApp() });
    expect(await run('replace -f -', { input: webApp({ image: 'nginx:1.26' }) })).toBe(
      'deployment.apps/web replaced\nservice/web replaced\n',
    );
    const replaced = await deployment(session);
    expect(replaced.spec.template.spec?.containers[0]?.image).toBe('nginx:1.26');
    expect(replaced.metadata.managedFields?.map(({ manager }) => manager)).toContain('kubectl-replace');
    // The selector is immutable, but a forced replace deletes and recreates the object.
    const other = webApp().replaceAll('app: web', 'app: other');
    expect(await refused('replace -f -', { input: other })).toContain('spec.selector: Invalid value: ');
    expect(await run('replace --force -f -', { input: other })).toContain('deployment.apps/web replaced');
    const again = await deployment(session);
    expect(again.metadata.uid).not.toBe(replaced.metadata.uid);
    expect(again.spec.selector.matchLabels).toEqual({ app: 'other' });
  });

  test('replaces only the status', async (session) => {
    const { run } = session;
    await run('create -f -', { input: webApp() });
    const { metadata, spec } = await deployment(session);
    const input = JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { ...spec, replicas: 9 },
      status: { replicas: 1 },
    });
    expect(await run('replace --subresource=status -f -', { input })).toBe('deployment.apps/web replaced\n');
    expect(await deployment(session)).toMatchObject({ spec: { replicas: 2 }, status: { replicas: 1 } });
  });

  test("edits objects with the user's editor", async (session) => {
    const { run, refused, cluster, namespace } = session;
    await run('create -f -', { input: `${webApp()}---${POD}` });
    const edit = (what: string, expression: string) => run(what, { env: { KUBE_EDITOR: `sed -i ${expression}` } });
    expect(await edit('edit deploy web', 's/nginx:1.25/nginx:1.27/')).toBe('deployment.apps/web edited\n');
    const edited = await deployment(session);
    expect(edited.spec.template.spec?.containers[0]?.image).toBe('nginx:1.27');
    expect(edited.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kubectl-create', 'kubectl-edit']);
    expect((await session.end('edit deploy web', { env: { KUBE_EDITOR: 'sed -i s/not-there//' } })).code).toBe(0);
    expect((await deployment(session)).metadata.resourceVersion).toBe(edited.metadata.resourceVersion);
    expect(await edit('edit pod alone --subresource=status', 's/phase:.Pending/phase:\\ Running/')).toBe(
      'pod/alone edited\n',
    );
    expect((await cluster.api(Pod, namespace).get('alone')).status?.phase).toBe('Running');
    const wrong = await refused('edit deploy web', { env: { KUBE_EDITOR: 'sed -i s/replicas:.2/replicas:\\ -2/' } });
    expect(wrong).toContain('deployments.apps "web" is invalid');
    expect((await deployment(session)).spec.replicas).toBe(2);
  });

  test('patches objects with all patch types', async (session) => {
    const { run, refused } = session;
    await run('create -f -', { input: webApp() });
    const patch = (type: string, body: unknown) => [
      'patch',
      'deploy',
      'web',
      ...type.split(' '),
      '-p',
      JSON.stringify(body),
    ];
    const replicas = (count: number) => ({ spec: { replicas: count } });
    expect(await run(patch('--type=strategic', replicas(3)))).toBe('deployment.apps/web patched\n');
    expect(await run(patch('--type=strategic', replicas(3)))).toBe('deployment.apps/web patched (no change)\n');
    const sidecar = { spec: { template: { spec: { containers: [{ name: 'b', image: 'b' }] } } } };
    await run(patch('--type=strategic', sidecar));
    expect((await deployment(session)).spec.template.spec?.containers).toHaveLength(2);
    await run(patch('--type=merge', sidecar));
    expect((await deployment(session)).spec.template.spec?.containers).toHaveLength(1);
    await run(patch('--type=json', [{ op: 'replace', path: '/spec/replicas', value: 5 }]));
    expect((await deployment(session)).spec.replicas).toBe(5);
    await run(patch('--type=merge --subresource=scale', replicas(6)));
    expect((await deployment(session)).spec.replicas).toBe(6);
    expect(
      await run([...patch('--type=merge', replicas(8)), '--dry-run=server', '-o', 'jsonpath={.spec.replicas}']),
    ).toBe('8');
    expect((await deployment(session)).spec.replicas).toBe(6);
    await run(patch('--type=merge --subresource=status', { status: { replicas: 4 }, spec: { replicas: 9 } }));
    expect(await deployment(session)).toMatchObject({ spec: { replicas: 6 }, status: { replicas: 4 } });

    expect(await refused(patch('--type=json', [{ op: 'test', path: '/spec/replicas', value: 1 }]))).toBe(
      'The request is invalid: the server rejected our request due to an error in our request\n',
    );
    expect(await refused(patch('--type=merge', replicas(-1)))).toContain(
      'The Deployment "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });

  test('scales workloads', async (session) => {
    const { run, refused } = session;
    await run('create -f -', { input: `${webApp()}---${POD}` });
    expect(await run('scale deploy web --replicas=4')).toBe('deployment.apps/web scaled\n');
    expect(await refused('scale deploy web --replicas=1 --current-replicas=7')).toContain(
      'Expected replicas to be 7, was 4',
    );
    expect((await deployment(session)).spec.replicas).toBe(4);
    expect(await run('scale deploy/web --replicas=1 --current-replicas=4')).toBe('deployment.apps/web scaled\n');
    expect((await deployment(session)).spec.replicas).toBe(1);
    expect(await refused('scale pod alone --replicas=2')).toContain('the server could not find the requested resource');
  });

  test('adds labels and annotations', async ({ run, refused, cluster, namespace }) => {
    await run('create -f -', { input: POD });
    const metadata = async () => (await cluster.api(Pod, namespace).get('alone')).metadata;
    expect(await run('label pod alone a=b')).toBe('pod/alone labeled\n');
    expect(await refused('label pod alone a=c')).toContain("'a' already has a value (b), and --overwrite is false");
    await run('label pod alone --overwrite a=c');
    expect((await metadata()).labels).toEqual({ a: 'c', app: 'web', tier: 'front' });
    expect(await run('label pods --all app- tier-')).toBe('pod/alone unlabeled\n');
    expect(await run('label pod alone --list')).toBe('a=c\n');
    expect(await refused(['label', 'pod', 'alone', 'two words=1'])).toContain(
      'metadata.labels: Invalid value: "two words"',
    );
    // Old releases omit the last letter.
    expect(await run('annotate pod alone k=v')).toMatch(/^pod\/alone annotated?\n$/);
    expect(await refused('annotate pod alone k=w')).toContain("'k' already has a value (v)");
    await run('annotate pod alone --overwrite k=w other=x');
    expect((await metadata()).annotations).toEqual({ k: 'w', other: 'x' });
    await run('annotate pod alone k- other-');
    expect((await metadata()).annotations ?? {}).toEqual({});
  });

  test('sets parts of pod templates', async (session) => {
    const { run, refused, cluster, namespace } = session;
    await run('create -f -', { input: `${webApp()}---${POD}` });
    expect(await run('set image deploy/web web=nginx:1.28')).toBe('deployment.apps/web image updated\n');
    await run('set env deploy/web A=b');
    await run('set resources deploy web --limits=cpu=100m');
    await run('set serviceaccount deploy web robot');
    expect((await deployment(session)).spec.template.spec).toMatchObject({
      containers: [{ image: 'nginx:1.28', env: [{ name: 'A', value: 'b' }], resources: { limits: { cpu: '100m' } } }],
      serviceAccountName: 'robot',
    });
    expect(await run('set image pod/alone main=busybox')).toBe('pod/alone image updated\n');
    expect(await run('set selector svc web app=other')).toBe('service/web selector updated\n');
    expect((await cluster.api(Service, namespace).get('web')).spec.selector).toEqual({ app: 'other' });
    expect(await refused('set env pod/alone A=b')).toContain('pod updates may not change fields other than');
  });

  test('supports rollout commands without controllers', async (session) => {
    const { run, refused, start, cluster, namespace } = session;
    await run('create -f -', { input: webApp() });
    expect(await run('rollout history deploy web')).toContain('No rollout history found.');
    expect(await refused('rollout undo deploy web')).toContain('no rollout history found for deployment "web"');
    expect(await run('rollout restart deploy web')).toBe('deployment.apps/web restarted\n');
    const { metadata } = (await deployment(session)).spec.template;
    expect(metadata?.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt']);
    expect(await run('rollout pause deploy web')).toBe('deployment.apps/web paused\n');
    expect((await deployment(session)).spec.paused).toBe(true);
    expect(await run('rollout resume deploy web')).toBe('deployment.apps/web resumed\n');

    const status = start('rollout status deploy web');
    await status.output(/Waiting for deployment spec update to be observed/);
    const { generation } = (await deployment(session)).metadata;
    await cluster
      .api(Deployment, namespace)
      .subresource('status')
      .edit('web', (draft) => {
        draft.status = {
          ...(generation === undefined ? {} : { observedGeneration: generation }),
          replicas: 2,
          updatedReplicas: 2,
          readyReplicas: 2,
          availableReplicas: 2,
        };
      });
    expect(await status.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"web" successfully rolled out'),
    });
  });

  test('cordons, taints and drains nodes', async ({ run, refused, cluster, namespace: node }) => {
    await run('create -f -', { input: nodeManifest(node) });
    const spec = async () => (await cluster.api(Node).get(node)).spec;
    expect(await run(`cordon ${node}`)).toBe(`node/${node} cordoned\n`);
    expect((await spec())?.unschedulable).toBe(true);
    expect(await run(`cordon ${node}`)).toBe(`node/${node} already cordoned\n`);
    expect(await run(`uncordon ${node}`)).toBe(`node/${node} uncordoned\n`);
    expect((await spec())?.unschedulable).toBeUndefined();
    expect(await run(`taint node ${node} a=b:NoSchedule`)).toBe(`node/${node} tainted\n`);
    expect((await spec())?.taints).toContainEqual({ key: 'a', value: 'b', effect: 'NoSchedule' });
    expect(await refused(`taint node ${node} a=b:NoSchedule`)).toContain('already has a taint');
    expect(await run(`taint node ${node} a:NoSchedule-`)).toBe(`node/${node} untainted\n`);

    const bound = { input: POD.replace('spec:', `spec:\n  nodeName: ${node}\n  terminationGracePeriodSeconds: 0`) };
    await run('create -f -', bound);
    expect(await refused(`drain ${node}`)).toContain('declare no controller');
    expect(await run(`drain ${node} --force`)).toContain(`node/${node} drained\n`);
    expect(await run('get pods -o name')).toBe('');
    await run(`delete node ${node}`);
  });
});
