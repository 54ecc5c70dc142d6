/**
 * Reconciles APIServices with the served versions, and sets the Available condition of those whose Service cannot be
 * reached. The reference server does both in background loops; this reconciler runs before the response. The controller
 * for APIServices checks whether a reachable Service responds; until then the condition stays.
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { StatusError } from '../../../meta/errors.js';
import type { GroupResource, GroupVersion } from '../../../meta/gvk.js';
import type { ApiObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
import { getOrInsertComputed } from '../../../util/once.js';
import type { Endpoints } from '../../core/v1/endpoints.js';
import type { Service } from '../../core/v1/service/service.js';
import type { ReconcilerHost, ServerReconciler } from '../../reconciler.js';
import type { ServedKind } from '../../served-kind.js';
import { REGISTRATION_GROUP } from '../priorities.js';
import type { APIService } from './api-service.js';
import {
  type AvailabilityView,
  availableOf,
  ENDPOINTS,
  LOCAL,
  SERVICES,
  unreachableCondition,
  withAvailable,
} from './availability.js';
import { type DesiredService, desiredService, managedLabel } from './initial.js';

/** The resource of APIServices. */
export const API_SERVICES: GroupResource = { group: REGISTRATION_GROUP, resource: 'apiservices' };
const DEFINITIONS: GroupResource = { group: serviceGroup('apiextensions'), resource: 'customresourcedefinitions' };

/** The reconciler of APIServices. */
export function apiServiceReconciler(server: ReconcilerHost): ServerReconciler {
  return new ApiServiceReconciler(server);
}

type StoredService = ApiObject & APIService;

class ApiServiceReconciler implements ServerReconciler {
  readonly #server: ReconcilerHost;
  #installed: readonly ServedKind[] | undefined;
  #definitionsSeen = -1;
  #servicesSeen = -1;
  #networkSeen = -1;
  #desired: ReadonlyMap<string, DesiredService> = new Map();
  /** Versions of built-in groups whose APIService was created once; users may change or delete it. */
  readonly #createdOnStart = new Set<string>();
  /** By `group/version`; undefined for versions without an APIService. */
  readonly #desiredByVersion = new Map<string, DesiredService | undefined>();
  readonly #matching = new WeakSet<APIService>();
  /** The APIServices with a Service, or with a condition that is not that of a local version. */
  #checked: readonly StoredService[] = [];

  constructor(server: ReconcilerHost) {
    this.#server = server;
  }

  reconcile(): void {
    const server = this.#server;
    const installed = server.installedKinds();
    const definitions = server.lastChange(DEFINITIONS);
    let haveVersionsChanged = false;
    if (installed !== this.#installed || definitions !== this.#definitionsSeen) {
      const isFirst = this.#installed === undefined;
      this.#installed = installed;
      this.#definitionsSeen = definitions;
      const before = this.#desired;
      this.#desired = this.#desiredServices(installed);
      haveVersionsChanged = isFirst || !hasSameKeys(before, this.#desired);
      // A new cluster has them as initial objects.
      if (isFirst) this.#markInitial();
    }
    if (haveVersionsChanged || server.lastChange(API_SERVICES) !== this.#servicesSeen) {
      // Writes of this reconciler trigger another reconcile, which does the rest.
      this.#servicesSeen = server.lastChange(API_SERVICES);
      const services = server.objects.list(API_SERVICES) as readonly StoredService[];
      try {
        this.#register(services);
      } catch (error) {
        // The next reconcile repeats the failed write.
        this.#servicesSeen = -1;
        throw error;
      }
      this.#checked = services.filter(
        (service) => service.spec.service !== undefined || availableOf(service)?.reason !== LOCAL.reason,
      );
      this.#networkSeen = -1;
      if (server.lastChange(API_SERVICES) !== this.#servicesSeen) return;
    }
    if (this.#checked.length > 0) this.#setAvailability();
  }

  /** The desired APIServices by name. */
  #desiredServices(installed: readonly ServedKind[]): ReadonlyMap<string, DesiredService> {
    const wanted = new Map<string, DesiredService>();
    const builtIn = installed.map(({ gvr }) => versionKey(gvr));
    for (const key of [...builtIn, ...this.#server.index(DEFINITIONS, servedVersions).keys()]) {
      const service = getOrInsertComputed(this.#desiredByVersion, key, () => {
        const [group = '', version = ''] = key.split('/');
        return desiredService({ group, version }, this.#server.dialect);
      });
      if (service !== undefined) wanted.set(service.name, service);
    }
    return wanted;
  }

  #markInitial(): void {
    for (const { name, managed } of this.#desired.values()) if (managed === 'onstart') this.#createdOnStart.add(name);
  }

  #register(services: readonly StoredService[]): void {
    const label = managedLabel(this.#server.dialect);
    const present = new Map(services.map((service) => [service.metadata.name, service]));
    // A cluster under construction has none yet; it gets them as initial objects.
    if (present.size === 0) return;
    for (const wanted of this.#desired.values()) {
      const service = present.get(wanted.name);
      if (wanted.managed === 'onstart') {
        if (service === undefined && !this.#createdOnStart.has(wanted.name)) this.#create(wanted, label);
        this.#createdOnStart.add(wanted.name);
      } else if (service === undefined) this.#create(wanted, label);
      else if (!this.#matching.has(service)) this.#restoreSpec(service, wanted, label);
    }
    for (const service of present.values()) {
      const { name, labels } = service.metadata;
      if (labels?.[label] === 'true' && !this.#desired.has(name)) this.#server.remove(service);
    }
  }

  #restoreSpec(service: StoredService, { spec }: DesiredService, label: string): void {
    // The desired spec of a name never changes, so a matching object needs no further comparison.
    if (service.metadata.labels?.[label] !== 'true' || deepEqual(service.spec, spec)) this.#matching.add(service);
    else {
      this.#server.update(service, (draft) => {
        draft['spec'] = spec;
      });
    }
  }

  #create({ name, managed, spec }: DesiredService, label: string): void {
    try {
      this.#server.create({ metadata: { name, labels: { [label]: managed } }, spec });
    } catch (error) {
      // A user-defined kind may have a group or version that is invalid in an APIService. It is served anyway.
      if (!StatusError.is(error, 'Invalid')) throw error;
    }
  }

  /** Sets the Available condition of APIServices with a Service, and of those that became local. */
  #setAvailability(): void {
    const server = this.#server;
    const network = server.lastChange(SERVICES) + server.lastChange(ENDPOINTS);
    if (network === this.#networkSeen) return;
    this.#networkSeen = network;
    for (const service of this.#checked) {
      const { service: reference } = service.spec;
      const found = reference === undefined ? LOCAL : unreachableCondition(reference, this.#view());
      const conditions = found === undefined ? undefined : withAvailable(service, found, server.now());
      if (conditions === undefined) continue;
      server.writeStatus(service, (draft) => {
        draft['status'] = { conditions };
      });
    }
  }

  #view(): AvailabilityView {
    const { objects } = this.#server;
    return {
      service: (namespace, name) => objects.get({ ...SERVICES, namespace, name }) as (ApiObject & Service) | undefined,
      endpoints: (namespace, name) =>
        objects.get({ ...ENDPOINTS, namespace, name }) as (ApiObject & Endpoints) | undefined,
    };
  }
}

/** The fields of a CustomResourceDefinition that determine the served versions. */
interface DefinedVersions {
  readonly metadata: ApiObject['metadata'];
  readonly spec: {
    readonly group: string;
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** The versions that a CustomResourceDefinition serves: the keys of an index. */
function servedVersions(definition: ApiObject): readonly string[] {
  const { group, versions } = (definition as ApiObject & DefinedVersions).spec;
  return versions.flatMap(({ name, served }) => (served ? [versionKey({ group, version: name })] : []));
}

function versionKey({ group, version }: GroupVersion): string {
  return `${group}/${version}`;
}

function hasSameKeys(left: ReadonlyMap<string, unknown>, right: ReadonlyMap<string, unknown>): boolean {
  return left.size === right.size && [...left.keys()].every((key) => right.has(key));
}
