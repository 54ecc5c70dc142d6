/** Helpers of the policy tests: a cluster, and short ways to create policies and bindings. */
import type { StatusError } from 'orchplane';
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from 'orchplane/kinds';
import { type TestCluster, type TestClusterOptions, testCluster } from 'orchplane/testing';
import { valueBody } from '../../../../src/protocol/body.js';

export interface RuleParts {
  readonly group?: string;
  readonly version?: string;
  readonly resource?: string;
  readonly operations?: readonly string[];
}

export function rule({ group = '', version = 'v1', resource = 'configmaps', operations = ['*'] }: RuleParts = {}) {
  return { apiGroups: [group], apiVersions: [version], operations: [...operations], resources: [resource] };
}

export function policyCluster(options: TestClusterOptions = {}): TestCluster {
  return testCluster({ dialect: 'kubernetes', ...options });
}

/** Creates a policy for ConfigMaps, or for the resources in `rules`. */
export async function definePolicy(
  cluster: TestCluster,
  name: string,
  { rules = [rule()], ...spec }: { readonly rules?: readonly object[]; readonly [field: string]: unknown },
): Promise<void> {
  const { matchConstraints = {}, ...rest } = spec as { readonly matchConstraints?: object };
  await cluster.api(ValidatingAdmissionPolicy).create({
    metadata: { name },
    spec: { matchConstraints: { resourceRules: rules, ...matchConstraints }, ...rest },
  } as never);
}

export async function bind(
  cluster: TestCluster,
  policyName: string,
  spec: object = {},
  name = `${policyName}-binding`,
) {
  await cluster.api(ValidatingAdmissionPolicyBinding).create({
    metadata: { name },
    spec: { policyName, validationActions: ['Deny'], ...spec },
  } as never);
}

/** Creates a policy with one validation and binds it. */
export async function demand(cluster: TestCluster, expression: string, more: object = {}): Promise<void> {
  await definePolicy(cluster, 'p', { validations: [{ expression }], ...more });
  await bind(cluster, 'p');
}

/** The message of a rejection without the prefix that policy `p` adds. */
export async function rejectionMessage(write: Promise<unknown>): Promise<string> {
  try {
    await write;
  } catch (error) {
    return (error as StatusError).message.replace(
      /^.*ValidatingAdmissionPolicy 'p'( with binding '[^']*')? denied request: /,
      '',
    );
  }
  return 'admitted';
}

/** Creates a ConfigMap; returns its audit annotations and warnings. */
export async function sentMap(cluster: TestCluster, name: string, data: object = {}) {
  const notes: Record<string, string> = {};
  const warnings: string[] = [];
  const result = await cluster.send({
    verb: 'create',
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    namespace: 'default',
    options: {},
    body: valueBody({ metadata: { name }, data }),
    audit: {
      annotate(key: string, value: string) {
        notes[key] ??= value;
      },
    },
  });
  if ('warnings' in result) warnings.push(...result.warnings);
  return { notes, warnings };
}
