/**
 * How much work a request is: how many seats it takes, and what it leaves behind. A list takes more the more objects
 * have to be looked at; a write has to be told to everybody who watches, which goes on after the writer was answered.
 */
import type { ResourceAttributes } from '../protocol/access.js';
import type { RequestOptions } from '../protocol/request.js';
import type { FlowDigest } from './types.js';

export interface Work {
  /** While the request is carried out. */
  readonly seats: number;
  /** After it was answered, for `lingerMs`. */
  readonly finalSeats: number;
  readonly lingerMs: number;
}

/** What is known of the cluster. */
export interface Circumstances {
  /** A request of the level takes no more seats than this. */
  readonly maxSeats: number;
  /** Of the resource, in all namespaces; undefined: not known. */
  readonly objects: (attributes: ResourceAttributes) => number | undefined;
  readonly watchers: (attributes: ResourceAttributes) => number;
}

const OBJECTS_PER_SEAT = 100;
const WATCHERS_PER_SEAT = 10;
/** One seat's worth of watchers is told in this time. */
const TELLING_MS = 5;
/** No request takes more, however large its level. */
const MOST_SEATS = 10;
/** The part of a level's seats that one request may take. */
const PART_OF_LEVEL = 0.15;

const ONE_SEAT: Work = { seats: 1, finalSeats: 0, lingerMs: 0 };

export function estimateWork({ attributes, options = {} }: FlowDigest, circumstances: Circumstances): Work {
  if (attributes.type === 'path') return ONE_SEAT;
  switch (attributes.verb) {
    case 'list':
      return listWork(attributes, options, circumstances);
    case 'watch':
      // What is there already is sent first.
      return options.sendInitialEvents === true ? listWork(attributes, options, circumstances) : ONE_SEAT;
    case 'create':
    case 'update':
    case 'patch':
    case 'delete':
      return writeWork(attributes, circumstances);
    default:
      return ONE_SEAT;
  }
}

/** How many seats of a level one request may take; levels without queues have no rule of their own. */
export function maxSeatsOf(nominal: number, handSize: number | undefined): number {
  if (handSize === undefined) return MOST_SEATS;
  const most = Math.min(Math.ceil(nominal * PART_OF_LEVEL), Math.floor(nominal / handSize));
  return Math.min(MOST_SEATS, Math.max(1, most));
}

function listWork(attributes: ResourceAttributes, options: RequestOptions, { maxSeats, objects }: Circumstances): Work {
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

/** Where the reference server could not answer from its cache, and so has more to do. */
function isFromStorage(options: RequestOptions): boolean {
  const { resourceVersion = '', resourceVersionMatch = '', limit = 0, continue: token = '' } = options;
  if (resourceVersionMatch === 'NotOlderThan') return false;
  if (resourceVersionMatch !== '') return true;
  return token !== '' || (limit > 0 && resourceVersion !== '' && resourceVersion !== '0');
}

function writeWork(attributes: ResourceAttributes, { maxSeats, watchers }: Circumstances): Work {
  // A token is written to nowhere.
  if (attributes.resource === 'serviceaccounts' && attributes.subresource === 'token') return ONE_SEAT;
  const told = watchers(attributes);
  if (told < WATCHERS_PER_SEAT) return ONE_SEAT;
  const wanted = Math.ceil(told / WATCHERS_PER_SEAT);
  const finalSeats = Math.min(wanted, maxSeats);
  // The same work on fewer seats takes longer.
  return { seats: 1, finalSeats, lingerMs: (wanted * TELLING_MS) / finalSeats };
}
