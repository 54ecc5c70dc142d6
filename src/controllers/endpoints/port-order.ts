/**
 * The order of ports in Endpoints and EndpointSlices: sorted by the MD5 of their Go representation, which differs between the
 * two. Clients see the order, so it equals the reference server's.
 */
import type { DeepReadonly } from '../../meta/object.js';
import { md5 } from './md5.js';

/** The common fields of a port in both kinds. */
export type AnyPort = DeepReadonly<{
  name?: string | undefined;
  port?: number | undefined;
  protocol?: string | undefined;
  appProtocol?: string | undefined;
}>;

const NIL = '<nil>';

/** Sorts ports of Endpoints. */
export function sortSubsetPorts<Port extends AnyPort>(ports: readonly Port[]): Port[] {
  return sorted(ports, subsetForm);
}

/** Sorts ports of EndpointSlices. */
export function sortSlicePorts<Port extends AnyPort>(ports: readonly Port[]): Port[] {
  return sorted(ports, sliceForm);
}

/** A key for a list of ports, independent of their order. */
export function portsKey(ports: readonly AnyPort[]): string {
  return ports.map(sliceForm).sort().join('\n');
}

function sorted<Port extends AnyPort>(ports: readonly Port[], form: (port: AnyPort) => string): Port[] {
  if (ports.length < 2) return [...ports];
  const hashed = ports.map((port) => ({ port, hash: md5(form(port)) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)).map(({ port }) => port);
}

function subsetForm({ name = '', port = 0, protocol = '', appProtocol = NIL }: AnyPort): string {
  return (
    `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} ` +
    `Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`
  );
}

function sliceForm({ name, port, protocol, appProtocol }: AnyPort): string {
  return (
    `(v1.EndpointPort){Name:(*string)${name ?? NIL} Protocol:(*v1.Protocol)${protocol ?? NIL} ` +
    `Port:(*int32)${port ?? NIL} AppProtocol:(*string)${appProtocol ?? NIL}}`
  );
}
