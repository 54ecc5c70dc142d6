/**
 * `top`: what pods and nodes use, from the metrics server of the cluster.
 */
import { Quantity } from 'orchplane';
import { type Command, type CommandContext, SELECTOR_FLAGS } from '../command.js';
import { type Json, listAt, textAt } from '../json.js';
import { pathOf } from '../resources.js';
import { LineError } from '../split-words.js';
import { layOut } from '../table.js';

export const top: Command = {
  name: 'top',
  summary: 'Print the CPU and memory usage of pods or nodes',
  usage: '(pods | nodes) [NAME] [flags]',
  words: ['pods', 'nodes'],
  flags: {
    selector: SELECTOR_FLAGS['selector'] ?? { type: 'text', help: '' },
    'all-namespaces': SELECTOR_FLAGS['all-namespaces'] ?? { type: 'switch', help: '' },
    containers: { type: 'switch', help: 'for pods: print each container' },
  },
  examples: ['top pods', 'top pods -l app=web --containers', 'top nodes'],
  async run(context) {
    const [what = '', name] = context.args;
    if (/^(pods?|po)$/.test(what)) return topPods(context, name);
    if (/^(nodes?|no)$/.test(what)) return topNodes(context, name);
    throw new LineError(`error: top ${what}: must be pods or nodes`);
  },
};

async function topPods(context: CommandContext, name: string | undefined): Promise<number> {
  const { flags } = context;
  const isEverywhere = flags.isOn('all-namespaces');
  const showsContainers = flags.isOn('containers');
  const rows = (await metricsOf(context, 'pods', name)).flatMap((item) => {
    const namespace = isEverywhere ? [textAt(item, 'metadata', 'namespace')] : [];
    const pod = textAt(item, 'metadata', 'name');
    const containers = listAt(item, 'containers') as readonly Json[];
    if (!showsContainers) return [[...namespace, pod, ...usageTexts(containers)]];
    return containers.map((each) => [...namespace, pod, textAt(each, 'name'), ...usageTexts([each])]);
  });
  if (rows.length === 0) throw new LineError(`No resources found in ${context.namespace} namespace.`);
  const names = showsContainers ? ['POD', 'NAME'] : ['NAME'];
  const header = [...(isEverywhere ? ['NAMESPACE'] : []), ...names, 'CPU(cores)', 'MEMORY(bytes)'];
  for (const line of layOut([header, ...rows])) context.print(line);
  return 0;
}

async function topNodes(context: CommandContext, name: string | undefined): Promise<number> {
  const nodes = await context.server.json({ path: '/api/v1/nodes' });
  const rows = (await metricsOf(context, 'nodes', name)).map((item) => {
    const node = listAt(nodes, 'items').find(
      (each) => textAt(each, 'metadata', 'name') === textAt(item, 'metadata', 'name'),
    );
    const [cpu, memory] = usageTexts([item]);
    const share = (resource: string): string => {
      const whole = quantity(textAt(node, 'status', 'allocatable', resource));
      return whole === 0 ? '<unknown>' : `${Math.floor((quantity(textAt(item, 'usage', resource)) / whole) * 100)}%`;
    };
    return [textAt(item, 'metadata', 'name'), cpu ?? '', share('cpu'), memory ?? '', share('memory')];
  });
  const header = ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'];
  for (const line of layOut([header, ...rows])) context.print(line);
  return 0;
}

async function metricsOf(context: CommandContext, type: 'pods' | 'nodes', name?: string): Promise<readonly Json[]> {
  const { flags, namespace } = context;
  const found = (await context.resources()).all.find(
    ({ group, kind }) => /^metrics\./.test(group) && kind === METRICS[type],
  );
  if (found === undefined) throw new LineError('error: Metrics API not available');
  const path = pathOf(found, { namespace: flags.isOn('all-namespaces') ? undefined : namespace, name });
  const answer = await context.server.json({ path, query: { labelSelector: flags.text('selector') } });
  return name === undefined ? (listAt(answer, 'items') as readonly Json[]) : [answer];
}

const METRICS = { pods: 'PodMetrics', nodes: 'NodeMetrics' } as const;

/** The sum of the usages: millicores and mebibytes. */
function usageTexts(items: readonly Json[]): readonly string[] {
  const sum = (resource: string) => items.reduce((total, item) => total + quantity(textAt(item, 'usage', resource)), 0);
  return [`${Math.ceil(sum('cpu') * 1_000)}m`, `${Math.floor(sum('memory') / 2 ** 20)}Mi`];
}

/** Cores or bytes; 0 if there is no value. */
function quantity(text: string): number {
  return text === '' ? 0 : Quantity.parse(text).approximateFloat();
}
