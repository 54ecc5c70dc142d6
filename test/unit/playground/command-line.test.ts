/**
 * The command line of the playground with a whole cluster: it prints what kubectl prints.
 */
import { controllers, stages, standardControllers } from 'orchplane/controllers';
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { clusterShell } from '../../../examples/playground/src/command-line/cluster-shell.js';
import type { Shell } from '../../../examples/playground/src/command-line/command.js';
import { completeLine } from '../../../examples/playground/src/command-line/complete.js';
import { runForText, runLine } from '../../../examples/playground/src/command-line/interpreter.js';
import { LineHistory } from '../../../examples/playground/src/command-line/line-history.js';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const cluster of open.splice(0)) await cluster.close();
});

function put({ withControllers = false } = {}) {
  const cluster = testCluster({
    dialect: 'kubernetes',
    ...(withControllers ? { controllers: controllers([...standardControllers(), stages()]) } : {}),
  });
  open.push(cluster);
  const shell = clusterShell(() => cluster);
  /** The output of a line followed by its error. */
  const run = async (line: string) => {
    const { output, error } = await runForText(shell, line);
    return [output, error].filter((text) => text !== '').join('\n');
  };
  return { cluster, shell, run };
}

describe('playground get command', () => {
  test('prints the tables of the server', async () => {
    const { run, cluster } = put();
    expect(await run('get configmaps')).toBe('No resources found in default namespace.');
    expect(await run('create configmap settings --from-literal=size=m --from-literal=colour=red')).toBe(
      'configmap/settings created',
    );
    await cluster.clock.advance(90_000);
    expect(await run('kubectl get cm')).toBe('NAME       DATA   AGE\nsettings   2      90s');
    expect(await run('get cm -A --show-labels')).toBe(
      'NAMESPACE   NAME       DATA   AGE   LABELS\ndefault     settings   2      90s   <none>',
    );
    expect(await run('get ConfigMap/settings -o name')).toBe('configmap/settings');
    expect(await run('get ns -o name')).toContain('namespace/kube-system');
  });

  test('prints wide columns, selects, sorts and mixes kinds', async () => {
    const { run, cluster } = put({ withControllers: true });
    await run('create deployment web --image=nginx:1 --replicas=2');
    await cluster.settle();
    const wide = await run('get deploy -o wide');
    expect(wide).toMatch(/^NAME {3}READY {3}UP-TO-DATE {3}AVAILABLE {3}AGE {3}CONTAINERS {3}IMAGES {4}SELECTOR\n/);
    expect(wide).toMatch(/web {4}2\/2/);
    expect(await run('get deploy,rs -l app=web')).toMatch(
      /deployment\.apps\/web[\s\S]*\n\n[\s\S]*replicaset\.apps\/web-/,
    );
    expect(await run('get pods --field-selector status.phase=Pending')).toBe(
      'No resources found in default namespace.',
    );
    expect((await run('get pods --sort-by=.metadata.name --no-headers')).split('\n')).toHaveLength(2);
    expect(await run('get all')).toContain('deployment.apps/web');
    expect(await run('get pods -L app')).toMatch(/AGE {3}APP\n.*web\n/);
  });

  test('prints documents without managedFields', async () => {
    const { run } = put();
    await run('create configmap settings --from-literal=on=yes "--from-literal=text=two: words"');
    const yaml = await run('get cm settings -o yaml');
    expect(yaml).toMatch(
      /^apiVersion: v1\ndata:\n {2}"on": "yes"\n {2}text: "two: words"\nkind: ConfigMap\nmetadata:\n/,
    );
    expect(yaml).not.toContain('managedFields');
    expect(await run('get cm settings -o yaml --show-managed-fields')).toContain('manager: kubectl-create');
    expect(JSON.parse(await run('get cm -o json'))).toMatchObject({ kind: 'List', items: [{ kind: 'ConfigMap' }] });
  });

  test('prints errors like kubectl', async () => {
    const { run } = put();
    expect(await run('get pods nope')).toBe('Error from server (NotFound): pods "nope" not found');
    expect(await run('get widgets')).toBe('error: the server doesn\'t have a resource type "widgets"');
    expect(await run('get pods --as=alice')).toBe(
      'Error from server (Forbidden): pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
    );
    expect(await run('get pods --colour')).toBe('error: unknown flag: --colour');
    expect(await run('get pods -x')).toBe("error: unknown shorthand flag: 'x' in -x");
    expect(await run('gte pods')).toMatch(/unknown command "gte"[\s\S]*\tget$/);
    expect(await run("get 'pods")).toBe("error: unclosed quote '");
    expect(await run('get pods | grep web')).toMatch(/^error: "\|" is shell syntax/);
    expect(await run('get')).toMatch(/^error: You must specify the type of resource to get\./);
    expect(await run('get pods -o wrong')).toMatch(/unable to match a printer suitable for the output format "wrong"/);
  });

  test('watches with -w until it is stopped', async () => {
    const { shell, run } = put();
    const stop = new AbortController();
    const lines: string[] = [];
    let changed: () => void = () => undefined;
    const untilLines = async (count: number) => {
      while (lines.length < count) await new Promise<void>((resolve) => (changed = resolve));
    };
    await run('create configmap a --from-literal=k=v');
    const code = runLine(shell, 'get cm -w', {
      signal: stop.signal,
      write: (text) => {
        lines.push(text);
        changed();
      },
    });
    await untilLines(2);
    await run('create configmap b');
    await untilLines(3);
    stop.abort();
    expect(await code).toBe(0);
    expect(lines).toEqual(['NAME   DATA   AGE', 'a      1      0s', 'b      0      0s']);
  });
});

describe('playground write commands', () => {
  const settings = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: settings }\ndata: { size: m }\n';

  test('applies the text of the editor', async () => {
    const { run, shell } = put();
    expect(await run('apply -f -')).toBe('error: no objects passed to apply: the editor is empty');
    shell.openInEditor(settings);
    expect(await run('apply -f - --dry-run=server')).toBe('configmap/settings created (server dry run)');
    expect(await run('apply -f -')).toBe('configmap/settings created');
    expect(await run('apply -f -')).toBe('configmap/settings unchanged');
    expect(await run('apply -f - --server-side --field-manager=ci')).toBe('configmap/settings serverside-applied');
    shell.openInEditor(settings.replace('size: m', 'size: l'));
    const refused = await run('apply -f - --server-side --field-manager=design');
    expect(refused).toMatch(/^error: Apply failed with 2 conflicts: conflicts with "ci"/);
    expect(refused).toContain('--force-conflicts');
    expect(await run('apply -f - --server-side --field-manager=design --force-conflicts')).toBe(
      'configmap/settings serverside-applied',
    );
    expect(await run('apply -f web.yaml')).toMatch(/there are no files here/);
  });

  test('applies as another user with the permissions of that user', async () => {
    const { run, shell } = put();
    shell.openInEditor(settings);
    expect(await run('apply -f - --as=alice')).toMatch(
      /^Error from server \(Forbidden\): error when applying "STDIN": configmaps "settings" is forbidden: User "alice" cannot patch/,
    );
    await run('create rolebinding writers --clusterrole=edit --user=alice');
    expect(await run('apply -f - --as=alice')).toBe('configmap/settings created');
  });

  test('prints validation errors by field', async () => {
    const { run, shell } = put();
    shell.openInEditor(settings.replace('name: settings', 'name: Wrong Name'));
    expect(await run('apply -f -')).toMatch(
      /^The ConfigMap "Wrong Name" is invalid: metadata\.name: Invalid value: "Wrong Name"/,
    );
    expect(await run('create configmap settings --from-literal=broken')).toMatch(
      /^error: invalid literal source broken/,
    );
    shell.openInEditor(settings);
    await run('create -f -');
    expect(await run('create -f -')).toBe(
      'Error from server (AlreadyExists): error when creating "STDIN": configmaps "settings" already exists',
    );
    expect(await run('create namespace default')).toBe(
      'Error from server (AlreadyExists): namespaces "default" already exists',
    );
  });

  test('changes objects with patch, label, annotate and edit', async () => {
    const { run, shell } = put();
    await run('create configmap settings --from-literal=size=m');
    expect(await run(`patch cm settings -p '{"data":{"size":"l"}}'`)).toBe('configmap/settings patched');
    expect(await run(`patch cm settings --type=merge -p '{"data":{"size":"l"}}'`)).toBe(
      'configmap/settings patched (no change)',
    );
    expect(await run(`patch cm settings --type=json -p '[{"op":"remove","path":"/data/none"}]'`)).toMatch(
      /^The request is invalid: the server rejected our request due to an error in our request$/,
    );
    expect(await run('patch cm settings -p nonsense')).toMatch(/^error: unable to parse "nonsense"/);
    expect(await run('label cm settings tier=front')).toBe('configmap/settings labeled');
    expect(await run('label cm settings tier=front')).toBe('configmap/settings not labeled');
    expect(await run('label cm settings tier=back')).toBe(
      "error: 'tier' already has a value (front), and --overwrite is false",
    );
    expect(await run('label cm settings tier=back --overwrite')).toBe('configmap/settings labeled');
    expect(await run('label cm settings tier-')).toBe('configmap/settings unlabeled');
    expect(await run('annotate cm/settings by=me')).toBe('configmap/settings annotated');
    await run('edit cm settings');
    expect(shell.editorText()).toMatch(/data:\n {2}size: l\n/);
  });

  test('prints the finalizers of an object that delete leaves', async () => {
    const { run } = put();
    await run('create configmap settings');
    await run(`patch cm settings -p '{"metadata":{"finalizers":["example.com/guard"]}}'`);
    expect(await run('delete cm settings')).toBe(
      'configmap "settings" deleted\n# not removed yet, because of finalizers: example.com/guard',
    );
    await run(`patch cm settings --type=merge -p '{"metadata":{"finalizers":null}}'`);
    expect(await run('delete cm settings')).toBe('Error from server (NotFound): configmaps "settings" not found');
    expect(await run('delete cm settings --ignore-not-found')).toBe('');
    expect(await run('delete cm')).toBe('error: resource(s) were provided, but no name was specified');
    expect(await run('delete cm a --cascade=sideways')).toMatch(/invalid cascade value/);
    expect(await run('delete cm a --grace-period=0')).toMatch(/--force/);
    await run('create configmap a');
    await run('create configmap b');
    expect(await run('delete cm --all')).toBe('configmap "a" deleted\nconfigmap "b" deleted');
  });
});

describe('playground workload commands', () => {
  test('scales, updates, follows and rolls back a Deployment', async () => {
    const { run, cluster } = put({ withControllers: true });
    expect(await run('create deployment web --image=nginx:1 --replicas=2')).toBe('deployment.apps/web created');
    await cluster.settle();
    expect(await run('rollout status deploy/web')).toBe('deployment "web" successfully rolled out');
    expect(await run('scale deploy web --replicas=3')).toBe('deployment.apps/web scaled');
    expect(await run('scale deploy web')).toMatch(/--replicas=COUNT/);
    expect(await run('set image deploy/web nginx=nginx:2')).toBe('deployment.apps/web image updated');
    expect(await run('set image deploy/web other=nginx:2')).toBe('error: unable to find container named "other"');
    await cluster.settle();
    expect(await run('rollout history deploy/web')).toBe(
      'deployment.apps/web \nREVISION   CHANGE-CAUSE\n1          <none>\n2          <none>',
    );
    expect(await run('rollout undo deploy/web')).toBe('deployment.apps/web rolled back');
    await cluster.settle();
    expect(await run('get deploy web -o yaml')).toContain('image: nginx:1\n');
    expect(await run('rollout restart deploy/web')).toBe('deployment.apps/web restarted');
    await cluster.settle();
    const described = await run('describe deployment web');
    expect(described).toMatch(/^Name: +web\nNamespace: +default\nLabels: +app=web\n/);
    expect(described).toMatch(/Events:\n {2}Type +Reason +Age +From +Message\n/);
    expect(described).toContain('ScalingReplicaSet');
    expect(await run('events --for deployment/web')).toMatch(/^LAST SEEN +TYPE/);
    const [pod = ''] = (await run('get pods -o name')).split('\n');
    expect(await run(`delete ${pod} --force --grace-period=0`)).toMatch(/force deleted/);
  });

  test('follows rollout status to the end', async () => {
    const { run, cluster, shell } = put({ withControllers: true });
    await run('create deployment web --image=nginx:1 --replicas=2');
    const lines: string[] = [];
    const code = runLine(shell, 'rollout status deploy/web', { write: (text) => lines.push(text) });
    await cluster.settle();
    expect(await code).toBe(0);
    expect(lines.at(-1)).toBe('deployment "web" successfully rolled out');
  });
});

describe('playground query commands', () => {
  test('answers auth can-i by the rules of the cluster', async () => {
    const { run } = put();
    expect(await run('auth can-i create deployments')).toMatch(/^yes/);
    expect(await run('auth can-i create deployments --as=alice')).toBe('no');
    await run('create rolebinding readers --clusterrole=view --group=dev');
    expect(await run('auth can-i list pods --as=alice --as-group=dev')).toMatch(
      /^yes\n# RBAC: allowed by RoleBinding "readers\/default" of ClusterRole "view" to Group "dev"/,
    );
    expect(await run('auth can-i list pods --as=alice --as-group=dev -A')).toBe('no');
    expect(await run('auth can-i list nodes --as=alice')).toMatch(/not namespace scoped/);
    expect(await run('auth can-i get /healthz --as=alice')).toMatch(/^yes/);
    expect(await run('auth can-i --list --as=alice --as-group=dev')).toMatch(
      /\nconfigmaps +\[\] +\[\] +\[get list watch\]/,
    );
    expect(await run('auth whoami --as=alice')).toMatch(/Username +alice\nGroups +\[system:authenticated\]/);
  });

  test('prints api-resources, explain, version and help', async () => {
    const { run } = put();
    expect(await run('api-resources --api-group=apps')).toMatch(/^NAME +SHORTNAMES +APIVERSION +NAMESPACED +KIND\n/);
    expect(await run('api-resources -o name')).toContain('\ndeployments.apps\n');
    expect(await run('explain deployment')).toMatch(
      /^GROUP: {6}apps\nKIND: {7}Deployment\nVERSION: {4}v1\n\nDESCRIPTION:\n/,
    );
    const strategy = await run('explain deployment.spec.strategy');
    expect(strategy).toContain('FIELD: strategy <DeploymentStrategy>');
    expect(strategy).toContain('rollingUpdate\t<RollingUpdateDeployment>');
    expect(await run('explain pods.spec.containers')).toContain('  name\t<string> -required-');
    expect(await run('explain pods.spec.nothing')).toBe('error: field "nothing" does not exist');
    expect(await run('explain cronjob --recursive')).toContain('    schedule\t<string> -required-');
    expect(await run('version')).toMatch(/Server Version: v1\.33/);
    expect(await run('help')).toContain('rollout');
    expect(await run('get --help')).toContain('--all-namespaces');
    expect(await run('config set-context --current --namespace=kube-system')).toBe('Context "playground" modified.');
    expect(await run('get cm')).toBe('No resources found in kube-system namespace.');
  });

  test('recognizes custom resources as soon as their CRD is applied', async () => {
    const { run, shell } = put();
    shell.openInEditor(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: gadgets, singular: gadget, kind: Gadget, shortNames: [gd] }
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{ name: Size, type: string, jsonPath: .spec.size }]
    schema: { openAPIV3Schema: { type: object, properties: { spec: { type: object, properties: { size: { type: string } } } } } }
---
apiVersion: example.com/v1
kind: Gadget
metadata: { name: a }
spec: { size: s }
`);
    expect(await run('apply -f -')).toBe(
      'customresourcedefinition.apiextensions.k8s.io/gadgets.example.com created\ngadget.example.com/a created',
    );
    expect(await run('get gd')).toBe('NAME   SIZE\na      s');
    expect(await run('explain gadget.spec.size')).toContain('FIELD: size <string>');
    expect(await run('delete -f -')).toMatch(/^gadget\.example\.com "a" deleted\ncustomresourcedefinition/);
  });
});

describe('playground command line editing', () => {
  const completed = async (shell: Shell, line: string) => (await completeLine(shell, line)).line;

  test('completes commands, kinds, names, flags and values', async () => {
    const { shell, run } = put();
    await run('create configmap settings');
    await run('create configmap seating');
    expect(await completed(shell, 'des')).toBe('describe ');
    expect(await completed(shell, 'get configm')).toBe('get configmaps ');
    expect(await completed(shell, 'kubectl get cm s')).toBe('kubectl get cm se');
    expect((await completeLine(shell, 'get cm se')).candidates).toEqual(['seating', 'settings']);
    expect(await completed(shell, 'get cm/set')).toBe('get cm/settings ');
    expect(await completed(shell, 'get cm --field-s')).toBe('get cm --field-selector=');
    expect(await completed(shell, 'get cm -n kube-p')).toBe('get cm -n kube-public ');
    expect(await completed(shell, 'get cm --namespace=kube-p')).toBe('get cm --namespace=kube-public ');
    expect(await completed(shell, 'get cm -o y')).toBe('get cm -o yaml ');
    expect(await completed(shell, 'rollout st')).toBe('rollout status ');
    expect(await completed(shell, 'rollout status deploym')).toBe('rollout status deployments ');
    expect(await completed(shell, 'nothing he')).toBe('nothing he');
    expect((await completeLine(shell, 'get widgets ')).candidates).toEqual([]);
  });

  test('navigates the line history', () => {
    const history = new LineHistory(['get pods']);
    history.add('get cm');
    history.add('get cm');
    expect(history.lines).toEqual(['get pods', 'get cm']);
    expect(history.previous('half')).toBe('get cm');
    expect(history.previous('get cm')).toBe('get pods');
    expect(history.previous('get pods')).toBe('get pods');
    expect(history.next('get pods')).toBe('get cm');
    expect(history.next('get cm')).toBe('half');
    expect(history.next('half')).toBe('half');
  });
});
