/**
 * Which versions the cluster has, by its APIServices: where each stands in discovery, and who answers for it.
 */
import { orderApiServices } from '../../kinds/apiregistration/order.js';
import { apiServiceName } from '../../kinds/apiregistration/priorities.js';
import { type AggregatedApi, aggregatedApi } from '../../kinds/apiregistration/reach.js';
import type { APIService } from '../../kinds/apiregistration/v1/api-service.js';
import {
  type AvailabilityView,
  availableOf,
  ENDPOINTS,
  FAILED_CHECK,
  SERVICES,
  whyUnreachable,
} from '../../kinds/apiregistration/v1/availability.js';
import { API_SERVICES } from '../../kinds/apiregistration/v1/reconciler.js';
import type { Endpoints } from '../../kinds/core/v1/endpoints.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { InsideReader } from '../../kinds/objects.js';
import type { GroupVersion } from '../../meta/gvk.js';

/** A version for which somebody else answers. */
export interface RemoteApi {
  readonly service: APIService;
  readonly api: AggregatedApi;
}

export class Apis {
  readonly #inside: InsideReader;
  #seen = -1;
  #services: readonly APIService[] = [];
  #remote: ReadonlyMap<string, RemoteApi> = new Map();

  constructor(inside: InsideReader) {
    this.#inside = inside;
  }

  /** Undefined: this server answers for the version itself, if it knows it. */
  remote(gv: GroupVersion): RemoteApi | undefined {
    this.#look();
    return this.#remote.size === 0 ? undefined : this.#remote.get(apiServiceName(gv));
  }

  /** All for which somebody else answers. */
  remotes(): readonly RemoteApi[] {
    this.#look();
    return [...this.#remote.values()];
  }

  /** By group, both in the order of discovery. Empty where there are no APIServices: the cluster may lack the kind. */
  ordered(): readonly (readonly APIService[])[] {
    this.#look();
    return orderApiServices(this.#services);
  }

  /**
   * Whether requests can be passed on. Where nobody has tried to reach it, because no controller runs that does, it counts
   * that nothing speaks against it.
   */
  isAvailable({ service }: RemoteApi): boolean {
    const condition = availableOf(service);
    if (condition?.status === 'True') return true;
    if (condition?.reason === FAILED_CHECK || service.spec.service === undefined) return false;
    return whyUnreachable(service.spec.service, this.#view()) === undefined;
  }

  #look(): void {
    const changes = this.#inside.changes(API_SERVICES);
    if (changes === this.#seen) return;
    this.#seen = changes;
    this.#services = this.#inside.objects.list(API_SERVICES) as unknown as readonly APIService[];
    const remote = new Map<string, RemoteApi>();
    for (const service of this.#services) {
      const api = aggregatedApi(service);
      if (api !== undefined) remote.set(api.name, { service, api });
    }
    this.#remote = remote;
  }

  #view(): AvailabilityView {
    const { objects } = this.#inside;
    return {
      service: (namespace, name) => objects.get({ ...SERVICES, namespace, name }) as unknown as Service | undefined,
      endpoints: (namespace, name) =>
        objects.get({ ...ENDPOINTS, namespace, name }) as unknown as Endpoints | undefined,
    };
  }
}
