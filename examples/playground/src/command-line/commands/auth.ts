/**
 * `auth`: the current user and the user's permissions, from the server's review APIs.
 */
import { type Command, type CommandContext, SELECTOR_FLAGS } from '../command.js';
import { at, listAt, mapAt, textAt } from '../json.js';
import type { Resource } from '../resources.js';
import { LineError } from '../split-words.js';
import { layOut } from '../table.js';

export const auth: Command = {
  name: 'auth',
  summary: 'Print the current user and check permissions',
  usage: 'can-i VERB TYPE[/NAME] [flags] | can-i --list | whoami',
  words: ['can-i', 'whoami'],
  kindAt: 2,
  flags: {
    list: { type: 'switch', help: 'list all permissions' },
    subresource: { type: 'text', help: 'a subresource such as log or scale' },
    quiet: { type: 'switch', short: 'q', help: 'print nothing, return only the exit code' },
    'all-namespaces': SELECTOR_FLAGS['all-namespaces'] ?? { type: 'switch', help: '' },
  },
  examples: [
    'auth can-i create deployments --as=alice',
    'auth can-i --list --as=system:serviceaccount:default:default',
  ],
  async run(context) {
    const [what, ...rest] = context.args;
    if (what === 'whoami') return whoami(context);
    if (what !== 'can-i') throw new LineError(`error: unknown auth command "${what ?? ''}"; must be can-i or whoami`);
    return context.flags.isOn('list') ? list(context) : canI(context, rest);
  },
};

/** The resource of a review kind; its group depends on the cluster's dialect. */
async function reviews(context: CommandContext, name: string): Promise<Resource> {
  return (await context.resources()).one(name);
}

/** Creates a review of this kind and returns it with its status. */
export async function review(context: CommandContext, name: string, spec: unknown) {
  const resource = await reviews(context, name);
  const { group, version, kind } = resource;
  const body = { apiVersion: `${group}/${version}`, kind, ...(spec === undefined ? {} : { spec }) };
  return context.server.json({ method: 'POST', path: `/apis/${group}/${version}/${resource.name}`, body });
}

async function canI(context: CommandContext, [verb, what, ...more]: readonly string[]): Promise<number> {
  if (verb === undefined || what === undefined || more.length > 1) {
    throw new LineError('error: you must specify two arguments: verb resource or verb resource/resourceName');
  }
  const spec = what.startsWith('/')
    ? { nonResourceAttributes: { path: what, verb } }
    : { resourceAttributes: await attributes(context, verb, more[0] === undefined ? what : `${what}/${more[0]}`) };
  const answer = await review(context, 'selfsubjectaccessreviews', spec);
  const isAllowed = at(answer, 'status', 'allowed') === true;
  const reason = textAt(answer, 'status', 'reason');
  if (!context.flags.isOn('quiet')) {
    context.print(isAllowed ? 'yes' : `no${reason === '' ? '' : ` - ${reason}`}`);
    if (isAllowed && reason !== '') context.note(`# ${reason}`);
  }
  return isAllowed ? 0 : 1;
}

async function attributes(context: CommandContext, verb: string, what: string) {
  const [type = '', name = ''] = what.split('/');
  const resources = await context.resources();
  const found = type === '*' ? undefined : resources.find(type);
  if (found === undefined && type !== '*') {
    context.note(`Warning: the server doesn't have a resource type '${type}'\n`);
  }
  if (found?.isNamespaced === false) {
    const group = found.group === '' ? '' : ` in group '${found.group}'`;
    context.note(`Warning: resource '${found.name}' is not namespace scoped${group}\n`);
  }
  const isHere = found?.isNamespaced !== false && !context.flags.isOn('all-namespaces');
  return {
    ...(isHere ? { namespace: context.namespace } : {}),
    verb,
    group: found?.group ?? (type === '*' ? '*' : ''),
    resource: found?.name ?? type,
    ...(name === '' ? {} : { name }),
    ...(context.flags.has('subresource') ? { subresource: context.flags.text('subresource') } : {}),
  };
}

async function list(context: CommandContext): Promise<number> {
  const answer = await review(context, 'selfsubjectrulesreviews', { namespace: context.namespace });
  const brackets = (rule: unknown, key: string) => `[${listAt(rule, key).map(String).join(' ')}]`;
  const rows = listAt(answer, 'status', 'resourceRules').flatMap((rule) =>
    listAt(rule, 'resources').flatMap((resource) =>
      listAt(rule, 'apiGroups').map((group) => [
        group === '' ? String(resource) : `${String(resource)}.${String(group)}`,
        '[]',
        brackets(rule, 'resourceNames'),
        brackets(rule, 'verbs'),
      ]),
    ),
  );
  for (const rule of listAt(answer, 'status', 'nonResourceRules')) {
    rows.push(['', brackets(rule, 'nonResourceURLs'), '[]', brackets(rule, 'verbs')]);
  }
  const unique = [...new Map(rows.map((row) => [row.join('\n'), row])).values()];
  for (const line of layOut([['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'], ...unique]))
    context.print(line);
  return 0;
}

async function whoami(context: CommandContext): Promise<number> {
  const answer = await review(context, 'selfsubjectreviews', undefined);
  const user = mapAt(answer, 'status', 'userInfo');
  const rows = [
    ['ATTRIBUTE', 'VALUE'],
    ['Username', textAt(user, 'username')],
    ['Groups', `[${listAt(user, 'groups').map(String).join(' ')}]`],
  ];
  for (const line of layOut(rows)) context.print(line);
  return 0;
}
