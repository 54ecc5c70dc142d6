/**
 * Schemas of probes and lifecycle hooks.
 */
import * as z from 'zod';
import {
  defaulted,
  defaultedPointer,
  enumString,
  int32,
  int64,
  intOrString,
  namedString,
  optional,
  pointer,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';

const execActionShape = () => ({
  command: optional(z.array(z.string())),
});
export interface ExecAction extends Output<typeof execActionShape> {}
export interface ExecActionInput extends Input<typeof execActionShape> {}
export const execAction: Type<ExecAction, ExecActionInput> = type('ExecAction', execActionShape);

const httpHeaderShape = () => ({
  name: z.string(),
  value: z.string(),
});
export interface HTTPHeader extends Output<typeof httpHeaderShape> {}
export interface HTTPHeaderInput extends Input<typeof httpHeaderShape> {}
export const httpHeader: Type<HTTPHeader, HTTPHeaderInput> = type('HTTPHeader', httpHeaderShape);

const httpGetActionShape = () => ({
  path: defaulted(z.string(), '/'),
  port: intOrString(),
  host: optional(z.string()),
  scheme: defaulted(enumString<'HTTP' | 'HTTPS'>('v1.URIScheme'), 'HTTP'),
  httpHeaders: optional(z.array(httpHeader())),
});
export interface HTTPGetAction extends Output<typeof httpGetActionShape> {}
export interface HTTPGetActionInput extends Input<typeof httpGetActionShape> {}
export const httpGetAction: Type<HTTPGetAction, HTTPGetActionInput> = type('HTTPGetAction', httpGetActionShape);

const tcpSocketActionShape = () => ({
  port: intOrString(),
  host: optional(z.string()),
});
export interface TCPSocketAction extends Output<typeof tcpSocketActionShape> {}
export interface TCPSocketActionInput extends Input<typeof tcpSocketActionShape> {}
export const tcpSocketAction: Type<TCPSocketAction, TCPSocketActionInput> = type(
  'TCPSocketAction',
  tcpSocketActionShape,
);

const grpcActionShape = () => ({
  port: int32(),
  service: defaultedPointer(z.string(), ''),
});
export interface GRPCAction extends Output<typeof grpcActionShape> {}
export interface GRPCActionInput extends Input<typeof grpcActionShape> {}
export const grpcAction: Type<GRPCAction, GRPCActionInput> = type('GRPCAction', grpcActionShape);

const probeShape = () => ({
  exec: pointer(execAction()),
  httpGet: pointer(httpGetAction()),
  tcpSocket: pointer(tcpSocketAction()),
  grpc: pointer(grpcAction()),
  initialDelaySeconds: optional(int32()),
  timeoutSeconds: defaulted(int32(), 1),
  periodSeconds: defaulted(int32(), 10),
  successThreshold: defaulted(int32(), 1),
  failureThreshold: defaulted(int32(), 3),
  terminationGracePeriodSeconds: pointer(int64()),
});
export interface Probe extends Output<typeof probeShape> {}
export interface ProbeInput extends Input<typeof probeShape> {}
export const probe: Type<Probe, ProbeInput> = type('Probe', probeShape);

const sleepActionShape = () => ({
  seconds: int64(),
});
export interface SleepAction extends Output<typeof sleepActionShape> {}
export interface SleepActionInput extends Input<typeof sleepActionShape> {}
export const sleepAction: Type<SleepAction, SleepActionInput> = type('SleepAction', sleepActionShape);

const lifecycleHandlerShape = () => ({
  exec: pointer(execAction()),
  httpGet: pointer(httpGetAction()),
  tcpSocket: pointer(tcpSocketAction()),
  sleep: pointer(sleepAction()),
});
export interface LifecycleHandler extends Output<typeof lifecycleHandlerShape> {}
export interface LifecycleHandlerInput extends Input<typeof lifecycleHandlerShape> {}
export const lifecycleHandler: Type<LifecycleHandler, LifecycleHandlerInput> = type(
  'LifecycleHandler',
  lifecycleHandlerShape,
);

const lifecycleShape = () => ({
  postStart: pointer(lifecycleHandler()),
  preStop: pointer(lifecycleHandler()),
  stopSignal: pointer(namedString('v1.Signal')),
});
export interface Lifecycle extends Output<typeof lifecycleShape> {}
export interface LifecycleInput extends Input<typeof lifecycleShape> {}
export const lifecycle: Type<Lifecycle, LifecycleInput> = type('Lifecycle', lifecycleShape);
