/**
 * Commands about the cluster: `api-resources`, `api-versions`, `events`, `version`, and `config`, which sets the
 * default namespace.
 */

import { ageText, timeOf } from '../age.js';
import { type Command, OUTPUT_FLAG, SELECTOR_FLAGS } from '../command.js';
import { listAt, numberAt, textAt } from '../json.js';
import { apiVersionOf, qualifiedName } from '../resources.js';
import { LineError } from '../split-words.js';
import { layOut } from '../table.js';

export const apiResources: Command = {
  name: 'api-resources',
  summary: 'List the kinds that the cluster serves',
  usage: '[flags]',
  flags: {
    'api-group': { type: 'text', help: 'only kinds of this group' },
    namespaced: { type: 'switch', help: 'only namespaced kinds, or cluster-scoped ones (=false)' },
    verbs: { type: 'texts', help: 'only kinds that support these verbs' },
    output: { ...OUTPUT_FLAG, help: 'wide or name', values: ['wide', 'name'] },
    'no-headers': { type: 'switch', help: 'omit the header' },
  },
  async run(context) {
    const { flags } = context;
    const shown = (await context.resources())
      .preferred()
      .filter(({ group }) => !flags.has('api-group') || group === flags.text('api-group'))
      .filter(({ isNamespaced }) => !flags.has('namespaced') || isNamespaced === flags.isOn('namespaced'))
      .filter(({ verbs }) => flags.texts('verbs').every((verb) => verbs.includes(verb)))
      .sort((left, right) => compare(left.group, right.group) || compare(left.name, right.name));
    if (flags.text('output') === 'name') {
      for (const resource of shown) context.print(qualifiedName(resource));
      return 0;
    }
    const isWide = flags.text('output') === 'wide';
    const header = [
      'NAME',
      'SHORTNAMES',
      'APIVERSION',
      'NAMESPACED',
      'KIND',
      ...(isWide ? ['VERBS', 'CATEGORIES'] : []),
    ];
    const rows = shown.map((resource) => [
      resource.name,
      resource.shortNames.join(','),
      apiVersionOf(resource),
      String(resource.isNamespaced),
      resource.kind,
      ...(isWide ? [resource.verbs.join(','), resource.categories.join(',')] : []),
    ]);
    for (const line of layOut(flags.isOn('no-headers') ? rows : [header, ...rows])) context.print(line);
    return 0;
  },
};

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

export const apiVersions: Command = {
  name: 'api-versions',
  summary: 'List the groups and versions that the cluster serves',
  usage: '',
  flags: {},
  async run(context) {
    const versions = new Set((await context.resources()).all.map(apiVersionOf));
    for (const version of [...versions].sort()) context.print(version);
    return 0;
  },
};

export const events: Command = {
  name: 'events',
  summary: 'List Events, latest last',
  usage: '[--for TYPE/NAME] [flags]',
  flags: {
    'all-namespaces': SELECTOR_FLAGS['all-namespaces'] ?? { type: 'switch', help: '' },
    for: { type: 'text', help: 'only Events of this object: deployment/web' },
    types: { type: 'texts', help: 'only Normal, or only Warning', values: ['Normal', 'Warning'] },
    'no-headers': { type: 'switch', help: 'omit the header' },
  },
  async run(context) {
    const { flags } = context;
    const everywhere = flags.isOn('all-namespaces');
    const about = flags.text('for');
    const [type = '', name = ''] = about?.split('/') ?? [];
    const kind = about === undefined ? undefined : (await context.resources()).one(type).kind;
    const scope = everywhere ? '' : `/namespaces/${encodeURIComponent(context.namespace)}`;
    const list = await context.server.json({ path: `/api/v1${scope}/events` });
    const types = flags.texts('types').map((each) => each.toLowerCase());
    const shown = listAt(list, 'items')
      .filter((event) => kind === undefined || textAt(event, 'involvedObject', 'kind') === kind)
      .filter((event) => name === '' || textAt(event, 'involvedObject', 'name') === name)
      .filter((event) => types.length === 0 || types.includes(textAt(event, 'type').toLowerCase()))
      .sort((left, right) => timeOf(left) - timeOf(right));
    if (shown.length === 0) {
      context.note(everywhere ? 'No events found.' : `No events found in ${context.namespace} namespace.`);
      return 0;
    }
    const rows = shown.map((event) => [
      ...(everywhere ? [textAt(event, 'metadata', 'namespace')] : []),
      lastSeen(event, context.shell.now()),
      textAt(event, 'type'),
      textAt(event, 'reason'),
      `${textAt(event, 'involvedObject', 'kind')}/${textAt(event, 'involvedObject', 'name')}`,
      textAt(event, 'message').trim(),
    ]);
    const header = [...(everywhere ? ['NAMESPACE'] : []), 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'];
    for (const line of layOut(flags.isOn('no-headers') ? rows : [header, ...rows])) context.print(line);
    return 0;
  },
};

function lastSeen(event: unknown, now: number): string {
  const age = ageText(now - timeOf(event));
  const count = numberAt(event, 'series', 'count') || numberAt(event, 'count');
  const first = Date.parse(textAt(event, 'firstTimestamp') || textAt(event, 'eventTime'));
  return count > 1 && Number.isFinite(first) ? `${age} (x${count} over ${ageText(now - first)})` : age;
}

export const version: Command = {
  name: 'version',
  summary: 'Print the Kubernetes version of the cluster',
  usage: '',
  flags: {},
  async run(context) {
    const release = await context.server.json({ path: '/version' });
    context.print('Client Version: playground');
    context.print(`Server Version: ${textAt(release, 'gitVersion')}`);
    return 0;
  },
};

export const config: Command = {
  name: 'config',
  summary: 'Set the default namespace',
  usage: 'set-context --current --namespace=NAME | view',
  words: ['set-context', 'view'],
  flags: { current: { type: 'switch', help: 'accepted; there is only one context' } },
  async run(context) {
    const [what] = context.args;
    if (what === 'view') {
      context.print(`namespace: ${context.shell.namespace()}`);
      return 0;
    }
    const namespace = context.flags.text('namespace');
    if (what !== 'set-context' || namespace === undefined) {
      throw new LineError('error: config supports "set-context --current --namespace=NAME" and "view"');
    }
    context.shell.setNamespace(namespace);
    context.print('Context "playground" modified.');
    return 0;
  },
};
