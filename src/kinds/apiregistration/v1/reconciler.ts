/**
 * Keeps APIServices in line with what is served, and notes on those that name a Service why it cannot be reached. The
 * reference server does both in loops of its own; here they are done before the writer is answered. Whether a Service
 * that could be reached does answer is found out by the controller of APIServices: until then the condition stays.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { StatusError } from '../../../meta/errors.js';
import type { GroupResource, GroupVersion } from '../../../meta/gvk.js';
import type { ApiObject } from '../../../meta/object.js';
import { deepEqual } from '../../../util/json.js';
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
  whyUnreachable,
  withAvailable,
} from './availability.js';
import { managedLabel, type WantedService, wantedService } from './initial.js';

export const API_SERVICES: GroupResource = { group: REGISTRATION_GROUP, resource: 'apiservices' };
const DEFINITIONS: GroupResource = { group: serviceGroup('apiextensions'), resource: 'customresourcedefinitions' };

export function attendApiServices(server: ReconcilerHost): ServerReconciler {
  return new ApiServiceAttendant(server);
}

type StoredService = ApiObject & APIService;

class ApiServiceAttendant implements ServerReconciler {
  readonly #server: ReconcilerHost;
  #kinds: readonly ServedKind[] | undefined;
  #definitionsSeen = -1;
  #servicesSeen = -1;
  #networkSeen = -1;
  #wanted: ReadonlyMap<string, WantedService> = new Map();
  /** Versions of built-in groups that have had their APIService; what became of it since is up to users. */
  readonly #begun = new Set<string>();
  readonly #wantedBy = new WeakMap<object, readonly WantedService[]>();
  readonly #right = new WeakSet<APIService>();
  /** All that do not answer for themselves, or have not always. */
  #judged: readonly StoredService[] = [];

  constructor(server: ReconcilerHost) {
    this.#server = server;
  }

  reconcile(): void {
    const server = this.#server;
    const kinds = server.kinds();
    const definitions = server.writeCount(DEFINITIONS);
    const isServedAnew = kinds !== this.#kinds || definitions !== this.#definitionsSeen;
    if (isServedAnew) {
      const isFirst = this.#kinds === undefined;
      this.#kinds = kinds;
      this.#definitionsSeen = definitions;
      this.#wanted = this.#want(kinds);
      // Those of a new cluster are there without anybody's doing.
      if (isFirst) this.#begin();
    }
    if (isServedAnew || server.writeCount(API_SERVICES) !== this.#servicesSeen) {
      // What is written here is another reason to come back, which is when the rest is looked at.
      this.#servicesSeen = server.writeCount(API_SERVICES);
      const services = server.objects.list(API_SERVICES) as readonly StoredService[];
      try {
        this.#register(services);
      } catch (error) {
        // What could not be written is to be done the next time.
        this.#servicesSeen = -1;
        throw error;
      }
      this.#judged = services.filter(
        (service) => service.spec.service !== undefined || availableOf(service)?.reason !== LOCAL.reason,
      );
      this.#networkSeen = -1;
      if (server.writeCount(API_SERVICES) !== this.#servicesSeen) return;
    }
    if (this.#judged.length > 0) this.#judge();
  }

  /** By name. */
  #want(kinds: readonly ServedKind[]): ReadonlyMap<string, WantedService> {
    const wanted = new Map<string, WantedService>();
    for (const kind of kinds) {
      for (const service of this.#wantedFor(kind, () => [kind.gvr])) wanted.set(service.name, service);
    }
    const definitions = this.#server.objects.list(DEFINITIONS) as readonly (ApiObject & DefinedVersions)[];
    for (const definition of definitions) {
      for (const service of this.#wantedFor(definition, () => versionsOf(definition)))
        wanted.set(service.name, service);
    }
    return wanted;
  }

  /** Asked again whenever any definition changes, of which there may be thousands: each is worked out once. */
  #wantedFor(source: object, versions: () => readonly GroupVersion[]): readonly WantedService[] {
    let wanted = this.#wantedBy.get(source);
    if (wanted === undefined) {
      wanted = versions().flatMap((gv) => wantedService(gv, this.#server.dialect) ?? []);
      this.#wantedBy.set(source, wanted);
    }
    return wanted;
  }

  #begin(): void {
    for (const { name, managed } of this.#wanted.values()) if (managed === 'onstart') this.#begun.add(name);
  }

  #register(services: readonly StoredService[]): void {
    const label = managedLabel(this.#server.dialect);
    const present = new Map(services.map((service) => [service.metadata.name, service]));
    // A cluster that is still being made has none; it will get them all at once.
    if (present.size === 0) return;
    for (const wanted of this.#wanted.values()) {
      const service = present.get(wanted.name);
      if (wanted.managed === 'onstart') {
        if (service === undefined && !this.#begun.has(wanted.name)) this.#create(wanted, label);
        this.#begun.add(wanted.name);
      } else if (service === undefined) this.#create(wanted, label);
      else if (!this.#right.has(service)) this.#putRight(service, wanted, label);
    }
    for (const service of present.values()) {
      const { name, labels } = service.metadata;
      if (labels?.[label] === 'true' && !this.#wanted.has(name)) this.#server.remove(service);
    }
  }

  #putRight(service: StoredService, { spec }: WantedService, label: string): void {
    // What a version of some name wants is always the same, so that an object that has it is done with.
    if (service.metadata.labels?.[label] !== 'true' || deepEqual(service.spec, spec)) this.#right.add(service);
    else {
      this.#server.update(service, (draft) => {
        draft['spec'] = spec;
      });
    }
  }

  #create({ name, managed, spec }: WantedService, label: string): void {
    try {
      this.#server.create({ metadata: { name, labels: { [label]: managed } }, spec });
    } catch (error) {
      // A kind of the user's own may have a group or a version that no APIService can name. It is served all the same.
      if (!StatusError.is(error, 'Invalid')) throw error;
    }
  }

  /** Notes what speaks against those that name a Service, and that nothing speaks against those that no longer do. */
  #judge(): void {
    const server = this.#server;
    const network = server.writeCount(SERVICES) + server.writeCount(ENDPOINTS);
    if (network === this.#networkSeen) return;
    this.#networkSeen = network;
    for (const service of this.#judged) {
      const { service: reference } = service.spec;
      const found = reference === undefined ? LOCAL : whyUnreachable(reference, this.#view());
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

/** The part of a CustomResourceDefinition that says which versions are served. */
interface DefinedVersions {
  readonly metadata: ApiObject['metadata'];
  readonly spec: {
    readonly group: string;
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

function versionsOf({ spec }: DefinedVersions): GroupVersion[] {
  return spec.versions.flatMap(({ name, served }) => (served ? [{ group: spec.group, version: name }] : []));
}
