/**
 * The bindings of recorded roles to the users whose requests they allow, as YAML.
 */
import { type RoleManifest, yamlScalar } from './access-report.js';

/** The prefix of the user names of service accounts; the same in both dialects. */
const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The binding of a role to users, by their names. */
export function bindingYaml({ apiVersion, kind, metadata }: RoleManifest, users: Iterable<string>): string {
  const { name, namespace: own } = metadata;
  const group = apiVersion.slice(0, apiVersion.indexOf('/'));
  const lines = [`apiVersion: ${apiVersion}`, `kind: ${kind}Binding`, 'metadata:', `  name: ${yamlScalar(name)}`];
  if (own !== undefined) lines.push(`  namespace: ${yamlScalar(own)}`);
  lines.push('roleRef:', `  apiGroup: ${group}`, `  kind: ${kind}`, `  name: ${yamlScalar(name)}`, 'subjects:');
  for (const user of [...new Set(users)].sort()) {
    const [namespace = '', account] = user.startsWith(ACCOUNT_PREFIX)
      ? user.slice(ACCOUNT_PREFIX.length).split(':')
      : [];
    const fields =
      account === undefined
        ? [`apiGroup: ${group}`, 'kind: User', `name: ${yamlScalar(user)}`]
        : ['kind: ServiceAccount', `name: ${yamlScalar(account)}`, `namespace: ${yamlScalar(namespace)}`];
    lines.push(...fields.map((text, index) => `${index === 0 ? '  - ' : '    '}${text}`));
  }
  return `${lines.join('\n')}\n`;
}
