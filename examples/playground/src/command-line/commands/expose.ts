/**
 * `expose` and `autoscale`: create a Service or a HorizontalPodAutoscaler for a workload.
 */
import { type Command, type CommandContext, DRY_RUN_FLAG, type Named, OUTPUT_FLAG } from '../command.js';
import { type Json, listAt, mapAt, numberAt, textAt } from '../json.js';
import { apiVersionOf, pathOf } from '../resources.js';
import { LineError } from '../split-words.js';
import { placeOf, targetOf } from '../targets.js';
import { printWritten } from './apply.js';
import { post } from './create.js';
import { documentText, withoutOwners } from './get.js';

export const expose: Command = {
  name: 'expose',
  summary: 'Create a Service for the pods of a workload',
  usage: '(TYPE NAME | TYPE/NAME) [--port=PORT] [flags]',
  kindAt: 0,
  flags: {
    port: { type: 'text', help: 'port of the Service; by default that of the first container' },
    'target-port': { type: 'text', help: 'port of the containers; by default that of the Service' },
    type: {
      type: 'text',
      help: 'ClusterIP, NodePort or LoadBalancer',
      values: ['ClusterIP', 'NodePort', 'LoadBalancer'],
    },
    name: { type: 'text', help: 'name of the Service; by default that of the workload' },
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: ['expose deployment web --port=80', 'expose pod/web --port=80 --target-port=8080'],
  async run(context) {
    const { flags } = context;
    const target = await targetOf(context);
    const object = await context.server.json({ path: placeOf(context, target) });
    const port = Number(flags.text('port') ?? firstPort(object));
    if (!(port > 0)) throw new LineError("error: couldn't find port via --port flag or introspection");
    const targetPort = flags.text('target-port') ?? String(port);
    const spec = {
      selector: selectorOf(object, target),
      ports: [{ port, protocol: 'TCP', targetPort: /^\d+$/.test(targetPort) ? Number(targetPort) : targetPort }],
      ...(flags.has('type') ? { type: flags.text('type') } : {}),
    };
    return create(context, { type: 'services', name: flags.text('name') ?? target.name, spec, command: 'expose' });
  },
};

export const autoscale: Command = {
  name: 'autoscale',
  summary: 'Create a HorizontalPodAutoscaler for a workload',
  usage: '(TYPE NAME | TYPE/NAME) --max=COUNT [--min=COUNT] [--cpu-percent=PERCENT]',
  kindAt: 0,
  flags: {
    min: { type: 'text', help: 'lowest number of replicas; 1 by default' },
    max: { type: 'text', help: 'highest number of replicas' },
    'cpu-percent': { type: 'text', help: 'average CPU usage in percent of the request; 80 by default' },
    name: { type: 'text', help: 'name of the autoscaler; by default that of the workload' },
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: ['autoscale deployment web --min=1 --max=5 --cpu-percent=50'],
  async run(context) {
    const { flags } = context;
    const target = await targetOf(context);
    const maxReplicas = Number(flags.text('max') ?? 'none');
    if (!(maxReplicas > 0)) throw new LineError('error: --max=MAXPODS is required and must be at least 1, max: -1');
    const averageUtilization = Number(flags.text('cpu-percent') ?? '80');
    const spec = {
      scaleTargetRef: { apiVersion: apiVersionOf(target.resource), kind: target.resource.kind, name: target.name },
      minReplicas: Number(flags.text('min') ?? '1'),
      maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }],
    };
    const name = flags.text('name') ?? target.name;
    return create(context, { type: 'horizontalpodautoscalers', name, spec, command: 'autoscale' });
  },
};

interface Creation {
  readonly type: string;
  readonly name: string;
  readonly spec: Json;
  /** For the field manager and the output: `service/web exposed`. */
  readonly command: string;
}

async function create(context: CommandContext, { type, name, spec, command }: Creation): Promise<number> {
  const resource = (await context.resources()).one(type);
  const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
  const path = pathOf(resource, { namespace: context.namespace });
  return post(context, { path, body, fieldManager: `kubectl-${command}` }, (object) => {
    const output = context.flags.text('output');
    if (output === 'yaml' || output === 'json') context.print(documentText(withoutOwners(object), output));
    else printWritten(context, resource, name, `${command}d`);
  });
}

function selectorOf(object: Json, { resource }: Named): Json {
  if (resource.kind === 'Pod') return mapAt(object, 'metadata', 'labels');
  const labels = mapAt(object, 'spec', 'selector', 'matchLabels');
  if (Object.keys(labels).length > 0) return labels;
  throw new LineError(`error: cannot expose a ${textAt(object, 'kind')}`);
}

function firstPort(object: Json): number {
  const template = Object.keys(mapAt(object, 'spec', 'template')).length === 0 ? [] : ['template', 'spec'];
  const [port] = listAt(object, 'spec', ...template, 'containers').flatMap((each) => listAt(each, 'ports'));
  return numberAt(port, 'containerPort');
}
