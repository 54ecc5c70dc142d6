/**
 * The ServiceCIDR kind: the ranges of cluster IPs for Services.
 */

import { DEFAULT_SERVICE, SERVICE_NAME } from '../../../meta/dialect.js';
import { type FieldError, invalid, keyPath, required } from '../../../meta/field-error.js';
import { canonicalCidrProblems, parseCidrSloppy } from '../../../meta/ip.js';
import { asSent } from '../../../schema/empty-values.js';
import { stringSlice, verbatim } from '../../../text/go/go-text.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type ServiceCIDRKind, type ServiceCIDRObject, serviceCIDRBase } from '../../generated/networking-v1.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { conditionOwnedBy, ownedByServer } from '../../shared/initial-managers.js';
import { statusSubresource } from '../../shared/strategies.js';

export interface ServiceCIDR extends ServiceCIDRObject {}

/** The field manager of the reference server's ServiceCIDR controller. */
const CONTROLLER = `${DEFAULT_SERVICE}-service-cidr-controller`;

export const ServiceCIDR: ServiceCIDRKind<ServiceCIDR> = defineBuiltIn({
  ...serviceCIDRBase,
  lifecycle: { introducedIn: '1.33' },
  strategy: {
    create: { validate: (object) => rangeProblems(object.spec.cidrs) },
    update: { validate: (next, live) => updateProblems(asSent(next.spec, 'cidrs'), live.spec.cidrs ?? []) },
  },
  subresources: {
    // All fields can be owned: the reference server registers its reset fields for a version that does not exist.
    status: statusSubresource({ metadata: 'kept', ownableFields: { except: [] } }),
  },
  initial: (_dialect, now, _served, { serviceCidrs }) => [
    {
      metadata: {
        name: DEFAULT_SERVICE,
        managers: [
          conditionOwnedBy(CONTROLLER, 'Ready', ['lastTransitionTime', 'message', 'status', 'type']),
          ownedByServer(['spec.cidrs']),
        ],
      },
      spec: { cidrs: serviceCidrs },
      status: {
        conditions: [
          {
            type: 'Ready',
            status: 'True',
            lastTransitionTime: now,
            reason: '',
            message: `${SERVICE_NAME} default Service CIDR is ready`,
          },
        ],
      },
    },
  ],
  referenceStorageVersion: 'v1beta1',
  columns: [
    nameColumn,
    textColumn('CIDRs', 'The address ranges of services.', (object) => (object.spec.cidrs ?? []).join(',')),
    ageColumn,
  ],
});

const PATH = 'spec.cidrs';

function rangeProblems(cidrs: readonly string[] = []): FieldError[] {
  if (cidrs.length === 0) return [required(PATH, 'at least one CIDR required')];
  if (cidrs.length > 2) {
    const spec = verbatim(`networking.ServiceCIDRSpec{CIDRs:${stringSlice(cidrs).verbatim}}`);
    return [invalid(PATH, spec, 'may only hold up to 2 values')];
  }
  const found = cidrs.flatMap((cidr, index) =>
    canonicalCidrProblems(cidr).map((detail) => invalid(keyPath(PATH, index), cidr, detail)),
  );
  const [first, second] = cidrs.map((cidr) => parseCidrSloppy(cidr)?.network.family);
  if (cidrs.length === 2 && first !== undefined && first === second) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    found.push(invalid(PATH, cidrs, detail));
  }
  return found;
}

/** Ranges are immutable, but a second one may be added to a single one. */
function updateProblems(next: readonly string[] | undefined, live: readonly string[]): FieldError[] {
  const now = next ?? [];
  const changed = live.flatMap((cidr, index) =>
    now[index] === cidr ? [] : [invalid(keyPath(PATH, index), now[index], 'field is immutable')],
  );
  if (now.length === live.length) return changed;
  if (live.length === 1 && now.length === 2) return [...changed, ...rangeProblems(now)];
  return [invalid(PATH, stringSlice(next), 'field is immutable')];
}
