/** Deletes: propagation policies, preconditions, grace periods, finalizers, collections. */
import { pathSegment, reference } from './values.mjs';

export function deleteScenario(tools) {
  const { random, sample, collection, request, scenario } = tools;
  const body = sample();
  const path = `${collection}/${pathSegment(body.metadata.name)}`;
  if (random.chance(0.5))
    body.metadata.finalizers = random.pick([
      ['example.com/a'],
      ['foregroundDeletion'],
      ['orphan'],
      ['example.com/a', 'orphan'],
    ]);
  if (random.chance(0.3)) body.metadata.labels = { a: random.pick(['b', 'c']) };
  const steps = [request('POST', collection, { id: 'c', body })];
  const count = 1 + random.below(4);
  for (let left = count; left > 0; left--) {
    const isCollection = tools.kind.namespaced && random.chance(0.2);
    const step = random.weighted([
      [
        5,
        () =>
          request('DELETE', isCollection ? collection : path, {
            body: deleteOptions(random),
            query: isCollection ? selection(random) : {},
          }),
      ],
      [
        3,
        () =>
          request('DELETE', isCollection ? collection : path, {
            query: { ...deleteQuery(random), ...(isCollection ? selection(random) : {}) },
          }),
      ],
      [
        2,
        () =>
          request('PATCH', path, {
            headers: { 'content-type': 'application/merge-patch+json' },
            body: { metadata: { finalizers: random.pick([null, [], ['example.com/b'], ['example.com/a']]) } },
          }),
      ],
      [2, () => request('GET', path)],
      [
        1,
        () =>
          request('PUT', path, {
            body: {
              ...sample(),
              metadata: {
                name: body.metadata.name,
                finalizers: random.pick([undefined, ['example.com/c'], ['orphan']]),
              },
            },
          }),
      ],
      [1, () => request('POST', collection, { body })],
    ])();
    steps.push(step);
  }
  return scenario('delete', [...steps, request('GET', path)]);
}

function deleteOptions(random) {
  const options = random.pick([
    {},
    { apiVersion: 'v1', kind: 'DeleteOptions' },
    { kind: 'DeleteOptions' },
    { apiVersion: 'meta.k8s.io/v1', kind: 'DeleteOptions' },
    { apiVersion: 'v1', kind: 'Pod' },
  ]);
  if (random.chance(0.5))
    options.propagationPolicy = random.pick(['Foreground', 'Background', 'Orphan', 'Odd', '', null]);
  if (random.chance(0.3)) options.gracePeriodSeconds = random.pick([0, 1, 30, -1, '1', null]);
  if (random.chance(0.3))
    options.preconditions = random.pick([
      { uid: reference('c.metadata.uid') },
      { uid: 'x' },
      { resourceVersion: reference('c.metadata.resourceVersion') },
      { resourceVersion: '1' },
      {},
      null,
    ]);
  if (random.chance(0.1)) options.orphanDependents = random.pick([true, false, null]);
  if (random.chance(0.1)) options.dryRun = random.pick([['All'], [], ['Odd'], 'All', ['All', 'All']]);
  if (random.chance(0.05)) options.unknownField = 1;
  if (random.chance(0.05)) options.ignoreStoreReadErrorWithClusterBreakingPotential = random.chance(0.5);
  return options;
}

function deleteQuery(random) {
  const query = {};
  if (random.chance(0.5)) query.propagationPolicy = random.pick(['Foreground', 'Background', 'Orphan', 'Odd', '']);
  if (random.chance(0.3)) query.gracePeriodSeconds = random.pick(['0', '1', '-1', 'x', '']);
  if (random.chance(0.1)) query.orphanDependents = random.pick(['true', 'false', 'odd']);
  if (random.chance(0.2)) query.dryRun = random.pick(['All', 'Odd', '']);
  return query;
}

function selection(random) {
  return random.pick([
    {},
    { labelSelector: 'a=b' },
    { labelSelector: '!a' },
    { fieldSelector: 'metadata.name=a' },
    { labelSelector: 'a in (' },
    { limit: '1' },
  ]);
}
