/** kubectl create, run and expose: from files, standard input and flags, with and without dry run. */
import {
  ConfigMap,
  CronJob,
  Deployment,
  Ingress,
  Job,
  Pod,
  PodDisruptionBudget,
  RoleBinding,
  Secret,
  Service,
} from 'orchplane/kinds';
import { expect } from 'vitest';
import { configMap, POD, webApp } from './manifests.js';
import { kubectlTests } from './session.js';

kubectlTests('create', (test) => {
  test('creates objects from files and standard input', async ({ run, refused, file, cluster, namespace }) => {
    const path = await file('web.yaml', webApp());
    expect(await run(`create -f ${path}`)).toBe('deployment.apps/web created\nservice/web created\n');
    expect(await refused(`create -f ${path}`)).toBe(
      `Error from server (AlreadyExists): error when creating "${path}": deployments.apps "web" already exists\n` +
        `Error from server (AlreadyExists): error when creating "${path}": services "web" already exists\n`,
    );
    const list = `{"apiVersion":"v1","kind":"List","items":[${configMap('a')},${configMap('b', { x: 'y' })}]}`;
    expect(await run('create -f -', { input: list })).toBe('configmap/a created\nconfigmap/b created\n');
    expect((await cluster.api(ConfigMap, namespace).get('b')).data).toEqual({ x: 'y' });
    const created = await run('create -o name -f -', {
      input: 'apiVersion: v1\nkind: ConfigMap\nmetadata: { generateName: made- }\n',
    });
    expect(created).toMatch(/^configmap\/made-[a-z0-9]{5}\n$/);

    const { metadata, spec } = await cluster.api(Deployment, namespace).get('web');
    expect(metadata.managedFields).toMatchObject([{ manager: 'kubectl-create', operation: 'Update' }]);
    expect(spec.template.spec?.containers[0]).toMatchObject({ image: 'nginx:1.25', imagePullPolicy: 'IfNotPresent' });
  });

  test("prints the server's rejections", async ({ run, refused, cluster, namespace }) => {
    const strange = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: strange }\ndatas: { a: b }\n';
    expect(await refused('create -f -', { input: strange })).toBe(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ' +
        'ConfigMap: strict decoding error: unknown field "datas"\n',
    );
    expect(await run('create --validate=ignore -f -', { input: strange })).toBe('configmap/strange created\n');
    expect((await cluster.api(ConfigMap, namespace).get('strange')).data).toBeUndefined();

    expect(await refused('create cm Bad_Name')).toContain('Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain');
    expect(await refused('create -f -', { input: POD.replace('nginx:1.25', '') })).toContain(
      'spec.containers[0].image: Required value',
    );
    expect(await refused('create -f -', { input: 'apiVersion: v1\nkind: Nonsense\nmetadata: { name: x }' })).toContain(
      'no matches for kind "Nonsense" in version "v1"',
    );
    expect(await refused('create cm there --namespace=nowhere')).toContain('namespaces "nowhere" not found');
  });

  test('creates namespaced objects from flags', async ({ run, cluster, namespace }) => {
    expect(await run('create deployment d --image=nginx --replicas=3 --port=80')).toBe('deployment.apps/d created\n');
    expect((await cluster.api(Deployment, namespace).get('d')).spec.replicas).toBe(3);
    expect(await run('create secret generic s --from-literal=p=x')).toBe('secret/s created\n');
    expect((await cluster.api(Secret, namespace).get('s')).data).toEqual({ p: 'eA==' });
    expect(await run('create cronjob c --image=busybox --schedule=@daily')).toBe('cronjob.batch/c created\n');
    expect(await run('create job j --from=cronjob/c')).toBe('job.batch/j created\n');
    const { uid } = (await cluster.api(CronJob, namespace).get('c')).metadata;
    expect((await cluster.api(Job, namespace).get('j')).metadata.ownerReferences).toMatchObject([{ name: 'c', uid }]);
    expect(await run('create service nodeport n --tcp=80:8080')).toBe('service/n created\n');
    expect((await cluster.api(Service, namespace).get('n')).spec.ports?.[0]?.nodePort).toBeGreaterThanOrEqual(30000);
    await run('create ingress i --rule=example.com/*=n:80');
    expect((await cluster.api(Ingress, namespace).get('i')).spec?.rules?.[0]?.host).toBe('example.com');
    await run('create sa robot');
    await run('create role reader --verb=get,list --resource=pods,deployments.apps');
    await run(`create rolebinding readers --role=reader --serviceaccount=${namespace}:robot`);
    expect((await cluster.api(RoleBinding, namespace).get('readers')).subjects).toEqual([
      { kind: 'ServiceAccount', name: 'robot', namespace },
    ]);
    await run('create quota q --hard=pods=2,cpu=1');
    await run('create pdb p --selector=app=d --min-available=50%');
    expect((await cluster.api(PodDisruptionBudget, namespace).get('p')).spec?.minAvailable).toBe('50%');
  });

  test('creates cluster-scoped objects from flags', async ({ run, refused, namespace }) => {
    const own = `${namespace}-own`;
    expect(await run(`create namespace ${own}`)).toBe(`namespace/${own} created\n`);
    expect(await refused(`create namespace ${own}`)).toBe(
      `Error from server (AlreadyExists): namespaces "${own}" already exists\n`,
    );
    expect(await run(`create clusterrole ${own} --verb=* --resource=pods`)).toContain(`/${own} created`);
    expect(await run(`create priorityclass ${own} --value=10 -o jsonpath={.value}`)).toBe('10');
  });

  test('supports server-side and client-side dry runs', async ({ run, refused, cluster, namespace }) => {
    expect(await run('create cm c --dry-run=server -o jsonpath={.metadata.uid}')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await run('create cm c --dry-run=client -o jsonpath={.metadata}')).not.toContain('uid');
    expect(await run('create cm c --dry-run=server')).toBe('configmap/c created (server dry run)\n');
    expect(await run('create cm c --dry-run=client')).toBe('configmap/c created (dry run)\n');
    expect(await cluster.api(ConfigMap, namespace).find('c')).toBeUndefined();
    await run('create cm c');
    expect(await refused('create cm c --dry-run=server')).toContain('configmaps "c" already exists');
  });

  test('runs a pod and exposes it', async ({ run, refused, cluster, namespace }) => {
    expect(await run('run web --image=nginx --labels=a=b --env=X=y --port=80')).toBe('pod/web created\n');
    const { spec } = await cluster.api(Pod, namespace).get('web');
    expect(spec.containers[0]).toMatchObject({ name: 'web', env: [{ name: 'X', value: 'y' }] });
    expect(await run('expose pod web --port=90 --target-port=8080 --name=front')).toBe('service/front exposed\n');
    expect((await cluster.api(Service, namespace).get('front')).spec).toMatchObject({
      selector: { a: 'b' },
      ports: [{ port: 90, targetPort: 8080, protocol: 'TCP' }],
    });
    expect(await refused('expose pod web --port=90 --name=front')).toContain('services "front" already exists');
    await run('create -f -', { input: webApp() });
    expect(await run('expose deploy web --name=more --type=NodePort')).toBe('service/more exposed\n');
    expect(await run('autoscale deploy web --min=1 --max=3')).toMatch(/^horizontalpodautoscaler.autoscaling\/web /);
    expect(await run('get hpa web -o jsonpath={.spec.maxReplicas}')).toBe('3');
  });

  test('creates a valid token for a service account', async ({ run, refused }) => {
    await run('create sa robot');
    const [, claims = ''] = (await run('create token robot --duration 20m')).trim().split('.');
    const { sub, exp, iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    expect(sub).toMatch(/^system:serviceaccount:.+:robot$/);
    expect(Number(exp) - Number(iat)).toBe(1200);
    expect(await refused('create token missing')).toContain('serviceaccounts "missing" not found');
  });
});
