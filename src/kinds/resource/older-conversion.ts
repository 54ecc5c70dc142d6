/**
 * Converts objects of the resource group between the older versions and v1beta2, the storage version. Conversions
 * replace values and do not change them, because parts of a draft may be shared with the live object.
 */

import { orchDialect } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copySentEmpty, forgetSentEmpty, wasSentEmpty } from '../../schema/empty-values.js';
import type {
  Device as DeviceV1alpha3,
  ResourceSliceSpec as ResourceSliceSpecV1alpha3,
} from '../generated/resource-v1alpha3.js';
import type {
  DeviceRequest as DeviceRequestV1beta1,
  Device as DeviceV1beta1,
  ResourceClaimSpec as ResourceClaimSpecV1beta1,
  ResourceClaimTemplateSpec as ResourceClaimTemplateSpecV1beta1,
  ResourceSliceSpec as ResourceSliceSpecV1beta1,
} from '../generated/resource-v1beta1.js';
import type {
  DeviceRequest as DeviceRequestV1beta2,
  Device as DeviceV1beta2,
  ExactDeviceRequest,
  ResourceClaimSpec as ResourceClaimSpecV1beta2,
  ResourceClaimTemplateSpec as ResourceClaimTemplateSpecV1beta2,
  ResourceSliceSpec as ResourceSliceSpecV1beta2,
} from '../generated/resource-v1beta2.js';
import { toStorageVersion } from '../shared/storage-conversion.js';

type Change = (draft: DraftObject) => void;

/**
 * A function that converts objects of an older version to the storage version.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function storageConverter<Stored>(toStored: Change): (object: ApiObject) => ApiObject & Stored {
  return (object) => toStorageVersion<Stored>(object, { toStored }, orchDialect);
}

export const claimToStored: Change = (draft) => {
  draft['spec'] = nested(draft['spec'] as ResourceClaimSpecV1beta1);
};

export const claimFromStored: Change = (draft) => {
  draft['spec'] = flat(draft['spec'] as ResourceClaimSpecV1beta2);
};

export const templateToStored: Change = (draft) => {
  const template = draft['spec'] as ResourceClaimTemplateSpecV1beta1;
  draft['spec'] = { ...template, spec: nested(template.spec) };
};

export const templateFromStored: Change = (draft) => {
  const template = draft['spec'] as ResourceClaimTemplateSpecV1beta2;
  draft['spec'] = { ...template, spec: flat(template.spec) };
};

function nested({ devices }: ResourceClaimSpecV1beta1): ResourceClaimSpecV1beta2 {
  const requests = devices.requests?.map(nestedRequest) ?? null;
  return { devices: withSentEmpty(devices, { ...devices, requests }) };
}

/** The converted value, with the empty lists that the client sent. The server drops those of tolerations. */
function withSentEmpty<Converted extends object>(from: object, converted: Converted): Converted {
  copySentEmpty(from, converted);
  forgetSentEmpty(converted, 'tolerations');
  return converted;
}

function flat({ devices }: ResourceClaimSpecV1beta2): ResourceClaimSpecV1beta1 {
  const requests = devices.requests?.map(flatRequest) ?? null;
  return { devices: withSentEmpty(devices, { ...devices, requests }) };
}

/** A request with any field besides its alternatives is an exact one too; validation rejects a request that is both. */
function nestedRequest(request: DeviceRequestV1beta1): DeviceRequestV1beta2 {
  const { name, firstAvailable, ...wish } = request;
  const exactly: ExactDeviceRequest = { ...wish, deviceClassName: wish.deviceClassName ?? '' };
  const isExact =
    Object.keys(wish).length > 0 || wasSentEmpty(request, 'selectors') || wasSentEmpty(request, 'tolerations');
  return withSentEmpty(request, {
    name,
    ...(isExact ? { exactly: withSentEmpty(request, exactly) } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  });
}

function flatRequest(request: DeviceRequestV1beta2): DeviceRequestV1beta1 {
  const { name, exactly, firstAvailable } = request;
  const flattened = { name, ...exactly, ...(firstAvailable === undefined ? {} : { firstAvailable }) };
  if (exactly !== undefined) withSentEmpty(exactly, flattened);
  return withSentEmpty(request, flattened);
}

export const sliceV1beta1ToStored: Change = (draft) => {
  const { devices, ...rest } = draft['spec'] as ResourceSliceSpecV1beta1;
  const inside: DeviceV1beta2[] | undefined = devices?.map(({ name, basic }) => ({ name, ...basic }));
  draft['spec'] = { ...rest, devices: inside ?? null } satisfies ResourceSliceSpecV1beta2;
};

/** The older versions have no pointers: an empty name and `false` are absent. */
function withoutZeros({ nodeName, allNodes, ...rest }: Omit<ResourceSliceSpecV1beta2, 'devices'>) {
  return { ...rest, ...(nodeName ? { nodeName } : {}), ...(allNodes ? { allNodes } : {}) };
}

export const sliceV1beta1FromStored: Change = (draft) => {
  const { devices, ...rest } = draft['spec'] as ResourceSliceSpecV1beta2;
  const inside: DeviceV1beta1[] | undefined = devices?.map(({ name, ...basic }) => ({ name, basic }));
  draft['spec'] = { ...withoutZeros(rest), devices: inside ?? null } satisfies ResourceSliceSpecV1beta1;
};

export const sliceV1alpha3ToStored: Change = (draft) => {
  const { devices, ...rest } = draft['spec'] as ResourceSliceSpecV1alpha3;
  const inside: DeviceV1beta2[] | undefined = devices?.map(({ name, basic = {} }) => {
    const { capacity, ...facts } = basic;
    return {
      name,
      ...facts,
      ...(capacity === undefined ? {} : { capacity: mapped(capacity, (value) => ({ value })) }),
    };
  });
  draft['spec'] = { ...rest, devices: inside ?? null } satisfies ResourceSliceSpecV1beta2;
};

export const sliceV1alpha3FromStored: Change = (draft) => {
  const { devices, ...rest } = draft['spec'] as ResourceSliceSpecV1beta2;
  const inside: DeviceV1alpha3[] | undefined = devices?.map(({ name, capacity, ...facts }) => ({
    name,
    basic: { ...facts, ...(capacity === undefined ? {} : { capacity: mapped(capacity, ({ value }) => value) }) },
  }));
  draft['spec'] = { ...withoutZeros(rest), devices: inside ?? null } satisfies ResourceSliceSpecV1alpha3;
};

function mapped<From, To>(record: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
