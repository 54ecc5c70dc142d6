/**
 * Prints parts of claims and slices as Go's %#v for messages. Pointers have a constant address here.
 */
import type { DraftMeta } from '../../../meta/object.js';
import { asSent } from '../../../schema/empty-values.js';
import { quote, stringSlice, type Verbatim, verbatim } from '../../../text/go/go-text.js';
import type { NodeSelectorRequirement, NodeSelectorTerm } from '../../generated/core-v1.js';
import type {
  AllocationResult,
  DeviceAttribute,
  DeviceSubRequest,
  DeviceToleration,
  ResourceClaimSpec,
  ResourceClaimTemplateSpec,
} from '../../generated/resource-v1beta2.js';
import { goSyntaxObjectMeta } from '../../shared/go-syntax.js';

/** Prints a claim's spec. */
export function dumpClaimSpec(spec: ResourceClaimSpec): Verbatim {
  return verbatim(claimSpec(spec));
}

/** Prints a template's spec. */
export function dumpTemplateSpec({ metadata, spec }: ResourceClaimTemplateSpec): Verbatim {
  const meta = goSyntaxObjectMeta(metadata as DraftMeta).verbatim;
  return verbatim(struct('resource.ResourceClaimTemplateSpec', { ObjectMeta: meta, Spec: claimSpec(spec) }));
}

/** Prints an allocation. */
export function dumpAllocation({ devices, nodeSelector }: AllocationResult): Verbatim {
  const results = slice('resource.DeviceRequestAllocationResult', asSent(devices, 'results'), (result) => ({
    Request: quote(result.request),
    Driver: quote(result.driver),
    Pool: quote(result.pool),
    Device: quote(result.device),
    AdminAccess: pointed('bool', result.adminAccess),
    Tolerations: tolerations(asSent(result, 'tolerations')),
  }));
  const config = slice('resource.DeviceAllocationConfiguration', asSent(devices, 'config'), (one) => ({
    Source: quote(one.source),
    Requests: stringSlice(asSent(one, 'requests')).verbatim,
    DeviceConfiguration: configuration(one.opaque),
  }));
  const inner = struct('resource.DeviceAllocationResult', { Results: results, Config: config });
  const fields = { Devices: inner, NodeSelector: pointed('core.NodeSelector', nodeSelector) };
  return verbatim(struct('resource.AllocationResult', fields));
}

/** Prints node selector terms. */
export function dumpNodeSelectorTerms(terms: readonly NodeSelectorTerm[] | null): Verbatim {
  const requirements = (list: readonly NodeSelectorRequirement[] | undefined) =>
    slice('core.NodeSelectorRequirement', list, (requirement) => ({
      Key: quote(requirement.key),
      Operator: quote(requirement.operator),
      Values: stringSlice(asSent(requirement, 'values')).verbatim,
    }));
  return verbatim(
    slice('core.NodeSelectorTerm', terms, (term) => ({
      MatchExpressions: requirements(asSent(term, 'matchExpressions')),
      MatchFields: requirements(asSent(term, 'matchFields')),
    })),
  );
}

/** Prints a device attribute. */
export function dumpAttribute(attribute: DeviceAttribute): Verbatim {
  return verbatim(
    struct('resource.DeviceAttribute', {
      IntValue: pointed('int64', attribute.int),
      BoolValue: pointed('bool', attribute.bool),
      StringValue: pointed('string', attribute.string),
      VersionValue: pointed('string', attribute.version),
    }),
  );
}

function claimSpec({ devices }: ResourceClaimSpec): string {
  const requests = slice('resource.DeviceRequest', asSent(devices, 'requests'), (request) => ({
    Name: quote(request.name),
    Exactly: pointed('resource.ExactDeviceRequest', request.exactly),
    FirstAvailable: slice('resource.DeviceSubRequest', asSent(request, 'firstAvailable'), subRequest),
  }));
  const constraints = slice('resource.DeviceConstraint', asSent(devices, 'constraints'), (constraint) => ({
    Requests: stringSlice(asSent(constraint, 'requests')).verbatim,
    MatchAttribute: pointed('resource.FullyQualifiedName', constraint.matchAttribute),
  }));
  const config = slice('resource.DeviceClaimConfiguration', asSent(devices, 'config'), (one) => ({
    Requests: stringSlice(asSent(one, 'requests')).verbatim,
    DeviceConfiguration: configuration(one.opaque),
  }));
  const claim = struct('resource.DeviceClaim', { Requests: requests, Constraints: constraints, Config: config });
  return struct('resource.ResourceClaimSpec', { Devices: claim });
}

function subRequest(request: DeviceSubRequest): Fields {
  return {
    Name: quote(request.name),
    DeviceClassName: quote(request.deviceClassName),
    Selectors: slice('resource.DeviceSelector', asSent(request, 'selectors'), ({ cel }) => ({
      CEL: pointed('resource.CELDeviceSelector', cel),
    })),
    AllocationMode: quote(request.allocationMode ?? ''),
    Count: String(request.count ?? 0),
    Tolerations: tolerations(asSent(request, 'tolerations')),
  };
}

function tolerations(list: readonly DeviceToleration[] | undefined): string {
  return slice('resource.DeviceToleration', list, ({ key, operator, value, effect, tolerationSeconds }) => ({
    Key: quote(key ?? ''),
    Operator: quote(operator),
    Value: quote(value ?? ''),
    Effect: quote(effect ?? ''),
    TolerationSeconds: pointed('int64', tolerationSeconds),
  }));
}

function configuration(opaque: unknown): string {
  return struct('resource.DeviceConfiguration', { Opaque: pointed('resource.OpaqueDeviceConfiguration', opaque) });
}

type Fields = Readonly<Record<string, string>>;

function struct(goType: string, fields: Fields): string {
  const printed = Object.entries(fields).map(([name, value]) => `${name}:${value}`);
  return `${goType}{${printed.join(', ')}}`;
}

function slice<Item>(
  goType: string,
  items: readonly Item[] | null | undefined,
  fields: (item: Item) => Fields,
): string {
  if (items === undefined || items === null) return `[]${goType}(nil)`;
  return `[]${goType}{${items.map((item) => struct(goType, fields(item))).join(', ')}}`;
}

function pointed(goType: string, value: unknown): string {
  return `(*${goType})(${(value ?? null) === null ? 'nil' : '0xc000000000'})`;
}
