/**
 * The APIServices of the cluster: the order of groups and versions in discovery, and which versions are aggregated.
 */
import { apiServiceName, orderApiServices } from '../../kinds/apiregistration/priorities.js';
import { type AggregatedApi, aggregatedApi } from '../../kinds/apiregistration/reach.js';
import type { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import {
  type AvailabilityView,
  availableOf,
  ENDPOINTS,
  FAILED_CHECK,
  SERVICES,
  unreachableCondition,
} from '../../kinds/apiregistration/v1/availability.js';
import { API_SERVICES } from '../../kinds/apiregistration/v1/reconciler.js';
import type { Endpoints } from '../../kinds/core/v1/endpoints.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { StorageReader } from '../../kinds/objects.js';
import type { GroupVersion } from '../../meta/gvk.js';

/** An API version that another server serves. */
export interface RemoteApi {
  readonly service: APIService;
  readonly api: AggregatedApi;
}

/** An index of the APIServices, refreshed when they change. */
export class ApiServiceIndex {
  readonly #reader: StorageReader;
  #seenChanges = -1;
  #services: readonly APIService[] = [];
  #remote: ReadonlyMap<string, RemoteApi> = new Map();

  constructor(inside: StorageReader) {
    this.#reader = inside;
  }

  /** The aggregated API of a version; undefined: this server serves the version itself, if it knows it. */
  remote(gv: GroupVersion): RemoteApi | undefined {
    this.#refresh();
    return this.#remote.size === 0 ? undefined : this.#remote.get(apiServiceName(gv));
  }

  /** All aggregated API versions. */
  remotes(): readonly RemoteApi[] {
    this.#refresh();
    return [...this.#remote.values()];
  }

  /** The APIServices by group, both in discovery order. Empty when there are none: the cluster may lack the kind. */
  ordered(): readonly (readonly APIService[])[] {
    this.#refresh();
    return orderApiServices(this.#services);
  }

  /**
   * Whether requests can be proxied. When no controller checks availability, an APIService counts as available unless
   * its Service or endpoints are missing.
   */
  isAvailable({ service }: RemoteApi): boolean {
    const condition = availableOf(service);
    if (condition?.status === 'True') return true;
    if (condition?.reason === FAILED_CHECK || service.spec.service === undefined) return false;
    return unreachableCondition(service.spec.service, this.#availabilityView()) === undefined;
  }

  #refresh(): void {
    const changes = this.#reader.lastChange(API_SERVICES);
    if (changes === this.#seenChanges) return;
    this.#seenChanges = changes;
    this.#services = this.#reader.objects.list(API_SERVICES) as unknown as readonly APIService[];
    const remote = new Map<string, RemoteApi>();
    for (const service of this.#services) {
      const api = aggregatedApi(service);
      if (api !== undefined) remote.set(api.name, { service, api });
    }
    this.#remote = remote;
  }

  #availabilityView(): AvailabilityView {
    const { objects } = this.#reader;
    return {
      service: (namespace, name) => objects.get({ ...SERVICES, namespace, name }) as unknown as Service | undefined,
      endpoints: (namespace, name) =>
        objects.get({ ...ENDPOINTS, namespace, name }) as unknown as Endpoints | undefined,
    };
  }
}
