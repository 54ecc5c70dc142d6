/**
 * Usage and limits of random objects, compared with recordings of the reference server's quota evaluators and
 * LimitRanger. Go maps have no order, so messages about several limits are compared as sets.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { limitRanger } from '../../../../src/admission/plugins/limit-ranger.js';
import { readAmounts } from '../../../../src/admission/plugins/pod-amounts.js';
import { toResourceList } from '../../../../src/admission/quota/arithmetic.js';
import type { EvaluatorContext } from '../../../../src/admission/quota/evaluator.js';
import { evaluatorFor } from '../../../../src/admission/quota/evaluators.js';
import { type Charge, chargesFor } from '../../../../src/admission/quota/resource-quota.js';
import type { AdmissionRequest, ClusterView } from '../../../../src/admission/types.js';
import { featureGates } from '../../../../src/kinds/feature-gates.js';
import type { ResourceList } from '../../../../src/kinds/shared/resources.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { StatusError } from '../../../../src/meta/errors.js';
import type { ApiObject } from '../../../../src/meta/object.js';

/** Defaults of the case generator for fields that a case omits. */
const GATES = { VolumeAttributesClass: false, DynamicResourceAllocation: true };
const NOW = Date.UTC(2026, 0, 1);

function casesIn<Case, ReviewResult>(file: string): readonly (readonly [Case, ReviewResult])[] {
  const text = readFileSync(new URL(file, import.meta.url), 'utf8').trim();
  return text.split('\n').map((line) => JSON.parse(line) as [Case, ReviewResult]);
}

interface Subject {
  readonly resource: string;
  readonly group?: string;
  readonly gates: Record<string, boolean>;
  readonly object: ApiObject;
}

function contextOf({ gates }: Subject): EvaluatorContext {
  const features = featureGates({ ...GATES, ...gates });
  return { dialect: kubernetesDialect, features, clock: { now: () => NOW } };
}

/** The fields of a request that the plugins read. */
function requestFor({ resource, group = '' }: Subject, more: object): AdmissionRequest {
  const served = { kind: { group, names: { plural: resource } }, groupResource: { group, resource } };
  return { served, name: 'x', subresource: '', operation: 'CREATE', ...more } as unknown as AdmissionRequest;
}

/** The message of the thrown error. */
function errorOf(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (StatusError.is(error)) return error.message;
    throw error;
  }
}

describe('quota evaluators', () => {
  interface QuotaCase extends Subject {
    readonly operation: 'CREATE' | 'UPDATE';
    readonly subresource: string;
    readonly oldObject?: ApiObject;
    readonly quotas: readonly ApiObject[];
  }
  interface QuotaResult {
    readonly handles?: boolean;
    readonly usage: ResourceList;
    /** The usage of each quota after the request, where it changes. */
    readonly used?: readonly (ResourceList | null)[];
    readonly error?: string;
  }
  const cases = casesIn<QuotaCase, QuotaResult>('quota-results.ndjson');

  const titled = cases.map(([given, result], index) => {
    const { resource, operation, subresource } = given;
    const outcome = result.error ?? (result.handles ? 'is within the quota' : 'is ignored');
    return [`${index}: ${operation} ${resource} ${subresource}: ${outcome}`, given, result] as const;
  });

  test.each(titled)('agrees with the reference server: %s', (_title, given, result) => {
    const context = contextOf(given);
    const evaluator = evaluatorFor({ group: given.group ?? '', resource: given.resource }, context);
    const request = requestFor(given, given);
    expect(evaluator.handles(request, context)).toBe(result.handles ?? false);
    const usage = [...evaluator.usageOf(given.object, context)].map(([name, amount]) => [name, amount.toString()]);
    expect(Object.fromEntries(usage)).toEqual(result.usage);
    if (!result.handles) return;
    let charges: readonly Charge[] = [];
    const bound = { evaluator, context };
    const error = errorOf(() => {
      charges = chargesFor(request, given.object, { quotas: given.quotas, bound });
    });
    expect(error).toBe(result.error);
    if (result.error !== undefined) return;
    const used = given.quotas.map((quota) => {
      const charge = charges.find((each) => each.quota === quota);
      const { status } = quota as unknown as { status: { used?: ResourceList } };
      return charge === undefined ? null : toResourceList(new Map([...readAmounts(status.used), ...charge.used]));
    });
    const expected = (result.used ?? []).map((list) => (list === null ? null : toResourceList(readAmounts(list))));
    expect(used).toEqual(expected);
  });
});

describe('LimitRanger', () => {
  interface Resources {
    readonly requests?: ResourceList;
    readonly limits?: ResourceList;
  }
  interface LimitsCase extends Subject {
    readonly ranges: readonly ApiObject[];
  }
  interface LimitsResult {
    readonly errors?: readonly string[];
    /** The pod with its defaults. */
    readonly object?: {
      readonly annotations?: Record<string, string>;
      readonly containers: readonly Resources[];
      readonly initContainers?: readonly Resources[];
    };
  }
  const cases = casesIn<LimitsCase, LimitsResult>('limits-results.ndjson');

  const titled = cases.map(([given, result], index) => {
    const count = result.errors?.length ?? 0;
    return [`${index}: ${given.resource}, ${count} problems`, given, result] as const;
  });

  /** Canonical quantities without empty values. */
  const printed = (resources: Resources | undefined) =>
    (['requests', 'limits'] as const).map((field) => toResourceList(readAmounts(resources?.[field])));

  test.each(titled)('agrees with the reference server: %s', (_title, given, result) => {
    const object = structuredClone(given.object) as ApiObject & {
      spec: { containers?: { resources?: Resources }[]; initContainers?: { resources?: Resources }[] };
    };
    const view = { ...contextOf(given), list: () => given.ranges } as unknown as ClusterView;
    const request = requestFor(given, { object });
    limitRanger.mutate?.(request as never, view);
    const error = errorOf(() => limitRanger.validate?.(request, view));
    const why = error?.replace(/^.*? is forbidden: /, '');
    const texts = why?.startsWith('[') ? why.slice(1, -1).split(/, (?=minimum|maximum|\S+ max limit)/) : [why];
    expect(why === undefined ? undefined : [...texts].sort()).toEqual(result.errors);
    if (result.object === undefined) return;
    expect(object.metadata.annotations).toEqual(result.object.annotations);
    for (const field of ['containers', 'initContainers'] as const) {
      const filled = (object.spec[field] ?? []).map(({ resources }) => printed(resources));
      expect(filled).toEqual((result.object[field] ?? []).map(printed));
    }
  });
});
