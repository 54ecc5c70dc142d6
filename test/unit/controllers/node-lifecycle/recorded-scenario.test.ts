/**
 * The writes of a kube-controller-manager 1.33.13 in a scenario with two nodes, recorded from the audit log of its server.
 * Times are relative to the creation of the nodes.
 */
import { nodeLifecycle, podCollector, taintEviction } from 'orchplane/controllers';
import { Node, Pod } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { NodeWorld } from './node-world.js';

const EXISTS = { operator: 'Exists' as const, effect: 'NoExecute' as const };

class Scenario extends NodeWorld {
  #log: string[] = [];

  constructor() {
    super([nodeLifecycle(), taintEviction(), podCollector()]);
    this.cluster.use((request, next) => {
      const { verb, resource, subresource, name = '', origin, body } = request;
      if (origin !== undefined && !['get', 'list', 'watch'].includes(verb)) {
        this.#log.push(
          describe(verb, [resource.resource, subresource].filter(Boolean).join('/'), name, body?.read().value),
        );
      }
      return next();
    });
  }

  /** The writes since the last call, sorted: the reference writes concurrently. */
  async writes() {
    await this.cluster.settle();
    const log = this.#log.sort();
    this.#log = [];
    return log;
  }

  async startPod(name: string, nodeName: string, tolerations: object[] = []) {
    await this.cluster.api(Pod).create({
      metadata: { name },
      spec: { nodeName, tolerations, containers: [{ name: 'c', image: 'i' }] },
    });
    await this.run(name);
  }
}

/** `patch nodes a taints=[unreachable:NoSchedule]` */
function describe(verb: string, resource: string, name: string, body: unknown): string {
  const text = JSON.stringify(body) ?? '';
  if (resource === 'events') {
    const about =
      /"involvedObject":\{"kind":"(\w+)".*?"name":"([^"]+)"/.exec(text)?.slice(1).join(' ') ?? name.split('.')[0];
    const [, reason = ''] = /"reason":"(\w+)"/.exec(text) ?? [];
    const [, message = ''] = /"message":"([^"]+)"/.exec(text) ?? [];
    return `event ${about}: ${[reason, message].filter(Boolean).join(': ')}`;
  }
  const taints = [...text.matchAll(/"key":"node\.orch\.io\/([\w-]+)","effect":"(\w+)"/g)].map(
    ([, key, effect]) => `${key}:${effect}`,
  );
  const what = text.includes('"taints"') && verb === 'patch' ? ` taints=[${taints.join(', ')}]` : '';
  const labels = text.includes('"labels"') && verb === 'patch' ? ' labels' : '';
  return `${verb} ${resource} ${name}${what}${labels}`;
}

test('writes what the reference writes', async () => {
  const world = new Scenario();
  await world.cluster.settle();
  await world.cluster
    .api(Node)
    .create({ metadata: { name: 'a', labels: { 'orch.io/os': 'linux', 'orch.io/arch': 'arm64' } } });
  await world.report('a');
  await world.ready('b');
  for (const name of ['a', 'b']) await world.renew(name);
  await world.startPod('default-tol', 'a');
  await world.startPod('ten', 'a', [{ ...EXISTS, tolerationSeconds: 10 }]);
  await world.startPod('forever', 'a', [EXISTS]);
  await world.startPod('on-b', 'b');
  await world.live(5, 'b');
  expect(await world.writes()).toEqual([
    'event Node a: RegisteredNode: Node a event: Registered Node a in Controller',
    'event Node b: RegisteredNode: Node b event: Registered Node b in Controller',
    'patch nodes a labels',
    'patch nodes a taints=[]',
    'patch nodes b taints=[]',
  ]);

  // The node a does not respond.
  await world.live(50, 'b');
  expect(await world.writes()).toEqual([
    'event Node a: NodeNotReady: Node a status is now: NodeNotReady',
    'event Pod default-tol: NodeNotReady: Node is not ready',
    'event Pod forever: NodeNotReady: Node is not ready',
    'event Pod ten: NodeNotReady: Node is not ready',
    'patch nodes a taints=[unreachable:NoSchedule]',
    'update nodes/status a',
    'update pods/status default-tol',
    'update pods/status forever',
    'update pods/status ten',
  ]);
  await world.live(5, 'b');
  expect(await world.writes()).toEqual(['patch nodes a taints=[unreachable:NoSchedule, unreachable:NoExecute]']);
  await world.live(10, 'b');
  expect(await world.writes()).toEqual([
    'delete pods ten',
    'event Pod ten: TaintManagerEviction: Marking for deletion Pod default/ten',
    'patch pods/status ten',
  ]);

  // It responds again.
  await world.advance(3);
  await world.report('a');
  expect(await world.writes()).toEqual(['patch nodes a taints=[unreachable:NoExecute]']);
  await world.live(5, 'a', 'b');
  expect(await world.writes()).toEqual([
    'event Pod default-tol: TaintManagerEviction: Cancelling deletion of Pod default/default-tol',
    'patch nodes a taints=[]',
  ]);

  // A user taints the node b for some seconds.
  const taints = [{ key: 'k', effect: 'NoExecute' as const }];
  await world.cluster.api(Node).patch('b', { type: 'merge', merge: { spec: { taints } } });
  expect(await world.writes()).toEqual([
    'delete pods on-b',
    'event Pod on-b: TaintManagerEviction: Marking for deletion Pod default/on-b',
    'patch pods/status on-b',
  ]);
  await world.startPod('late-b', 'b', [{ ...EXISTS, tolerationSeconds: 30 }]);
  await world.cluster.api(Node).patch('b', { type: 'merge', merge: { spec: { taints: null } } });
  expect(await world.writes()).toEqual([
    'event Pod late-b: TaintManagerEviction: Cancelling deletion of Pod default/late-b',
  ]);

  // The kubelet of a reports that it is not ready.
  await world.report('a', 'False');
  expect(await world.writes()).toEqual(['patch nodes a taints=[not-ready:NoSchedule]']);
  await world.live(5, 'a', 'b');
  expect(await world.writes()).toEqual(['patch nodes a taints=[not-ready:NoSchedule, not-ready:NoExecute]']);
  // The pod that is terminating is evicted a second time.
  await world.live(10, 'a', 'b');
  expect(await world.writes()).toEqual(['delete pods ten', 'event ten: Marking for deletion Pod default/ten']);

  // No node responds: NoExecute taints are removed.
  await world.advance(50);
  expect(await world.writes()).toEqual([
    'event Node b: NodeNotReady: Node b status is now: NodeNotReady',
    'event Pod late-b: NodeNotReady: Node is not ready',
    'event Pod on-b: NodeNotReady: Node is not ready',
    'event default-tol: Cancelling deletion of Pod default/default-tol',
    // Two workers change the taints of a at the same time. In the recording their writes alternated in another order.
    'patch nodes a taints=[not-ready:NoSchedule, unreachable:NoSchedule]',
    'patch nodes a taints=[not-ready:NoSchedule]',
    'patch nodes a taints=[unreachable:NoSchedule]',
    'patch nodes b taints=[unreachable:NoSchedule]',
    'update nodes/status a',
    'update nodes/status b',
    'update pods/status late-b',
    'update pods/status on-b',
  ]);
  await world.advance(10);
  expect(await world.writes()).toEqual([]);

  await world.cluster.api(Node).delete('a');
  await world.advance(5);
  expect(await world.writes()).toEqual(['event Node a: RemovingNode: Node a event: Removing Node a from Controller']);
  await world.advance(60);
  expect(await world.writes()).toEqual([
    'delete pods default-tol',
    'delete pods forever',
    'delete pods ten',
    'patch pods/status default-tol',
    'patch pods/status forever',
    'patch pods/status ten',
  ]);
  expect(world.complaints).toEqual([]);
  await world.close();
});
