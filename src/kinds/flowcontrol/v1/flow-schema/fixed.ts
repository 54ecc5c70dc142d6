/**
 * Rejects changes of the mandatory FlowSchemas' specs, with the spec printed as Go's %#v.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { invalid } from '../../../../meta/field-error.js';
import type { Verbatim } from '../../../../text/go/go-text.js';
import { quote, stringSlice, verbatim } from '../../../../text/go/go-text.js';
import { deepEqual } from '../../../../util/json.js';
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  ResourcePolicyRule,
  Subject,
} from '../../../generated/flowcontrol-v1.js';
import { pointerDump } from '../pointer-dump.js';
import { mandatoryFlow } from './bootstrap.js';

/** Requires the mandatory spec for a mandatory name. */
export function fixedSpecProblems(path: string, spec: FlowSchemaSpec, name: string): FieldError[] {
  const fixed = mandatoryFlow(name);
  if (fixed === undefined || deepEqual(spec, fixed)) return [];
  return [invalid(path, specDump(spec), `spec of '${name}' must equal the fixed value`)];
}

function specDump(spec: FlowSchemaSpec): Verbatim {
  const level = `flowcontrol.PriorityLevelConfigurationReference{Name:${quote(spec.priorityLevelConfiguration.name)}}`;
  const method = pointerDump('FlowDistinguisherMethod', spec.distinguisherMethod);
  const rules = listDump('PolicyRulesWithSubjects', spec.rules, (rule) =>
    [
      `Subjects:${listDump('Subject', rule.subjects, subjectDump)}`,
      `ResourceRules:${listDump('ResourcePolicyRule', rule.resourceRules, resourceRuleDump)}`,
      `NonResourceRules:${listDump('NonResourcePolicyRule', rule.nonResourceRules, nonResourceRuleDump)}`,
    ].join(', '),
  );
  const precedence = `MatchingPrecedence:${spec.matchingPrecedence}`;
  return verbatim(
    `flowcontrol.FlowSchemaSpec{PriorityLevelConfiguration:${level}, ${precedence}, DistinguisherMethod:${method}, Rules:${rules}}`,
  );
}

function listDump<Item>(name: string, items: readonly Item[] | null | undefined, dump: (item: Item) => string): string {
  if (items === null || items === undefined) return `[]flowcontrol.${name}(nil)`;
  return `[]flowcontrol.${name}{${items.map((item) => `flowcontrol.${name}{${dump(item)}}`).join(', ')}}`;
}

function subjectDump({ kind, user, group, serviceAccount }: Subject): string {
  return [
    `Kind:${quote(kind)}`,
    `User:${pointerDump('UserSubject', user)}`,
    `Group:${pointerDump('GroupSubject', group)}`,
    `ServiceAccount:${pointerDump('ServiceAccountSubject', serviceAccount)}`,
  ].join(', ');
}

function resourceRuleDump({ verbs, apiGroups, resources, clusterScope, namespaces }: ResourcePolicyRule): string {
  return [
    `Verbs:${stringsDump(verbs)}`,
    `APIGroups:${stringsDump(apiGroups)}`,
    `Resources:${stringsDump(resources)}`,
    `ClusterScope:${clusterScope ?? false}`,
    `Namespaces:${stringsDump(namespaces)}`,
  ].join(', ');
}

function nonResourceRuleDump({ verbs, nonResourceURLs }: NonResourcePolicyRule): string {
  return `Verbs:${stringsDump(verbs)}, NonResourceURLs:${stringsDump(nonResourceURLs)}`;
}

function stringsDump(items: readonly string[] | null): string {
  return stringSlice(items ?? undefined).verbatim;
}
