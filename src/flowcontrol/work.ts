/**
 * Estimates the work of a request: its seats and additional latency. Lists take more seats the more objects they process;
 * writes notify watchers, which continues after the response.
 */
import type { ResourceAttributes } from '../protocol/access.js';
import type { RequestOptions } from '../protocol/request.js';
import type { FlowRequest } from './types.js';

export interface Work {
  /** During execution. */
  readonly seats: number;
  /** After the response, for `lingerMs`. */
  readonly finalSeats: number;
  readonly lingerMs: number;
}

/** The cluster state that estimates depend on. */
export interface ClusterState {
  /** The maximum number of seats of a request on the level. */
  readonly maxSeats: number;
  /** The number of objects of the resource in all namespaces; undefined if unknown. */
  readonly objects: (attributes: ResourceAttributes) => number | undefined;
  readonly watchers: (attributes: ResourceAttributes) => number;
}

const OBJECTS_PER_SEAT = 100;
const WATCHERS_PER_SEAT = 10;
/** The time to notify one seat's worth of watchers. */
const NOTIFY_MS = 5;
/** The maximum for any request. */
const MAX_SEATS = 10;
/** The fraction of a level's seats that one request may take. */
const LEVEL_FRACTION = 0.15;

const ONE_SEAT: Work = { seats: 1, finalSeats: 0, lingerMs: 0 };

export function estimateWork({ attributes, options = {} }: FlowRequest, state: ClusterState): Work {
  if (attributes.type === 'path') return ONE_SEAT;
  switch (attributes.verb) {
    case 'list':
      return listWork(attributes, options, state);
    case 'watch':
      // Initial events are a list.
      return options.sendInitialEvents === true ? listWork(attributes, options, state) : ONE_SEAT;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return writeWork(attributes, state);
    default:
      return ONE_SEAT;
  }
}

/** The maximum number of seats of one request on a level. */
export function maxSeatsOf(nominal: number, handSize: number | undefined): number {
  if (handSize === undefined) return MAX_SEATS;
  const maximum = Math.min(Math.ceil(nominal * LEVEL_FRACTION), Math.floor(nominal / handSize));
  return Math.min(MAX_SEATS, Math.max(1, maximum));
}

function listWork(attributes: ResourceAttributes, options: RequestOptions, { maxSeats, objects }: ClusterState): Work {
  // A list of one name is a get.
  const stored = attributes.name === '' ? objects(attributes) : undefined;
  if (stored === undefined) return ONE_SEAT;
  const { limit = 0, labelSelector = '', fieldSelector = '' } = options;
  const page = limit > 0 && limit < stored ? limit : stored;
  let touched = stored;
  if (attributes.verb === 'list' && isFromStorage(options)) {
    touched = labelSelector !== '' || fieldSelector !== '' ? stored + page : 2 * page;
  }
  const seats = Math.min(maxSeats, Math.max(1, Math.ceil(touched / OBJECTS_PER_SEAT)));
  return seats === 1 ? ONE_SEAT : { seats, finalSeats: 0, lingerMs: 0 };
}

/** Whether the reference server would bypass its watch cache, which costs more. */
function isFromStorage(options: RequestOptions): boolean {
  const { resourceVersion = '', resourceVersionMatch = '', limit = 0, continue: token = '' } = options;
  if (resourceVersionMatch === 'NotOlderThan') return false;
  if (resourceVersionMatch !== '') return true;
  return token !== '' || (limit > 0 && resourceVersion !== '' && resourceVersion !== '0');
}

function writeWork(attributes: ResourceAttributes, { maxSeats, watchers }: ClusterState): Work {
  // Token requests store nothing.
  if (attributes.resource === 'serviceaccounts' && attributes.subresource === 'token') return ONE_SEAT;
  const count = watchers(attributes);
  if (count < WATCHERS_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(count / WATCHERS_PER_SEAT);
  const finalSeats = Math.min(wanted, maxSeats);
  // The same work on fewer seats takes longer.
  return { seats: 1, finalSeats, lingerMs: (wanted * NOTIFY_MS) / finalSeats };
}
