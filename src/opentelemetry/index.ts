/**
 * orchplane/opentelemetry: traces and metrics of requests, admission and controllers, through the API of OpenTelemetry. An SDK
 * that the application registers exports them; without one, everything here does nothing.
 */
import {
  type Attributes,
  context,
  type Histogram,
  type Meter,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { AdmissionPlugin } from '../admission/types.js';
import type { Controller, ControllerContext } from '../controllers/runtime/controller.js';
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { Middleware } from '../server/middleware.js';
import { realTime } from '../util/clock.js';
import { isPromise } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { refuseUnknownOptions } from '../util/options.js';

/** The options of {@link telemetry}. */
export interface TelemetryOptions {
  /** Default: the tracer `orchplane` of the global provider. */
  readonly tracer?: Tracer | undefined;
  /** Default: the meter `orchplane` of the global provider. */
  readonly meter?: Meter | undefined;
}

/** A function that answers HTTP requests, such as that of `createFetchHandler`. */
type Handler = (request: Request) => Promise<Response>;

/** What is observed; each part is independent of the others. */
export interface Telemetry {
  /** A span and a duration for each request of each client. Forks need it again, as they have no middlewares. */
  readonly middleware: Middleware;
  /** A duration for each step of admission, and a span for those that wait, such as webhooks, or reject the request. */
  admission(plugins: readonly AdmissionPlugin[]): AdmissionPlugin[];
  /** A span and a duration for each reconcile; the requests of the controller are its children. */
  controllers(list: readonly Controller[]): Controller[];
  /** A span and a duration for each HTTP request; it continues the trace of the client (`traceparent`). */
  handler(handle: Handler): Handler;
}

const NAME = 'orchplane';
const OPTIONS = ['tracer', 'meter'] as const satisfies readonly (keyof TelemetryOptions)[];

/**
 * @example
 * const observed = telemetry();
 * const cluster = createCluster({ admission: observed.admission(defaultAdmission) });
 * cluster.use(observed.middleware);
 */
export function telemetry(options: TelemetryOptions = {}): Telemetry {
  refuseUnknownOptions('telemetry', options, OPTIONS);
  const { tracer = trace.getTracer(NAME), meter = metrics.getMeter(NAME) } = options;
  if (typeof tracer?.startSpan !== 'function') throw new TypeError('orchplane: telemetry: tracer is not a Tracer');
  if (typeof meter?.createHistogram !== 'function') throw new TypeError('orchplane: telemetry: meter is not a Meter');
  const histogram = (name: string, description: string): Observer =>
    new Observer(tracer, meter.createHistogram(name, { description, unit: 's' }));
  const requests = histogram('orchplane.request.duration', 'Duration of requests to the cluster.');
  const admissions = histogram('orchplane.admission.duration', 'Duration of the steps of admission.');
  const reconciles = histogram('orchplane.reconcile.duration', 'Duration of reconciles by controllers.');
  const httpRequests = histogram('http.server.request.duration', 'Duration of HTTP requests.');
  return Object.freeze({
    middleware: (request, next) => {
      const attributes = attributesOf(request);
      const { name, namespace } = request;
      const span = tracer.startSpan(`${attributes['orchplane.verb']} ${attributes['orchplane.resource']}`, {
        attributes: {
          ...attributes,
          ...(name === undefined ? {} : { 'orchplane.name': name }),
          ...(namespace === undefined ? {} : { 'k8s.namespace.name': namespace }),
        },
      });
      return requests.run(span, attributes, next, (response) => ({
        'orchplane.code': response.type === 'object' ? response.code : 200,
      }));
    },
    admission(plugins) {
      if (!Array.isArray(plugins)) throw new TypeError('orchplane: admission takes a list of plugins');
      return plugins.map((plugin: AdmissionPlugin) => observePlugin(plugin, admissions));
    },
    controllers(list) {
      if (!Array.isArray(list) || !list.every((each) => typeof each?.start === 'function'))
        throw new TypeError('orchplane: controllers takes a list of controllers');
      return list.map((controller: Controller) => observeController(controller, tracer, reconciles));
    },
    handler(handle) {
      if (typeof handle !== 'function') throw new TypeError('orchplane: handler takes a function');
      return (request) => {
        const { pathname } = new URL(request.url);
        const method = METHODS.has(request.method) ? request.method : '_OTHER';
        const attributes = { 'http.request.method': method };
        const parent = propagation.extract(context.active(), request.headers, HEADERS);
        const span = tracer.startSpan(
          method,
          { kind: SpanKind.SERVER, attributes: { ...attributes, 'url.path': pathname } },
          parent,
        );
        return httpRequests.run(
          span,
          attributes,
          () => handle(request),
          ({ status }) => {
            if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
            return { 'http.response.status_code': status };
          },
          { parent },
        );
      };
    },
  } satisfies Telemetry);
}

/** Clients may make up others, and each is a time series. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE']);

const HEADERS = {
  keys: (headers: Headers) => [...headers.keys()],
  get: (headers: Headers, name: string) => headers.get(name) ?? undefined,
};

/** The attributes of a request with few values, for metrics. */
function attributesOf({ verb, patchType, resource, subresource }: ApiRequest): Attributes {
  const { group, resource: plural } = resource;
  const name = group === '' ? plural : `${plural}.${group}`;
  return {
    'orchplane.verb': verb === 'patch' && patchType === 'apply' ? 'apply' : verb,
    'orchplane.resource': subresource === undefined || subresource === '' ? name : `${name}/${subresource}`,
  };
}

/** Records how long functions take, and how they end. */
class Observer {
  readonly tracer: Tracer;
  readonly #histogram: Histogram;

  constructor(tracer: Tracer, histogram: Histogram) {
    this.tracer = tracer;
    this.#histogram = histogram;
  }

  /** Runs a function in a span. It stays synchronous when the function is. */
  run<Result>(
    span: Span,
    attributes: Attributes,
    run: () => Result,
    outcome: (result: Awaited<Result>) => Attributes,
    { parent = context.active(), start = realTime() } = {},
  ): Result {
    const end = (result: Attributes, error?: unknown): void => {
      span.setAttributes(result);
      if (error !== undefined && !isRejection(error)) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: messageOf(error) });
        if (error instanceof Error) span.recordException(error);
      }
      span.end();
      this.record(start, { ...attributes, ...result });
    };
    const fail = (error: unknown): never => {
      end(StatusError.is(error) ? { 'orchplane.code': error.code, 'error.type': error.reason } : OTHER_ERROR, error);
      throw error;
    };
    try {
      const result = context.with(trace.setSpan(parent, span), run);
      if (!isPromise(result)) {
        end(outcome(result as Awaited<Result>));
        return result;
      }
      const ended = (value: Awaited<Result>): Awaited<Result> => {
        end(outcome(value));
        return value;
      };
      return result.then(ended as (value: unknown) => Awaited<Result>, fail) as Result;
    } catch (error) {
      return fail(error);
    }
  }

  record(start: number, attributes: Attributes): void {
    this.#histogram.record((realTime() - start) / 1_000, attributes);
  }
}

const OTHER_ERROR: Attributes = { 'error.type': '_OTHER' };

/** A rejected request is no failure of the server. */
function isRejection(error: unknown): boolean {
  return StatusError.is(error) && error.code < 500;
}

function observePlugin(plugin: AdmissionPlugin, observer: Observer): AdmissionPlugin {
  const observe =
    <Given extends readonly unknown[]>(phase: string, run: (...given: Given) => unknown) =>
    (...given: Given) => {
      const attributes = { 'orchplane.admission.plugin': plugin.name, 'orchplane.admission.phase': phase };
      const start = realTime();
      // Most steps neither wait nor reject; they get no span.
      const spanFor = () => observer.tracer.startSpan(`admission ${plugin.name}`, { attributes, startTime: start });
      try {
        const result = run(...given);
        if (isPromise(result))
          return observer.run(spanFor(), attributes, () => result as Promise<void>, accepted, { start });
        observer.record(start, { ...attributes, ...accepted() });
        return undefined;
      } catch (error) {
        return observer.run(
          spanFor(),
          attributes,
          () => {
            throw error;
          },
          accepted,
          { start },
        );
      }
    };
  const { mutate, validate } = plugin;
  return Object.freeze({
    ...plugin,
    ...(mutate === undefined ? {} : { mutate: observe('mutate', mutate.bind(plugin)) }),
    ...(validate === undefined ? {} : { validate: observe('validate', validate.bind(plugin)) }),
  });
}

const accepted = (): Attributes => ({});

function observeController(controller: Controller, tracer: Tracer, observer: Observer): Controller {
  return Object.freeze({
    ...controller,
    start: (given: ControllerContext) =>
      controller.start({
        ...given,
        queue: (reconcile, options) =>
          given.queue((key) => {
            const attributes = { 'orchplane.controller': controller.name };
            const span = tracer.startSpan(`reconcile ${controller.name}`, {
              root: true,
              attributes: { ...attributes, 'orchplane.key': key },
            });
            return observer.run(
              span,
              attributes,
              () => reconcile(key),
              (again) => ({
                'orchplane.requeued': again !== undefined,
              }),
            );
          }, options),
      }),
  });
}
