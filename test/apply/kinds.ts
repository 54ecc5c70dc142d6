/**
 * The kinds of the tables: built-in kinds by their paths, and user-defined kinds for features that built-in kinds
 * lack.
 */
import { defineKind, type Kind } from 'orchplane';
import * as z from 'zod';
import { status } from '../../src/kinds/status-subresource.js';
import { atomic, mapList, setList } from '../../src/schema/hints.js';

/** A kind with one field of each type that apply treats differently. */
export const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: {
    spec: z
      .object({
        size: z.number().int().default(3),
        ports: mapList(
          z.object({ port: z.number().int(), protocol: z.string().default('TCP'), name: z.string().optional() }),
          ['port', 'protocol'],
        ).optional(),
        tags: setList(z.string()).optional(),
        numbers: setList(z.number().int()).optional(),
        args: z.array(z.string()).optional(),
        limits: z.record(z.string(), z.object({ min: z.number().optional(), max: z.number().optional() })).optional(),
        place: atomic(z.object({ zone: z.string().optional(), rack: z.string().optional() })).optional(),
      })
      .optional(),
    status: z.object({ phase: z.string().optional(), ready: z.number().int().optional() }).optional(),
  },
  subresources: { status },
});

/** A kind whose fields have no declared content. */
export const Loose = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Loose',
  scope: 'Namespaced',
  body: {
    spec: z
      .looseObject({ known: z.string().optional(), inner: z.object({ a: z.string().optional() }).optional() })
      .optional(),
    anything: z.unknown().optional(),
  },
});

export const OWN_KINDS: readonly Kind[] = [Widget, Loose];

/** The paths of a kind by version; the first version is the default of a case. */
const RESOURCES: Readonly<Record<string, readonly (readonly [apiVersion: string, resource: string])[]>> = {
  ConfigMap: [['v1', 'configmaps']],
  Secret: [['v1', 'secrets']],
  Service: [['v1', 'services']],
  ServiceAccount: [['v1', 'serviceaccounts']],
  Endpoints: [['v1', 'endpoints']],
  Deployment: [['apps/v1', 'deployments']],
  Role: [['rbac.authorization.k8s.io/v1', 'roles']],
  NetworkPolicy: [['networking.k8s.io/v1', 'networkpolicies']],
  HorizontalPodAutoscaler: [
    ['autoscaling/v2', 'horizontalpodautoscalers'],
    ['autoscaling/v1', 'horizontalpodautoscalers'],
  ],
  Event: [
    ['v1', 'events'],
    ['events.k8s.io/v1', 'events'],
  ],
  Widget: [['example.com/v1', 'widgets']],
  Loose: [['example.com/v1', 'looses']],
};

export function firstVersionOf(kind: string): string {
  return resourceOf(kind)[0];
}

/** The path of the collection of a kind in a namespace. */
export function collectionPath(kind: string, apiVersion: string | undefined, namespace: string): string {
  const [version, resource] = resourceOf(kind, apiVersion);
  const root = version.includes('/') ? '/apis' : '/api';
  return `${root}/${version}/namespaces/${namespace}/${resource}`;
}

function resourceOf(kind: string, apiVersion?: string): readonly [apiVersion: string, resource: string] {
  const versions = RESOURCES[kind] ?? [];
  const found = apiVersion === undefined ? versions[0] : versions.find(([version]) => version === apiVersion);
  if (found === undefined) throw new Error(`the tables know no ${kind} ${apiVersion ?? ''}`);
  return found;
}
