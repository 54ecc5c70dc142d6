/**
 * Compares the decisions of the reference about the pods of one cluster with those of the library. Each decision of the
 * reference is applied before the next one, so that one difference does not lead to others.
 */

/**
 * The result for each decision: `same`, `tie` if both sides rate the other's node equal, or what differs. `lib` has the
 * functions of the scheduler.
 */
export function replay(lib, { objects, decisions }) {
  const pods = objects.filter(({ kind }) => kind === 'Pod');
  const bound = pods.filter(({ spec }) => spec.nodeName !== undefined);
  const pending = new Map(pods.filter(({ spec }) => spec.nodeName === undefined).map((pod) => [podKey(pod), pod]));
  return decisions.map((expected, index) => {
    const pod = pending.get(expected.pod);
    const result = compare(expected, decide(lib, { pod, objects, bound, pending: pending.values() }));
    if (expected.host !== undefined) {
      const startTime = new Date(FIRST_START + (index + 1) * 60_000).toISOString();
      pending.delete(expected.pod);
      bound.push({ ...pod, spec: { ...pod.spec, nodeName: expected.host }, status: { ...pod.status, startTime } });
    }
    return result;
  });
}

function readerOf(objects) {
  const byKind = new Map();
  for (const object of objects) byKind.set(object.kind, [...(byKind.get(object.kind) ?? []), object]);
  const of = (kind) => byKind.get(kind.kind) ?? [];
  return {
    get: (kind, name, namespace) =>
      of(kind).find(({ metadata }) => metadata.name === name && metadata.namespace === (namespace || undefined)),
    list: (kind, namespace) =>
      of(kind).filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace),
  };
}

/** The decision of the library on the state that the reference had. */
function decide(lib, { pod, objects, bound, pending }) {
  const infos = new Map(
    objects.filter(({ kind }) => kind === 'Node').map((node) => [node.metadata.name, new lib.NodeInfo(node)]),
  );
  for (const each of bound) infos.get(each.spec.nodeName)?.add(lib.podInfoOf(each));
  const snapshot = lib.createSnapshot({
    nodes: infos.values(),
    pending,
    objects: readerOf(objects),
    dialect: lib.kubernetesDialect,
    features: undefined,
    nowMs: Date.UTC(2026, 10, 18),
  });
  const info = lib.podInfoOf(pod);
  try {
    const ranking = lib.rank(info, snapshot);
    if ('nodes' in ranking) return { nodes: ranking.nodes };
    const { statuses, podProblem } = ranking.failure;
    const { candidates, message: remedy } = lib.findRemedy(info, ranking.failure, snapshot);
    const nodeCount = snapshot.nodes.length;
    return { candidates, message: lib.fitMessage({ nodeCount, statuses, podProblem, remedy }) };
  } catch (error) {
    if (!(error instanceof lib.SchedulingError)) throw error;
    return { message: error.message, isError: true };
  }
}

/** The other side uses the same. */
const FIRST_START = Date.UTC(2026, 10, 18);

const podKey = ({ metadata }) => `${metadata.namespace}/${metadata.name}`;

/** `same`, `tie`, or what differs. */
function compare(expected, actual) {
  if (expected.host === undefined || actual.nodes === undefined) {
    if (expected.host !== undefined) return `host ${expected.host}, but: ${actual.message}`;
    if (actual.nodes !== undefined) return `fits on ${actual.nodes[0].name}, but: ${expected.message}`;
    if (expected.message !== actual.message) return `message\n    ${expected.message}\n    ${actual.message}`;
    return comparePreemption(expected, actual.candidates ?? []);
  }
  const scoresOf = (nodes) => JSON.stringify(nodes.map(({ name, scores = {} }) => [name, sorted(scores)]).sort());
  const [wanted, found] = [scoresOf(expected.nodes), scoresOf(actual.nodes)];
  if (wanted !== found) return `scores\n    ${wanted}\n    ${found}`;
  const top = actual.nodes.filter(({ score }) => score === actual.nodes[0].score).map(({ name }) => name);
  if (!top.includes(expected.host)) return `host ${expected.host}, not one of ${top}`;
  return top[0] === expected.host ? 'same' : 'tie';
}

function comparePreemption({ nominated = '', victims = [] }, best) {
  const names = best.map(({ nodeName }) => nodeName);
  if (nominated === '') return names.length === 0 ? 'same' : `no preemption, but ${names}`;
  const candidate = best.find(({ nodeName }) => nodeName === nominated);
  if (candidate === undefined) return `preemption on ${nominated}, not one of ${names}`;
  const removed = candidate.victims.map(({ pod }) => podKey(pod)).sort();
  if (JSON.stringify(removed) !== JSON.stringify(victims)) return `victims ${victims}, not ${removed}`;
  return names[0] === nominated ? 'same' : 'tie';
}

function sorted(scores) {
  return Object.entries(scores).sort(([left], [right]) => (left < right ? -1 : 1));
}
