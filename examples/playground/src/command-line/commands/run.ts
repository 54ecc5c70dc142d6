/**
 * `run`: creates a pod with one container.
 */
import { type Command, DRY_RUN_FLAG, OUTPUT_FLAG } from '../command.js';
import { pathOf } from '../resources.js';
import { LineError } from '../split-words.js';
import { printWritten } from './apply.js';
import { post } from './create.js';
import { documentText, withoutOwners } from './get.js';

export const run: Command = {
  name: 'run',
  summary: 'Create a pod with one container',
  usage: 'NAME --image=IMAGE [flags] [-- ARGUMENTS…]',
  flags: {
    image: { type: 'text', help: 'image of the container' },
    port: { type: 'text', help: 'port of the container' },
    labels: { type: 'texts', short: 'l', help: 'labels of the pod: key=value; run=NAME by default' },
    command: { type: 'switch', help: 'the words after -- are the command instead of its arguments' },
    restart: { type: 'text', help: 'Always, OnFailure or Never', values: ['Always', 'OnFailure', 'Never'] },
    'field-manager': { type: 'text', help: 'name of the field manager' },
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: ['run web --image=nginx:1.29', 'run clock --image=busybox -- sh -c "while true; do date; sleep 5; done"'],
  async run(context) {
    const { flags } = context;
    const [name, ...more] = context.args;
    if (name === undefined) throw new LineError('error: NAME is required for run');
    const image = flags.text('image');
    if (image === undefined || image === '') throw new LineError('error: required flag(s) "image" not set');
    const pairs = flags.texts('labels').map((pair) => pair.split('='));
    const port = flags.text('port');
    const words = flags.isOn('command') ? { command: more } : { args: more };
    const container = {
      name,
      image,
      ...(port === undefined ? {} : { ports: [{ containerPort: Number(port) }] }),
      ...(more.length === 0 ? {} : words),
    };
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: pairs.length === 0 ? { run: name } : Object.fromEntries(pairs) },
      spec: { containers: [container], restartPolicy: flags.text('restart') ?? 'Always' },
    };
    const resource = (await context.resources()).one('pods');
    const call = { path: pathOf(resource, { namespace: context.namespace }), body, fieldManager: 'kubectl-run' };
    return post(context, call, (object) => {
      const output = flags.text('output');
      if (output === 'yaml' || output === 'json') context.print(documentText(withoutOwners(object), output));
      else printWritten(context, resource, name, 'created');
    });
  },
};
