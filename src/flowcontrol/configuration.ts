/**
 * The flow control configuration of a cluster: compiled flows by precedence, and priority levels with their seats. It is
 * refreshed on use when the objects have changed; every ten seconds, unused seats are lent to other levels.
 */

import { mandatoryFlow } from '../kinds/flowcontrol/v1/flow-schema/bootstrap.js';
import { mandatoryLevel } from '../kinds/flowcontrol/v1/priority-level-bootstrap.js';
import { byPrecedence, FLOW_SCHEMAS, PRIORITY_LEVELS } from '../kinds/flowcontrol/v1/resources.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import { recoverFrom } from '../util/catch-error.js';
import type { Undo } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import { getOrInsertComputed } from '../util/once.js';
import { type CompiledFlow, compileFlow, type FlowSource, type Test } from './classify.js';
import { Counts } from './counts.js';
import { Level, type LevelSource } from './level.js';
import { allocateSeats } from './limits.js';
import type { FlowControlOptions } from './types.js';

/** A FlowSchema with everything that matched requests need. */
export interface Flow extends CompiledFlow {
  readonly priorityLevel: Level;
  readonly counts: Counts;
  /** Response headers with both uids. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A flow that some of a user's requests match. */
interface UserFlow {
  readonly flow: Flow;
  readonly test: Test<AccessAttributes>;
}

const DEFAULT_SEATS = 600;
const LENDING_PERIOD_MS = 10_000;
/** After this many idle periods, past demand is negligible (0.977 to that power). */
const REMEMBERED_PERIODS = 1000;

/** The number of counters kept, because schemas may come and go. */
const MAX_COUNTS = 1024;
/** The number of users whose matching flows are cached. */
const MAX_USERS = 256;
/** Users with longer names and groups are not cached: an authenticator may return megabytes of groups. */
const MAX_USER_LENGTH = 4096;

const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

export class Configuration {
  readonly #options: FlowControlOptions;
  readonly #totalSeats: number;
  readonly #headerNames: { readonly flowSchema: string; readonly priorityLevel: string };
  readonly #counts = new Map<string, Counts>();
  #levels = new Map<string, Level>();
  #flows: readonly Flow[] = [];
  readonly #byUser = new Map<string, readonly UserFlow[]>();
  #seen = { flows: -1, levels: -1 };
  /** When seats were last allocated by demand; a whole number of periods after the start. */
  #allocatedMs: number;
  #lending: Undo | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#totalSeats = options.totalSeats ?? DEFAULT_SEATS;
    this.#allocatedMs = options.clock.now();
    const header = (what: string) => headerCase(options.dialect.extension(`pf-${what}-uid`));
    this.#headerNames = { flowSchema: header('flowschema'), priorityLevel: header('prioritylevel') };
  }

  get counts(): readonly Counts[] {
    return [...this.#counts.values()];
  }

  get levels(): readonly Level[] {
    return [...this.#levels.values()];
  }

  /** Updates everything; cheap if nothing changed. */
  refresh(now: number): void {
    const flows = this.#options.lastChange(FLOW_SCHEMAS);
    const levels = this.#options.lastChange(PRIORITY_LEVELS);
    if (flows !== this.#seen.flows || levels !== this.#seen.levels) {
      this.#seen = { flows, levels };
      this.#rebuild(now);
    }
    this.#lend(now);
  }

  /** The first flow that matches; users in neither system group use the catch-all flow. */
  flowOf(user: User, attributes: AccessAttributes): Flow {
    const found = this.#flowsOf(user).find(({ test }) => test(attributes));
    const flow = found?.flow ?? this.#flows.find(isCatchAll);
    invariant(flow !== undefined, 'the catch-all flow always exists');
    return flow;
  }

  /** Cached per user, because most flows do not match most users. */
  #flowsOf(user: User): readonly UserFlow[] {
    const key = user.groups === undefined ? user.user : `${user.user}\0${user.groups.join('\0')}`;
    const cached = this.#byUser.get(key);
    if (cached !== undefined) return cached;
    const found: UserFlow[] = [];
    for (const flow of this.#flows) {
      const test = flow.testFor(user);
      if (test !== undefined) found.push({ flow, test });
    }
    if (key.length > MAX_USER_LENGTH) return found;
    if (this.#byUser.size >= MAX_USERS) this.#byUser.clear();
    this.#byUser.set(key, found);
    return found;
  }

  /** Keeps reallocating seats while a request waits. */
  scheduleLending(now: number): void {
    if (this.#lending !== undefined) return;
    const { clock } = this.#options;
    const dueMs = Math.max(0, this.#allocatedMs + LENDING_PERIOD_MS - now);
    const run = () => {
      this.#lending = undefined;
      this.refresh(clock.now());
      if (this.levels.some(({ queues }) => queues.waiting > 0)) this.scheduleLending(clock.now());
    };
    this.#lending = clock.after(dueMs, run, { background: true });
  }

  /** Called when a request of the level has finished. */
  onRelease(level: Level): void {
    // The seats of a removed level go to the others.
    if (level.isQuiescing && level.queues.isIdle) this.#seen = { flows: -1, levels: -1 };
  }

  #rebuild(now: number): void {
    const { objects, clock } = this.#options;
    const levels = new Map<string, Level>();
    const add = (source: LevelSource) => {
      const { name } = source.metadata;
      const level = this.#levels.get(name) ?? new Level(name, clock, now);
      level.update(source);
      levels.set(name, level);
    };
    for (const object of objects.list(PRIORITY_LEVELS)) ifReadable(() => add(object as unknown as LevelSource));
    // Flows are matched against existing levels only, not against levels that are quiescing.
    const usable = this.#usableFlows(levels);
    for (const level of this.#levels.values()) {
      if (levels.has(level.name)) continue;
      if (mandatoryLevel(level.name) === undefined) {
        if (level.queues.isIdle) continue;
        level.isQuiescing = true;
      }
      levels.set(level.name, level);
    }
    for (const name of [EXEMPT, CATCH_ALL]) {
      const spec = mandatoryLevel(name);
      if (spec !== undefined && !levels.has(name)) add({ metadata: { name, uid: '' }, spec });
    }
    this.#levels = levels;
    if (this.#counts.size > MAX_COUNTS) this.#dropUnusedCounts();
    this.#flows = usable.map((flow) => this.#flowFrom(flow));
    this.#byUser.clear();
    const sumOfShares = this.levels.reduce((sum, { shares }) => sum + shares.nominalConcurrencyShares, 0);
    for (const level of this.levels) level.setBounds(this.#totalSeats, sumOfShares);
    for (const level of this.levels) level.demand.endPeriod(now);
    this.#allocateSeats(now);
  }

  /** The flows whose level exists, by precedence; missing mandatory flows are added. */
  #usableFlows(levels: ReadonlyMap<string, Level>): CompiledFlow[] {
    const objects = this.#options.objects.list(FLOW_SCHEMAS) as unknown as readonly FlowSource[];
    const usable = objects
      .flatMap((source) => ifReadable(() => ({ ...source, flow: compileFlow(source) })))
      .sort(byPrecedence)
      .flatMap(({ flow }) => (levels.has(flow.level) ? flow : []));
    const mandatoryFlows = (name: string): CompiledFlow[] => {
      const spec = mandatoryFlow(name);
      const isThere = usable.some((flow) => flow.name === name);
      return spec === undefined || isThere ? [] : [compileFlow({ metadata: { name, uid: '' }, spec })];
    };
    return [...mandatoryFlows(EXEMPT), ...usable, ...mandatoryFlows(CATCH_ALL)];
  }

  #flowFrom(compiled: CompiledFlow): Flow {
    const place = this.#levels.get(compiled.level);
    invariant(place !== undefined, 'a usable flow has a level');
    const { flowSchema, priorityLevel } = this.#headerNames;
    const headers = Object.freeze({ [flowSchema]: compiled.uid, [priorityLevel]: place.uid });
    return { ...compiled, priorityLevel: place, counts: this.#countsOf(place.name, compiled.name), headers };
  }

  #countsOf(level: string, flow: string): Counts {
    return getOrInsertComputed(this.#counts, `${level}\0${flow}`, () => new Counts(level, flow));
  }

  /** Drops counters of flows without requests; flows that are still used restart at zero. */
  #dropUnusedCounts(): void {
    for (const [key, { inQueue, executingSeats }] of this.#counts) {
      if (inQueue === 0 && executingSeats === 0) this.#counts.delete(key);
    }
  }

  /**
   * Ends the elapsed periods. Nothing changes in periods without requests, so they can all be processed on the next one.
   */
  #lend(now: number): void {
    if (now < this.#allocatedMs) this.#allocatedMs = now;
    const periods = Math.floor((now - this.#allocatedMs) / LENDING_PERIOD_MS);
    if (periods === 0) return;
    for (let period = Math.max(1, periods - REMEMBERED_PERIODS); period <= periods; period++) {
      const end = this.#allocatedMs + period * LENDING_PERIOD_MS;
      for (const { demand } of this.#levels.values()) demand.endPeriod(end);
    }
    this.#allocatedMs += periods * LENDING_PERIOD_MS;
    this.#allocateSeats(now);
  }

  #allocateSeats(now: number): void {
    const { levels } = this;
    const seats = allocateSeats(levels.map(({ claim }) => claim));
    for (const [index, level] of levels.entries()) level.setCurrent(seats[index] ?? 0, now);
  }
}

function isCatchAll({ name }: CompiledFlow): boolean {
  return name === CATCH_ALL;
}

/** `X-Kubernetes-…` header capitalization. */
function headerCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}

/**
 * Nothing for an object that the server would not accept, such as one with `rules: [null]`, which a restored state may
 * contain: it matches no request, and must not fail all of them.
 */
function ifReadable<Value>(read: () => Value): Value[] {
  return recoverFrom<TypeError, Value[]>(
    TypeError,
    () => [read()],
    () => [],
  );
}
