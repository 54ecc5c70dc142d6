/**
 * The command `orchplane explain-access`: the smallest role of a program, from a log of its requests.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import {
  type AccessCheck,
  AccessChecks,
  type AccessReport,
  isAllowedBy,
  type RoleLike,
} from '../../auth/access-report.js';
import { ADMINISTRATOR, accountUserName } from '../../auth/identity.js';
import { bindingOf } from '../../auth/role-bindings.js';
import { AccessLogError, readAccessLog, UNKNOWN_USER } from '../../http/access-log.js';
import {
  initialClusterRoleBindings,
  initialClusterRoles,
  initialRoleBindings,
} from '../../kinds/rbac/bootstrap/objects.js';
import { type Dialect, dialectNamed } from '../../meta/dialect.js';
import { TimeError, timeToMs } from '../../text/time/time.js';
import { escapeInvisible } from '../../util/json.js';
import { messageOf, onOneLine } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import { type CommandEnvironment, defineCommand, UsageError } from './command.js';
import { errorLine } from './manifest-input.js';
import { counted, tornNote, valueText } from './output.js';

export const command = defineCommand({
  usage: ['explain-access FILE… [options]'],
  summary:
    'Prints the smallest roles that allow the requests of a log, with their bindings: a Role for each namespace and a ClusterRole for the rest. The log is an audit log ("orchplane serve --audit-log-path") or a file of "orchplane record"; - is standard input. Comments mark what was refused. Requests that every authenticated user may send are left out, and without --user those of the control plane and of nodes.',
  options: {
    user: {
      type: 'string',
      multiple: true,
      value: 'NAME',
      help: 'only requests of this user; may be repeated; default: all users except controllers, nodes and other components of the cluster',
    },
    'user-agent': { type: 'string', value: 'TEXT', help: 'only requests whose user agent contains this text' },
    since: { type: 'string', value: 'TIME', help: 'only requests from this time on: 2026-11-18T13:00:00Z' },
    until: { type: 'string', value: 'TIME', help: 'only requests until this time' },
    name: {
      type: 'string',
      value: 'NAME',
      help: 'the name of the roles; default: that of the service account or user',
    },
    'resource-names': { type: 'boolean', help: 'restrict the roles to the names of the objects' },
    'cluster-role': { type: 'boolean', help: 'print one ClusterRole for all namespaces' },
    dialect: { type: 'string', choices: ['kubernetes', 'orch'], help: 'the dialect of the roles; default: kubernetes' },
    output: { type: 'string', short: 'o', choices: ['yaml', 'json'], help: 'default: yaml, with comments' },
  },
  async run({ values, positionals }, environment) {
    if (positionals.length === 0)
      throw new UsageError('a file is missing: an audit log, or a file of "orchplane record"');
    if (values.name !== undefined && !/^[^\s/%]+$/.test(values.name))
      throw new UsageError(`--name takes the name of a role, without spaces, / and %; got "${values.name}"`);
    const dialect = dialectNamed(values.dialect ?? 'kubernetes');
    const [from, to] = [timeOf('--since', values.since), timeOf('--until', values.until)];
    const agent = values['user-agent'] ?? '';
    const [user, otherUser] = values.user ?? [];
    const named = user === undefined || otherUser !== undefined ? UNKNOWN_USER : user;
    const truncated: string[] = [];
    const checks = (await readLogs(positionals, environment, truncated))
      .filter(({ source }) => source.includes(agent))
      .map((check) => (check.user === UNKNOWN_USER ? { ...check, user: named } : check));
    const [recorded, leftOut] = [new AccessChecks(), new AccessChecks()];
    const common = commonRoles(dialect);
    const components = values.user === undefined ? componentUsers(dialect) : undefined;
    for (const check of checks) {
      if (check.allowed && isAllowedBy(check.attributes, common)) continue;
      (components !== undefined && isOfComponent(check, components) ? leftOut : recorded).add(check);
    }
    const filter = {
      ...(values.user === undefined ? {} : { user: values.user }),
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
    };
    const report = recorded.report(filter, { dialect, withNames: values['resource-names'] === true });
    const { requests } = report;
    const ofComponents = leftOut.report(filter, { dialect, withNames: false }).requests;
    if (ofComponents.length > 0) {
      const count = ofComponents.reduce((sum, request) => sum + request.count, 0);
      const of = namesOf(usersOf(ofComponents));
      environment.writeError(
        `${counted(count, 'request')} of the cluster itself left out (${of}); --user selects them\n`,
      );
    }
    if (requests.length === 0) {
      throw new UsageError(
        `none of the ${counted(checks.length, 'request')} needs a role of its own, or matches the options`,
      );
    }
    const users = usersOf(requests);
    if (users.includes(UNKNOWN_USER))
      environment.writeError('a recording does not contain the user; --user names it\n');
    if (users.length > 1)
      environment.writeError(`the roles are for ${users.length} users (${namesOf(users)}); --user selects one\n`);
    const refused = requests.filter((request) => request.refused > 0).length;
    if (refused > 0)
      environment.writeError(`${refused} of ${counted(requests.length, 'different request')} were refused\n`);
    if (values.output !== 'json')
      environment.writeOut(truncated.map((note) => `# ${escapeInvisible(note)}\n`).join(''));
    environment.writeOut(rolesText(report, values.name ?? roleName(users, dialect), values));
    return 0;
  },
});

const MAX_NAMED_USERS = 20;

function usersOf(requests: AccessReport['requests']): string[] {
  return [...new Set(requests.map(({ user }) => user))];
}

function namesOf(users: readonly string[]): string {
  return users.slice(0, MAX_NAMED_USERS).join(', ') + (users.length > MAX_NAMED_USERS ? ', …' : '');
}

interface RoleFormat {
  readonly 'cluster-role'?: boolean | undefined;
  readonly output?: 'yaml' | 'json' | undefined;
}

function rolesText(report: AccessReport, name: string, { output = 'yaml', ...values }: RoleFormat): string {
  const one = values['cluster-role'] === true;
  const roles = one ? [report.clusterRole(name)] : report.roles(name);
  const users = new Map<string, Set<string>>();
  for (const { user, attributes } of report.requests) {
    const namespace = one || attributes.type !== 'resource' ? '' : attributes.namespace;
    getOrInsertComputed(users, namespace, () => new Set<string>()).add(user);
  }
  const bindings = roles.map((role) => bindingOf(role, users.get(role.metadata.namespace ?? '') ?? []));
  if (output === 'json')
    return valueText('json', { apiVersion: 'v1', kind: 'List', metadata: {}, items: [...roles, ...bindings] });
  return [report.yaml(name, { clusterRole: one }), ...bindings.map((each) => valueText('yaml', each))].join('---\n');
}

/** Adds a note to `truncated` for each log with incomplete lines. */
async function readLogs(
  files: readonly string[],
  { stdin, writeError }: CommandEnvironment,
  truncated: string[],
): Promise<AccessCheck[]> {
  const checks: AccessCheck[] = [];
  for (const file of files) {
    try {
      const log = file === '-' ? await text(stdin) : await readFile(file, 'utf8');
      let torn = 0;
      for (const check of readAccessLog(log, () => torn++)) checks.push(check);
      if (torn === 0) continue;
      const note = tornNote(file, torn);
      truncated.push(onOneLine(note));
      writeError(errorLine(note));
    } catch (error) {
      if (error instanceof AccessLogError) throw new UsageError(`${file}: ${error.message}`);
      if (!(error instanceof Error) || !('code' in error)) throw error;
      throw new UsageError(`${file}: ${error.code === 'ENOENT' ? 'no such file' : messageOf(error)}`);
    }
  }
  if (checks.length === 0) throw new UsageError(`${files.join(', ')} contains no requests`);
  return checks;
}

function timeOf(option: string, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  try {
    return timeToMs(given);
  } catch (error) {
    if (!(error instanceof TimeError)) throw error;
    throw new UsageError(`${option} takes a time such as 2026-11-18T13:00:00Z, got "${given}"`);
  }
}

const COMMON_ROLES: readonly string[] = ['system:discovery', 'system:basic-user', 'system:public-info-viewer'];

/** The roles that every authenticated user has. */
function commonRoles(dialect: Dialect): readonly RoleLike[] {
  const roles = initialClusterRoles(dialect).filter(({ metadata }) => COMMON_ROLES.includes(metadata.name ?? ''));
  return roles.map((role) => ({ ...role, kind: 'ClusterRole' }));
}

/** The users and service accounts that have roles in a new cluster: kube-scheduler, controllers. */
function componentUsers(dialect: Dialect): ReadonlySet<string> {
  const bindings = [...initialClusterRoleBindings(dialect), ...initialRoleBindings(dialect)];
  const subjects = bindings.flatMap(({ subjects: given }) => (given ?? []) as readonly Subject[]);
  return new Set(
    subjects.flatMap(({ kind, name, namespace = '' }) =>
      kind === 'Group' ? [] : [kind === 'User' ? name : accountUserName({ namespace, name })],
    ),
  );
}

interface Subject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/**
 * Whether a request is one of the control plane or of a node. In the process of the cluster, controllers act as the
 * administrator and have no user agent, unlike clients such as kubectl.
 */
function isOfComponent({ user, source }: AccessCheck, components: ReadonlySet<string>): boolean {
  return (
    components.has(user) || /^system:(?:apiserver$|node:)/.test(user) || (user === ADMINISTRATOR.user && source === '')
  );
}

/**
 * The name of a service account, or a user name that is a name of an object. A role with the name of an initial one would
 * replace it, or bind the user to it.
 */
function roleName([user = '']: readonly string[], dialect: Dialect): string {
  const last = user
    .slice(user.lastIndexOf(':') + 1)
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]+/g, '-');
  const name = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(last) ? last : 'recorded';
  return initialClusterRoles(dialect).some(({ metadata }) => metadata.name === name) ? `${name}-recorded` : name;
}
