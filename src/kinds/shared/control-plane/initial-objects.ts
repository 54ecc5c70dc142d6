/**
 * The Service through which programs in the cluster reach the API server, with its address and endpoints. A new cluster
 * has them.
 */
import { type FieldSet, LEAF } from '../../../merge/apply/field-set.js';
import { fieldElement, keyElement } from '../../../merge/apply/path-element.js';
import { DEFAULT_SERVICE, type Dialect, SERVER_MANAGER, serviceGroup } from '../../../meta/dialect.js';
import type { GroupResource } from '../../../meta/gvk.js';
import type { Labels } from '../../../meta/labels.js';
import type { EndpointSubset, ServiceSpec } from '../../generated/core-v1.js';
import type { InitialObject, Kind } from '../../kind.js';
import type { ObjectAddress } from '../../objects.js';
import { type ClusterSettings, DEFAULT_SETTINGS } from '../cluster-settings.js';
import { IN_PROCESS, sliceOf, subsetsOf } from './endpoints.js';

/** The name and namespace of the Service, its Endpoints and its EndpointSlice. */
export const NAMED = { name: DEFAULT_SERVICE, namespace: 'default' } as const;

export const SERVICES: GroupResource = { group: '', resource: 'services' };
export const ENDPOINTS: GroupResource = { group: '', resource: 'endpoints' };
export const ENDPOINT_SLICES: GroupResource = { group: serviceGroup('discovery'), resource: 'endpointslices' };

/** The address of one of these objects. */
export function addressIn(resource: GroupResource): ObjectAddress {
  return { ...resource, ...NAMED };
}

export const SERVICE_LABELS: Labels = { component: 'apiserver', provider: DEFAULT_SERVICE };

/** What the server writes besides the cluster IP; the rest of the spec are defaults. */
export const SERVICE_SPEC = {
  ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: IN_PROCESS.port }],
  type: 'ClusterIP',
  sessionAffinity: 'None',
  ipFamilyPolicy: 'SingleStack',
} as const;

const serviceOf = ({ controlPlaneIP, serviceFamilies }: ClusterSettings): InitialObject => ({
  metadata: {
    ...NAMED,
    labels: SERVICE_LABELS,
    managers: [
      {
        manager: SERVER_MANAGER,
        fields: {
          'f:metadata': ownedLabels(SERVICE_LABELS),
          'f:spec': {
            'f:clusterIP': LEAF,
            'f:internalTrafficPolicy': LEAF,
            'f:ipFamilyPolicy': LEAF,
            'f:ports': {
              '.': LEAF,
              [keyElement([
                ['port', 443],
                ['protocol', 'TCP'],
              ])]: { '.': LEAF, 'f:name': LEAF, 'f:port': LEAF, 'f:protocol': LEAF, 'f:targetPort': LEAF },
            },
            'f:sessionAffinity': LEAF,
            'f:type': LEAF,
          },
        },
      },
    ],
  },
  spec: {
    ports: [...SERVICE_SPEC.ports],
    clusterIP: controlPlaneIP,
    clusterIPs: [controlPlaneIP],
    type: SERVICE_SPEC.type,
    sessionAffinity: SERVICE_SPEC.sessionAffinity,
    ipFamilies: serviceFamilies.slice(0, 1),
    ipFamilyPolicy: SERVICE_SPEC.ipFamilyPolicy,
    internalTrafficPolicy: 'Cluster',
  } satisfies ServiceSpec,
  status: { loadBalancer: {} },
});

export const initialServices = byCluster((_dialect, settings) => serviceOf(settings));

export const initialEndpoints = byDialect((dialect) => {
  const labels = endpointsLabels(dialect);
  return {
    metadata: {
      ...NAMED,
      labels,
      managers: [{ manager: SERVER_MANAGER, fields: { 'f:metadata': ownedLabels(labels), 'f:subsets': LEAF } }],
    },
    subsets: subsetsOf([IN_PROCESS]) satisfies readonly EndpointSubset[],
  };
});

export const initialEndpointSlices = byDialect((dialect) => {
  const labels = sliceLabels(dialect);
  return {
    metadata: {
      ...NAMED,
      generation: 1,
      labels,
      managers: [
        {
          manager: SERVER_MANAGER,
          fields: {
            'f:addressType': LEAF,
            'f:endpoints': LEAF,
            'f:metadata': ownedLabels(labels),
            'f:ports': LEAF,
          },
        },
      ],
    },
    ...sliceOf(subsetsOf([IN_PROCESS])),
  };
});

export const initialAddresses = byCluster((dialect, { controlPlaneIP, serviceFamilies }) => {
  const labels = addressLabels(serviceFamilies[0] ?? '', dialect);
  const parent = { '.': LEAF, 'f:name': LEAF, 'f:namespace': LEAF, 'f:resource': LEAF };
  const fields = { 'f:metadata': ownedLabels(labels), 'f:spec': { 'f:parentRef': parent } };
  return {
    metadata: { name: controlPlaneIP, labels, managers: [{ manager: SERVER_MANAGER, fields }] },
    spec: { parentRef: { resource: SERVICES.resource, namespace: NAMED.namespace, name: NAMED.name } },
  };
});

/** Keeps the mirroring controller away: the server writes the EndpointSlice itself. */
export function endpointsLabels(dialect: Dialect): Labels {
  return { [dialect.subkey('endpointslice', 'skip-mirror')]: 'true' };
}

export function sliceLabels(dialect: Dialect): Labels {
  return { [dialect.key('service-name')]: DEFAULT_SERVICE };
}

/** The labels of an IPAddress that is allocated to a Service. */
export function addressLabels(family: string, dialect: Dialect): Labels {
  return {
    [dialect.subkey('ipaddress', 'ip-family')]: family,
    [dialect.subkey('ipaddress', 'managed-by')]: dialect.group(serviceGroup('ipallocator')),
  };
}

function ownedLabels(labels: Labels): FieldSet {
  const owned: Record<string, FieldSet> = { '.': LEAF };
  for (const key of Object.keys(labels)) owned[fieldElement(key)] = LEAF;
  return { 'f:labels': owned };
}

/** One object for each dialect, so that clusters with the default settings can share it. */
function byCluster(make: (dialect: Dialect, settings: ClusterSettings) => InitialObject): NonNullable<Kind['initial']> {
  const shared = byDialect((dialect) => make(dialect, DEFAULT_SETTINGS));
  return (dialect, _now, _served, settings) =>
    settings.serviceCidrs === DEFAULT_SETTINGS.serviceCidrs ? shared(dialect) : [make(dialect, settings)];
}

/** One object for each dialect, so that clusters can share it. */
function byDialect(make: (dialect: Dialect) => InitialObject): (dialect: Dialect) => readonly InitialObject[] {
  const made = new Map<Dialect, readonly InitialObject[]>();
  return (dialect) => {
    const before = made.get(dialect);
    if (before !== undefined) return before;
    const objects = [make(dialect)];
    made.set(dialect, objects);
    return objects;
  };
}
