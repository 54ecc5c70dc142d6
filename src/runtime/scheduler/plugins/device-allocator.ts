/**
 * Selects devices for resource claims on one node: searches for devices that the classes and requests select, that are not
 * in use, and that satisfy the constraints of their claim.
 * upstream: dynamic-resource-allocation/structured/allocator.go
 */
import { compilationCost, DeviceSelectionError, type SelectorLike, selectsDevice } from '../../../cel/index.js';
import { matchesTerm } from '../../../controllers/workloads/daemon-set/placement.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { DeviceClass } from '../../../kinds/resource/v1beta2/device-class.js';
import { ResourceClaim } from '../../../kinds/resource/v1beta2/resource-claim.js';
import { ResourceSlice } from '../../../kinds/resource/v1beta2/resource-slice.js';
import { recoverFrom } from '../../../util/catch-error.js';
import { deepEqual, own } from '../../../util/json.js';
import { getOrInsertComputed } from '../../../util/once.js';
import { SchedulingError } from '../plugin.js';
import type { NodeInfo, Snapshot } from '../snapshot.js';
import { SearchBudget } from './device-search-budget.js';

export type StoredResourceClaim = ObjectOf<typeof ResourceClaim>;
type StoredSlice = ObjectOf<typeof ResourceSlice>;
type StoredDeviceClass = ObjectOf<typeof DeviceClass>;
type Device = NonNullable<StoredSlice['spec']['devices']>[number];
export type Allocation = NonNullable<NonNullable<StoredResourceClaim['status']>['allocation']>;
type NodeSelectorOf = NonNullable<Allocation['nodeSelector']>;

/** The API limits the devices of a claim. */
const MAX_DEVICES = 32;
/** After so many tries it is worth while to look at all devices. */
const MANY_TRIES = 1_000;

/** A device that the node can reach. */
interface Candidate {
  readonly id: string;
  readonly device: Device;
  readonly slice: StoredSlice;
}

interface Pool {
  readonly id: string;
  readonly slices: readonly StoredSlice[];
  readonly candidates: readonly Candidate[];
  /** Set if two devices have the same name. */
  readonly duplicate: string | undefined;
}

/** A request of a claim. */
interface Request {
  readonly claim: StoredResourceClaim;
  readonly name: string;
  readonly deviceClass: StoredDeviceClass;
  readonly count: number;
  /** The devices may be in use, and stay available for others. */
  readonly isAdmin: boolean;
  readonly constraints: readonly Constraint[];
  /** The devices to take, if the request is for all. */
  readonly all: readonly Candidate[] | undefined;
  readonly isSelected: (candidate: Candidate) => boolean;
}

/** Devices of these requests, or of all if there are none, have the same value of an attribute. */
interface Constraint {
  readonly attribute: string;
  readonly requests: ReadonlySet<string>;
}

interface Choice extends Candidate {
  readonly request: Request;
}

/**
 * The allocations of all claims on a node, in the order of the claims; undefined: there are not enough devices, or they are
 * not found within the budget.
 */
export function allocateDevices(
  claims: readonly StoredResourceClaim[],
  node: NodeInfo,
  snapshot: Snapshot,
  budget = new SearchBudget(),
): readonly Allocation[] | undefined {
  const pools = poolsOf(node, snapshot.objects.list(ResourceSlice));
  const requests = claims.flatMap((claim) => requestsOf(claim, pools, snapshot, budget));
  for (const claim of claims) {
    const count = requests.filter((each) => each.claim === claim).reduce((sum, each) => sum + each.count, 0);
    if (count <= MAX_DEVICES) continue;
    throw new SchedulingError(
      `claim ${nameOf(claim)}: number of requested devices ${count} exceeds the claim limit of ${MAX_DEVICES}`,
    );
  }
  if (requests.some(({ all }) => all?.length === 0)) return undefined;
  budget.inUse ??= devicesInUse(snapshot);
  const choices = search(requests, pools, budget.inUse, budget);
  if (choices === undefined) return undefined;
  return claims.map((claim) => {
    const own = choices.filter(({ request }) => request.claim === claim);
    return allocationOf(claim, own, requests);
  });
}

function nameOf({ metadata }: StoredResourceClaim): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function devicesInUse({ objects }: Snapshot): Set<string> {
  const results = objects.list(ResourceClaim).flatMap(({ status }) => status?.allocation?.devices.results ?? []);
  const exclusive = results.filter(({ adminAccess }) => adminAccess !== true);
  return new Set(exclusive.map(({ driver, pool, device }) => `${driver}/${pool}/${device}`));
}

/** The pools that a node can reach, with the slices of their newest generation. */
function poolsOf(node: NodeInfo, slices: readonly StoredSlice[]): readonly Pool[] {
  const byPool = new Map<string, StoredSlice[]>();
  for (const slice of slices) {
    const {
      driver,
      pool,
      nodeName = '',
      allNodes = false,
      nodeSelector,
      perDeviceNodeSelection,
      sharedCounters,
    } = slice.spec;
    // Devices with parts are not supported, as without the feature gate of the reference.
    if (perDeviceNodeSelection !== undefined || (sharedCounters ?? []).length > 0) continue;
    const isReachable = nodeName !== '' ? nodeName === node.name : allNodes || selects(nodeSelector, node);
    if (!isReachable) continue;
    const known = getOrInsertComputed(byPool, `${driver}/${pool.name}`, () => []);
    const generation = known[0]?.spec.pool.generation ?? pool.generation;
    if (pool.generation > generation) known.length = 0;
    if (pool.generation >= generation) known.push(slice);
  }
  return [...byPool].map(([id, list]) => {
    const candidates = list.flatMap((slice) =>
      (slice.spec.devices ?? []).map((device) => ({ id: `${id}/${device.name}`, device, slice })),
    );
    const names = candidates.map(({ device }) => device.name);
    const seen = new Set<string>();
    const duplicate = names.find((name) => seen.size === seen.add(name).size);
    return { id, slices: list, candidates, duplicate };
  });
}

function selects(selector: NodeSelectorOf | undefined, { name, labels }: NodeInfo): boolean {
  return selector?.nodeSelectorTerms.some((term) => matchesTerm(term, name, labels)) ?? false;
}

function requestsOf(
  claim: StoredResourceClaim,
  pools: readonly Pool[],
  { objects, features }: Snapshot,
  budget: SearchBudget,
): readonly Request[] {
  const constraints = (claim.spec.devices?.constraints ?? []).map(({ requests = [], matchAttribute = '' }) => ({
    attribute: matchAttribute,
    requests: new Set(requests),
  }));
  return (claim.spec.devices?.requests ?? []).flatMap(({ name, exactly }): Request[] => {
    const deviceClass = objects.get(DeviceClass, exactly?.deviceClassName ?? '');
    if (exactly === undefined || deviceClass === undefined) return [];
    const { adminAccess = null } = exactly;
    if (adminAccess !== null && features?.enabled('DRAAdminAccess') !== true) {
      const text = 'admin access is requested, but the feature is disabled';
      throw new SchedulingError(`claim ${nameOf(claim)}, request ${name}: ${text}`);
    }
    const request = {
      claim,
      name,
      deviceClass,
      isSelected: selection(claim, deviceClass, exactly, budget),
      isAdmin: adminAccess === true,
      constraints: constraints.filter((constraint) => concerns(constraint, name)),
    };
    if (exactly.allocationMode !== 'All') return [{ ...request, count: Number(exactly.count ?? 1), all: undefined }];
    const all = allDevices(request, pools);
    return [{ ...request, count: all.length, all }];
  });
}

/** Whether a class and a request select a device; each device is evaluated once. */
function selection(
  claim: StoredResourceClaim,
  deviceClass: StoredDeviceClass,
  request: { readonly selectors?: readonly SelectorLike[] },
  { selected, spendCost }: SearchBudget,
) {
  const known = getOrInsertComputed(selected, request, () => {
    spendCost(compilationCost(deviceClass.spec.selectors) + compilationCost(request.selectors));
    return new Map<object, boolean>();
  });
  const isMatch = (
    from: StoredDeviceClass | readonly SelectorLike[],
    { device, slice }: Candidate,
    prefix: string,
  ): boolean => {
    const { attributes = {}, capacity = {} } = device;
    try {
      return selectsDevice(from, { driver: slice.spec.driver, attributes, capacity }, spendCost);
    } catch (error) {
      if (!(error instanceof DeviceSelectionError)) throw error;
      throw new SchedulingError(`${prefix}${error.message}`);
    }
  };
  return (candidate: Candidate) =>
    getOrInsertComputed(
      known,
      candidate.device,
      () =>
        isMatch(deviceClass, candidate, '') && isMatch(request.selectors ?? [], candidate, `claim ${nameOf(claim)}: `),
    );
}

function allDevices(
  { claim, name, isSelected }: Pick<Request, 'claim' | 'name' | 'isSelected'>,
  pools: readonly Pool[],
) {
  return pools.flatMap(({ id, slices, candidates, duplicate }) => {
    const isIncomplete = slices.length !== slices[0]?.spec.pool.resourceSliceCount;
    if (isIncomplete || duplicate !== undefined) {
      const state = isIncomplete ? 'being updated' : 'invalid';
      const text = `asks for all devices, but resource pool ${id} is currently ${state}`;
      throw new SchedulingError(`claim ${nameOf(claim)}, request ${name}: ${text}`);
    }
    return candidates.filter(isSelected);
  });
}

/** Tries all devices for all requests, one after the other, and returns the first solution. Gives up after many tries. */
function search(
  requests: readonly Request[],
  pools: readonly Pool[],
  inUse: ReadonlySet<string>,
  budget: SearchBudget,
): Choice[] | undefined {
  const candidates = pools.flatMap((pool) => pool.candidates);
  const invalid = pools.find(({ duplicate }) => duplicate !== undefined);
  const choices: Choice[] = [];
  const isUnused = ({ id }: Candidate) => !inUse.has(id);
  /** The devices of the choices, except those with admin access. */
  const chosen = new Set<string>();
  const isFree = ({ id }: Candidate) => !inUse.has(id) && !chosen.has(id);
  const slots = requests.flatMap((request) => Array.from({ length: request.count }, (_, at) => ({ request, at })));
  const maxTries = budget.triesOfNode();
  let tries = 0;
  let hasLooked = false;
  /** `begin`: the devices before it were tried for the same request, whose devices have no order. */
  const fill = (index: number, begin: number): boolean => {
    const slot = slots[index];
    if (slot === undefined) return true;
    const { request, at } = slot;
    const { all } = request;
    const [options, end] = all === undefined ? [candidates, candidates.length] : [all, at + 1];
    for (let place = all === undefined ? begin : at; place < end; place++) {
      const candidate = options[place] as Candidate;
      if (all === undefined && candidate === invalid?.candidates[0]) throw invalidPool(invalid);
      // Many constraints take as long as several devices.
      tries += 1 + Math.trunc(request.constraints.length / 4);
      if (tries >= MANY_TRIES && !hasLooked) {
        hasLooked = true;
        if (isImpossible(requests, candidates, isUnused)) tries = maxTries;
      }
      if (tries >= maxTries) return false;
      if (!(request.isAdmin || isFree(candidate)) || !request.isSelected(candidate)) continue;
      const choice = { ...candidate, request };
      if (!meetsConstraints(choice, choices)) {
        if (all === undefined) continue;
        const text = `cannot add device ${candidate.id} because a claim constraint would not be satisfied`;
        throw new SchedulingError(`claim ${nameOf(request.claim)}, request ${request.name}: ${text}`);
      }
      choices.push(choice);
      if (!request.isAdmin) chosen.add(choice.id);
      // Admin access can be to one device several times.
      const next = request.isAdmin ? place : place + 1;
      if (fill(index + 1, slots[index + 1]?.request === request ? next : 0)) return true;
      choices.pop();
      if (!request.isAdmin) chosen.delete(choice.id);
    }
    return false;
  };
  const isFound = fill(0, 0);
  budget.spendTries(tries);
  return isFound ? choices : undefined;
}

/** Whether a request selects too few devices. Errors are left to the search, which may not come to the device. */
function isImpossible(
  requests: readonly Request[],
  candidates: readonly Candidate[],
  isUnused: (candidate: Candidate) => boolean,
): boolean {
  // The search reports devices of such a request that do not meet a constraint.
  const end = requests.findIndex(({ all }) => all !== undefined);
  const unused = candidates.filter(isUnused);
  const isLacking = ({ isSelected, count, isAdmin }: Request) =>
    isAdmin ? !candidates.some(isSelected) : unused.filter(isSelected).length < count;
  return recoverFrom(
    SchedulingError,
    () => (end < 0 ? requests : requests.slice(0, end)).some(isLacking),
    () => false,
  );
}

function invalidPool({ id, duplicate }: Pool): SchedulingError {
  const [, pool = id] = id.split('/');
  return new SchedulingError(`pool ${pool} is invalid: duplicate device name ${duplicate}`);
}

/** Whether the devices of a claim have the same values of the attributes that its constraints name. */
function meetsConstraints(choice: Choice, choices: readonly Choice[]): boolean {
  const { claim, constraints } = choice.request;
  return constraints.every((constraint) => {
    const value = attributeOf(choice, constraint.attribute);
    if (value === undefined) return false;
    const other = choices.find(({ request }) => request.claim === claim && concerns(constraint, request.name));
    return other === undefined || deepEqual(attributeOf(other, constraint.attribute), value);
  });
}

function concerns({ requests }: Constraint, name: string): boolean {
  return requests.size === 0 || requests.has(name);
}

/** An attribute by its qualified name. Attributes of the driver's domain may be listed without it. */
function attributeOf({ device, slice }: Candidate, name: string) {
  const { attributes = {} } = device;
  const slash = name.indexOf('/');
  const isOwn = name.slice(0, Math.max(0, slash)) === slice.spec.driver;
  return own(attributes, name) ?? (isOwn ? own(attributes, name.slice(slash + 1)) : undefined);
}

function allocationOf(
  claim: StoredResourceClaim,
  choices: readonly Choice[],
  requests: readonly Request[],
): Allocation {
  const results = choices.map(({ request, slice, device }) => ({
    request: request.name,
    driver: slice.spec.driver,
    pool: slice.spec.pool.name,
    device: device.name,
    adminAccess: request.isAdmin ? true : null,
  }));
  const config = configOf(
    claim,
    requests.filter((each) => each.claim === claim),
  );
  const nodeSelector = nodeSelectorOf(choices);
  return {
    devices: { ...(results.length === 0 ? {} : { results }), ...(config.length === 0 ? {} : { config }) },
    ...(nodeSelector === undefined ? {} : { nodeSelector }),
  };
}

type Config = NonNullable<Allocation['devices']['config']>;

/** The configuration of the classes, each once with all requests that use it, then that of the claim. */
function configOf(claim: StoredResourceClaim, requests: readonly Request[]): Config {
  const classes = new Map(requests.map(({ deviceClass }) => [deviceClass.metadata.name, deviceClass]));
  const ofClasses = [...classes].flatMap(([className, { spec }]) => {
    const names = requests.filter(({ deviceClass }) => deviceClass.metadata.name === className).map(({ name }) => name);
    return (spec.config ?? []).map((each) => ({ source: 'FromClass', requests: names, ...each }) as const);
  });
  const ofClaim = (claim.spec.devices?.config ?? []).flatMap((each) => {
    const { requests: named = [] } = each;
    const times = named.length === 0 ? 1 : requests.filter(({ name }) => named.includes(name)).length;
    return Array.from({ length: times }, () => ({ source: 'FromClaim', ...each }) as const);
  });
  return [...ofClasses, ...ofClaim];
}

/** The nodes that can reach all devices; undefined: all nodes. */
function nodeSelectorOf(choices: readonly Choice[]): NodeSelectorOf | undefined {
  const local = choices.map(({ slice }) => slice.spec.nodeName ?? '').find((name) => name !== '');
  if (local !== undefined) {
    const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: [local] }];
    return { nodeSelectorTerms: [{ matchFields }] };
  }
  const terms = choices.flatMap(({ slice }) => slice.spec.nodeSelector?.nodeSelectorTerms ?? []);
  const unique = <Item>(items: readonly Item[]) =>
    items.filter((item, index) => items.findIndex((each) => deepEqual(each, item)) === index);
  const matchExpressions = unique(terms.flatMap((term) => term.matchExpressions ?? []));
  const matchFields = unique(terms.flatMap((term) => term.matchFields ?? []));
  if (matchExpressions.length + matchFields.length === 0) return undefined;
  return {
    nodeSelectorTerms: [
      {
        ...(matchExpressions.length === 0 ? {} : { matchExpressions }),
        ...(matchFields.length === 0 ? {} : { matchFields }),
      },
    ],
  };
}
