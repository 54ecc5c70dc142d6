/**
 * `create`: creates an object from flags, or the objects of the editor. A table lists the kinds that can be created
 * from flags.
 */
import { type Command, type CommandContext, DRY_RUN_FLAG, OUTPUT_FLAG } from '../command.js';
import type { Json } from '../json.js';
import { pathOf } from '../resources.js';
import { LineError } from '../split-words.js';
import { isDryRun, printWritten, textOf } from './apply.js';
import { documentText, withoutOwners } from './get.js';

/** Builds the document from the flags. */
type ObjectBuilder = (context: CommandContext, name: string, command: readonly string[]) => Json;

const BUILDERS: Readonly<Record<string, ObjectBuilder>> = {
  namespace: () => ({}),
  serviceaccount: () => ({}),
  configmap: ({ flags }) => ({ data: literals(flags.texts('from-literal')) }),
  secret: ({ flags }) => ({ type: 'Opaque', stringData: literals(flags.texts('from-literal')) }),
  deployment: deploymentOf,
  role: ({ flags }) => ({ rules: [ruleOf(flags.texts('verb'), flags.texts('resource'))] }),
  clusterrole: ({ flags }) => ({ rules: [ruleOf(flags.texts('verb'), flags.texts('resource'))] }),
  rolebinding: bindingOf,
  clusterrolebinding: bindingOf,
};

const SHORT: Readonly<Record<string, string>> = {
  ns: 'namespace',
  cm: 'configmap',
  sa: 'serviceaccount',
  deploy: 'deployment',
};

export const create: Command = {
  name: 'create',
  summary: 'Create an object from flags, or the objects of the editor',
  usage: `(${Object.keys(BUILDERS).join(' | ')}) NAME [flags] | -f -`,
  words: Object.keys(BUILDERS),
  flags: {
    filename: { type: 'text', short: 'f', help: '"-" for the documents of the editor', values: ['-'] },
    'from-literal': { type: 'texts', help: 'for configmap and secret: key=value' },
    image: { type: 'texts', help: 'for deployment: images of the containers' },
    replicas: { type: 'text', short: 'r', help: 'for deployment: number of replicas' },
    port: { type: 'text', help: 'for deployment: port of the containers' },
    verb: { type: 'texts', help: 'for role: allowed verbs' },
    resource: { type: 'texts', help: 'for role: resources such as pods, deployments.apps, pods/log' },
    role: { type: 'text', help: 'for rolebinding: the Role to bind' },
    clusterrole: { type: 'text', help: 'for bindings: the ClusterRole to bind' },
    user: { type: 'texts', help: 'for bindings: a user' },
    group: { type: 'texts', help: 'for bindings: a group' },
    serviceaccount: { type: 'texts', help: 'for bindings: a service account, NAMESPACE:NAME' },
    'field-manager': { type: 'text', help: 'name of the field manager' },
    'dry-run': DRY_RUN_FLAG,
    output: OUTPUT_FLAG,
  },
  examples: [
    'create namespace team',
    'create configmap settings --from-literal=size=m',
    'create deployment web --image=nginx:1.29 --replicas=3',
    'create rolebinding readers --clusterrole=view --user=alice',
  ],
  async run(context) {
    if (context.flags.has('filename')) return fromEditor(context);
    const [word = '', ...rest] = context.args;
    const type = Object.hasOwn(SHORT, word) ? (SHORT[word] ?? word) : word;
    const builder = Object.hasOwn(BUILDERS, type) ? BUILDERS[type] : undefined;
    if (builder === undefined) {
      throw new LineError(
        `error: create supports ${Object.keys(BUILDERS).join(', ')}${word === '' ? '' : `, not "${word}"`}; use "create -f -" for other kinds`,
      );
    }
    const names = type === 'secret' && rest[0] === 'generic' ? rest.slice(1) : rest;
    const [name, ...more] = names;
    if (name === undefined || (more.length > 0 && type !== 'deployment')) {
      throw new LineError(`error: exactly one NAME is required, got ${names.length}`);
    }
    const resource = (await context.resources()).one(type);
    const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
    const body = { apiVersion, kind: resource.kind, metadata: { name }, ...builder(context, name, more) };
    return post(context, { path: pathOf(resource, { namespace: context.namespace }), body }, (object) => {
      const output = context.flags.text('output');
      if (output === 'yaml' || output === 'json') context.print(documentText(withoutOwners(object), output));
      else printWritten(context, resource, name, 'created');
    });
  },
};

interface Post {
  readonly path: string;
  readonly body: Json;
  /** The field manager unless the line names another. */
  readonly fieldManager?: string;
}

/** Creates an object and prints it in the requested format. */
export async function post(
  context: CommandContext,
  { path, body, fieldManager: usual = 'kubectl-create' }: Post,
  print: (object: Json) => void,
): Promise<number> {
  // A client-side dry run sends no request and prints the document.
  if (context.flags.text('dry-run') === 'client') {
    print(body);
    return 0;
  }
  const fieldManager = context.flags.text('field-manager') ?? usual;
  const query = { fieldManager, fieldValidation: 'Strict', ...(isDryRun(context) ? { dryRun: 'All' } : {}) };
  print(await context.server.json({ method: 'POST', path, body, query }));
  return 0;
}

/**
 * Creates the objects of the editor's text. A dry-run apply first finds objects that already exist, which create
 * rejects.
 */
async function fromEditor(context: CommandContext): Promise<number> {
  const { namespace, identity, shell, flags } = context;
  const text = textOf(context);
  const fieldManager = flags.text('field-manager') ?? 'kubectl-create';
  const request = { fieldManager, force: true, namespace, identity };
  const resources = await context.resources();
  let failed = false;
  const dryRun = await shell.apply(text, { ...request, dryRun: true });
  for (const each of dryRun) {
    if (each.outcome !== 'configured' && each.outcome !== 'unchanged') continue;
    const name = resources.ofKind(each.apiVersion, each.kind)?.name ?? each.kind;
    context.note(
      `Error from server (AlreadyExists): error when creating "STDIN": ${name} "${each.name}" already exists`,
    );
    failed = true;
  }
  if (failed) return 1;
  for (const each of await shell.apply(text, { ...request, dryRun: isDryRun(context) })) {
    if (each.outcome === 'failed') {
      failed = true;
      context.note(`error: ${each.error.message}`);
      continue;
    }
    const resource = (await context.resources()).ofKind(each.apiVersion, each.kind);
    if (resource === undefined) context.print(`${each.kind.toLowerCase()}/${each.name} created`);
    else printWritten(context, resource, each.name, 'created');
  }
  return failed ? 1 : 0;
}

function literals(pairs: readonly string[]): Record<string, string> {
  const data: Record<string, string> = {};
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals <= 0) throw new LineError(`error: invalid literal source ${pair}, expected key=value`);
    data[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return data;
}

function deploymentOf({ flags }: CommandContext, name: string, command: readonly string[]): Json {
  const images = flags.texts('image');
  if (images.length === 0) throw new LineError('error: required flag(s) "image" not set');
  const port = flags.text('port');
  const labels = { app: name };
  const containers = images.map((image) => ({
    name: (image.split('/').at(-1) ?? image).split(/[:@]/)[0],
    image,
    ...(port === undefined ? {} : { ports: [{ containerPort: Number(port) }] }),
    ...(command.length === 0 ? {} : { command }),
  }));
  return {
    metadata: { name, labels },
    spec: {
      replicas: Number(flags.text('replicas') ?? '1'),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

function ruleOf(verbs: readonly string[], words: readonly string[]): Json {
  if (verbs.length === 0) throw new LineError('error: at least one verb must be specified');
  if (words.length === 0) throw new LineError('error: one or more resources must be specified');
  const resources = words.map((word) => {
    const [type = '', subresource] = word.split('/');
    const [resource = '', ...group] = type.split('.');
    return { group: group.join('.'), resource: subresource === undefined ? resource : `${resource}/${subresource}` };
  });
  return {
    apiGroups: [...new Set(resources.map(({ group }) => group))],
    resources: resources.map(({ resource }) => resource),
    verbs,
  };
}

function bindingOf({ flags, namespace }: CommandContext): Json {
  const role = flags.text('role');
  const clusterRole = flags.text('clusterrole');
  if ((role === undefined) === (clusterRole === undefined)) {
    throw new LineError('error: exactly one of clusterrole or role must be specified');
  }
  const accounts = flags.texts('serviceaccount').map((word) => {
    const [home = namespace, name] = word.split(':');
    if (name === undefined) throw new LineError('error: serviceaccount must be <namespace>:<name>');
    return { kind: 'ServiceAccount', namespace: home, name };
  });
  return {
    roleRef: { kind: role === undefined ? 'ClusterRole' : 'Role', name: role ?? clusterRole },
    subjects: [
      ...flags.texts('user').map((name) => ({ kind: 'User', name })),
      ...flags.texts('group').map((name) => ({ kind: 'Group', name })),
      ...accounts,
    ],
  };
}
