/**
 * The clients of a soak run. Each driver performs one step at a time; the run repeats the steps. The choices of a driver
 * depend on the seed only, their effects also on the other drivers.
 */
import { connect } from 'node:net';
import type { SeededRandom } from 'orchplane/testing';
import { Counter, type Ledger, type Report, type Stored, type StoredList } from './checks.js';
import { type Answer, pause, type RequestOptions, type Server } from './server.js';

export interface Driven {
  readonly server: Server;
  readonly report: Report;
  readonly random: SeededRandom;
  readonly ledger: Ledger;
}

type Context = Pick<Driven, 'server' | 'report'>;

/** Prepares a driver; the result performs one step. */
export type Driver = (driven: Driven) => () => Promise<void>;

export const MAPS = '/api/v1/namespaces/default/configmaps';
export const SECRETS = '/api/v1/namespaces/limited/secrets';
export const QUOTA = 8;
export const LARGE = '/api/v1/namespaces/large/configmaps';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
const BINDINGS = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const SHARED_COUNTERS = 3;
const LONGEST_CHANGE_MS = 60_000;
export const RECORDERS = ['one', 'two'];

/** The objects that the drivers need. */
export async function prepare(server: Server): Promise<void> {
  const objects: [string, unknown][] = [
    ...['limited', 'coloured', 'large'].map((name): [string, unknown] => [
      '/api/v1/namespaces',
      { metadata: { name } },
    ]),
    [
      '/api/v1/namespaces/limited/resourcequotas',
      { metadata: { name: 'quota' }, spec: { hard: { 'count/secrets': String(QUOTA) } } },
    ],
    [POLICIES, { metadata: { name: 'colour' }, spec: colourPolicy('none') }],
    [
      '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
      { metadata: { name: 'colour' }, spec: { policyName: 'colour', validationActions: ['Deny'] } },
    ],
    ...Array.from({ length: SHARED_COUNTERS }, (_, index): [string, unknown] => [MAPS, counterMap(index)]),
  ];
  for (const [path, body] of objects) {
    const { status, text } = await server.sendNow('POST', path, { body });
    if (status !== 201) throw new Error(`${path}: ${status} ${text}`);
  }
}

function counterMap(index: number): unknown {
  return { metadata: { name: `counter-${index}`, labels: { part: 'counters' } }, data: { total: '0' } };
}

/** Increments counters with compare-and-swap; drops some connections. */
export function countingWriter(id: string): Driver {
  return ({ server, report, random }) => {
    const counters = Array.from({ length: SHARED_COUNTERS }, () => new Counter());
    return async () => {
      const index = random.below(SHARED_COUNTERS);
      const counter = counters[index] ?? new Counter();
      const path = `${MAPS}/counter-${index}`;
      const before = await server.send<Stored>('GET', path);
      if (before.status !== 200) return report.check('counters', unexpected(before, [0]));
      const { data = {} } = before.body;
      report.check('counters', counter.read(Number(data[id] ?? 0)) ?? sumProblem(data));
      const next = String(Number(data[id] ?? 0) + 1);
      // Also moves the object in and out of the view of a watch with a selector.
      const metadata = { ...before.body.metadata, labels: { part: random.below(4) === 0 ? 'hidden' : 'counters' } };
      const body = {
        ...before.body,
        metadata,
        data: { ...data, [id]: next, total: String(Number(data['total']) + 1) },
      };
      counter.sent();
      const after = await server.send<Stored>('PUT', path, { body, ...dropped(random, 20) });
      if (after.status === 200) {
        counter.acknowledge(Number(next));
        report.count('acknowledged increments');
        if (after.body.data?.[id] !== next) report.violation(`${path}: the response has ${after.body.data?.[id]}`);
      } else if (after.status !== 0) {
        counter.rejected();
        report.count('update conflicts', after.status === 409 ? 1 : 0);
        report.check('counters', unexpected(after, [409]));
      }
    };
  };
}

function sumProblem({ total, ...parts }: Readonly<Record<string, string>>): string | undefined {
  const sum = Object.values(parts).reduce((previous, part) => previous + Number(part), 0);
  return sum === Number(total) ? undefined : `the increments of the writers are ${sum}, the total is ${total}`;
}

/** Creates, replaces and deletes objects that only this driver writes; records what was acknowledged. */
export function recordingWriter(id: string): Driver {
  return ({ server, report, random, ledger }) => {
    let count = 0;
    const generations = Array.from({ length: 40 }, () => 0);
    return async () => {
      const index = random.below(generations.length);
      const name = `${id}-${index}-${generations[index]}`;
      if (!ledger.isCertain(name)) {
        // A write without a response may still be executed, so its object is not written again.
        generations[index] = (generations[index] ?? 0) + 1;
        return;
      }
      const content = ledger.content(name);
      const deletes = content !== undefined && random.below(3) === 0;
      const next = deletes ? undefined : `${count++}:${'x'.repeat(random.below(400))}`;
      const body = { metadata: { name, labels: { part: id } }, data: { content: next } };
      const [method, path] = content === undefined ? ['POST', MAPS] : [deletes ? 'DELETE' : 'PUT', `${MAPS}/${name}`];
      await server.open;
      ledger.sent(name, next);
      const answer = await server.sendNow(method, path, {
        ...(deletes ? {} : { body }),
        ...dropped(random, 100),
      });
      if (answer.status === 0) return;
      if (answer.status < 300) ledger.acknowledged(name);
      else ledger.rejected(name);
      report.check('acknowledged writes', unexpected(answer, [200, 201]));
    };
  };
}

/** Applies a field of its own and a shared one that other managers apply, too. */
export function applier(id: string): Driver {
  return ({ server, report, random }) => {
    let count = 0;
    return async () => {
      count++;
      const force = random.below(3) === 0;
      const manager = `manager-${id}`;
      const data = { [id]: String(count), shared: `${id}-${random.below(2)}` };
      const name = `applied-${random.below(2)}`;
      const path = `${MAPS}/${name}?fieldManager=${manager}&force=${force}`;
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
      const answer = await server.send<Stored>('PATCH', path, { body, type: 'application/apply-patch+yaml' });
      if (answer.status === 0) return;
      report.check('apply', unexpected(answer, force ? [200, 201] : [200, 201, 409]));
      if (answer.status === 409) {
        report.count('apply conflicts');
        if (!answer.text.includes('FieldManagerConflict')) report.violation(`apply: ${answer.text}`);
      } else if (answer.status < 300) {
        const { metadata, data: stored } = answer.body;
        const owns = metadata.managedFields?.some((each) => each.manager === manager);
        if (!owns || stored?.[id] !== data[id] || stored?.['shared'] !== data.shared) {
          report.violation(`apply of ${manager} returned ${answer.text.slice(0, 500)}`);
        }
      }
    };
  };
}

/** Replaces objects of a megabyte. */
export const largeWriter: Driver = ({ server, report, random }) => {
  let count = 0;
  return async () => {
    const name = `large-${random.below(2)}`;
    const body = { metadata: { name }, data: { text: `${count++} `.padEnd(1_000_000, 'abcdefghij') } };
    const replaced = await server.send('PUT', `${LARGE}/${name}`, { body });
    const answer = replaced.status === 404 ? await server.send('POST', LARGE, { body }) : replaced;
    report.count('large writes', answer.status === 200 ? 1 : 0);
    report.check('large objects', unexpected(answer, [0, 200, 201]));
    await pause(random.below(300));
  };
};

/** Creates objects concurrently against a quota; deletes them when it is used up. */
export const quotaWriter: Driver = ({ server, report, random }) => {
  let count = 0;
  return async () => {
    const creations = Array.from({ length: 4 }, () => {
      const body = { metadata: { name: `secret-${count++}` } };
      return server.send('POST', SECRETS, { body });
    });
    for (const answer of await Promise.all(creations)) {
      report.check('quota', unexpected(answer, [0, 201, 403, 409]));
      report.count('creations beyond the quota', answer.status === 403 ? 1 : 0);
    }
    const list = await server.send<StoredList>('GET', SECRETS);
    if (list.status !== 200) return;
    const { items } = list.body;
    report.check('quota', items.length > QUOTA ? `${items.length} objects, at most ${QUOTA} are allowed` : undefined);
    if (random.below(8) === 0) report.check('quota', unexpected(await server.send('DELETE', SECRETS), [0, 200]));
    for (const { metadata } of items.slice(0, random.below(items.length + 1))) {
      report.check('quota', unexpected(await server.send('DELETE', `${SECRETS}/${metadata.name}`), [0, 200, 404]));
    }
  };
};

/** Changes a policy and a role binding. Each change applies to every later request. */
export const policyWriter: Driver = ({ server, report, random }) => {
  const path = '/api/v1/namespaces/coloured/configmaps?dryRun=All';
  return async () => {
    const [denied, allowed] = random.shuffle(['red', 'green', 'blue']);
    const current = await server.send<Stored>('GET', `${POLICIES}/colour`);
    if (current.status !== 200) return report.check('policy', unexpected(current, [0]));
    const body = { ...current.body, spec: colourPolicy(denied ?? '') };
    const changed = await server.send('PUT', `${POLICIES}/colour`, { body });
    if (changed.status !== 200) return report.check('policy', unexpected(changed, [0, 409]));
    for (const [colour, expected] of [
      [denied, 422],
      [allowed, 201],
    ] as const) {
      const created = await server.send('POST', path, { body: { metadata: { name: 'probe' }, data: { colour } } });
      report.check('policy', unexpected(created, [0, expected]));
    }
    const binding = {
      metadata: { name: 'reader' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    };
    const bound = await server.send('POST', BINDINGS, { body: binding });
    if (bound.status === 201) await expectRead({ server, report }, 200);
    const unbound = await server.send('DELETE', `${BINDINGS}/reader`);
    if (unbound.status === 200) await expectRead({ server, report }, 403);
    report.check('policy', unexpected(bound, [0, 201, 409]) ?? unexpected(unbound, [0, 200, 404]));
  };
};

async function expectRead({ server, report }: Context, status: number): Promise<void> {
  report.check('policy', unexpected(await server.send('GET', `${MAPS}?limit=1`, { user: 'ann' }), [0, status]));
}

function colourPolicy(denied: string): unknown {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': 'coloured' } };
  return {
    failurePolicy: 'Fail',
    matchConstraints: { namespaceSelector, resourceRules: [rule] },
    validations: [{ expression: `object.data.colour != '${denied}'`, message: `${denied} is denied` }],
  };
}

/** Creates a CRD, uses it and deletes it. Its objects are deleted with it. */
export const crdWriter: Driver =
  ({ server, report, random }) =>
  async () => {
    const plural = `things${random.below(3)}`;
    const name = `${plural}.example.com`;
    const collection = `/apis/example.com/v1/namespaces/default/${plural}`;
    const created = await server.send('POST', CRDS, { body: crd(plural) });
    report.check('CRDs', unexpected(created, [0, 201, 409]));
    if (created.status === 201) await useCrd({ server, report }, collection);
    // Also one that a restart has interrupted.
    const deleted = await server.send('DELETE', `${CRDS}/${name}`);
    report.check('CRDs', unexpected(deleted, [0, 200, 404]));
    if (deleted.status !== 200) return;
    await becomes({ server, report }, `${CRDS}/${name}`, 404);
    report.check('CRDs', unexpected(await server.send('GET', collection), [0, 404]));
  };

async function useCrd({ server, report }: Context, collection: string): Promise<void> {
  await becomes({ server, report }, collection, 200);
  const list = await server.send<StoredList>('GET', collection);
  if (list.status === 200 && list.body.items.length > 0) report.violation(`${collection}: objects of a deleted CRD`);
  const kind = collection.slice(collection.lastIndexOf('/') + 1);
  for (const size of [-1, 0, 1, 2, 3]) {
    const body = { apiVersion: 'example.com/v1', kind, metadata: { generateName: 't-' }, spec: { size } };
    report.check('CRDs', unexpected(await server.send('POST', collection, { body }), [0, size < 0 ? 422 : 201]));
  }
}

function crd(plural: string): unknown {
  const spec = { type: 'object', properties: { size: { type: 'integer', minimum: 0 } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural, kind: plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}

/** Repeats a GET until it has the status. */
async function becomes({ server, report }: Context, path: string, status: number): Promise<void> {
  const until = Date.now() + LONGEST_CHANGE_MS;
  for (;;) {
    const answer = await server.send('GET', path);
    if (answer.status === status) return;
    if (Date.now() > until) return report.violation(`${path} still has status ${answer.status}, expected ${status}`);
    await pause(20);
  }
}

/** Sends a part of a request, or reads a part of a response after a pause, and closes the connection. */
export const dropper: Driver =
  ({ server, report, random }) =>
  async () => {
    await server.open;
    const socket = connect(server.port, '127.0.0.1');
    const isRead = random.below(2) === 0;
    const head = `${isRead ? 'GET' : 'POST'} ${isRead ? LARGE : MAPS} HTTP/1.1\r\nHost: soak\r\nAuthorization: Bearer soak\r\n`;
    const body = `Content-Type: application/json\r\nContent-Length: 200\r\n\r\n{"metadata":{"name":"incomplete"},"data":{"a":"`;
    const text = isRead ? `${head}\r\n` : (head + body).slice(0, random.below(head.length + body.length));
    const wait = isRead ? random.below(2_000) : 0;
    await new Promise<void>((resolve) => {
      // The server may be stopped at the same time.
      socket.on('close', () => resolve()).on('error', () => resolve());
      socket.write(text, () => setTimeout(() => socket.destroy(), wait));
    });
    report.count('dropped connections');
    await pause(random.below(500));
  };

/** Closes the connection of one of so many requests. */
function dropped(random: SeededRandom, oneOf: number): Pick<RequestOptions, 'dropAfter'> {
  const isDropped = random.below(oneOf) === 0;
  const dropAfter = random.below(20);
  return isDropped ? { dropAfter } : {};
}

/** A response with none of the statuses. 429 (flow control) and a refusal for memory are always possible. */
export function unexpected(answer: Answer, expected: readonly number[]): string | undefined {
  if ([...expected, 429, 503].includes(answer.status)) return undefined;
  return `status ${answer.status} instead of ${expected.join(' or ')}: ${answer.text.slice(0, 500)}`;
}
