/**
 * The objects of a cluster, ready for use: flows in the order in which they are asked, and levels with their seats. It is
 * brought up to date by whoever needs it, when the objects have changed; and every ten seconds, seats that one level does
 * not use are lent to others.
 */

import { mandatoryFlow } from '../kinds/flowcontrol/v1/flow-schema/bootstrap.js';
import { byPrecedence } from '../kinds/flowcontrol/v1/precedence.js';
import { mandatoryLevel } from '../kinds/flowcontrol/v1/priority-level-bootstrap.js';
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from '../kinds/flowcontrol/v1/resources.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { User } from '../protocol/request.js';
import type { Undo } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import { type CompiledFlow, compileFlow, type FlowSource, type Test } from './classify.js';
import { Counts } from './counts.js';
import { Level, type LevelSource } from './level.js';
import { shareOut } from './limits.js';
import type { FlowControlOptions } from './types.js';

/** A FlowSchema with everything that a request matched by it needs. */
export interface Flow extends CompiledFlow {
  readonly place: Level;
  readonly counts: Counts;
  /** Both uids, for the answer. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A flow that a user's requests may belong to, and which of them do. */
interface FlowOfUser {
  readonly flow: Flow;
  readonly test: Test<AccessAttributes>;
}

const DEFAULT_SEATS = 600;
const LENDING_PERIOD_MS = 10_000;
/** After so many idle periods nothing is left of past demand (0.977 to that power). */
const REMEMBERED_PERIODS = 1000;

/** Schemas come and go; counts of more than this are not kept. */
const MOST_COUNTS = 1024;
/** Of whom it is known which flows are for them. */
const MOST_USERS = 256;

const EXEMPT = 'exempt';
const CATCH_ALL = 'catch-all';

export class Configuration {
  readonly #options: FlowControlOptions;
  readonly #totalSeats: number;
  readonly #headerNames: { readonly flowSchema: string; readonly priorityLevel: string };
  readonly #counts = new Map<string, Counts>();
  #levels = new Map<string, Level>();
  #flows: readonly Flow[] = [];
  readonly #byUser = new Map<string, readonly FlowOfUser[]>();
  #seen = { flows: -1, levels: -1 };
  /** When seats were last shared out by demand; whole periods after the beginning. */
  #sharedOutMs: number;
  #lending: Undo | undefined;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#totalSeats = options.totalSeats ?? DEFAULT_SEATS;
    this.#sharedOutMs = options.clock.now();
    const header = (what: string) => headerCase(options.dialect.extension(`pf-${what}-uid`));
    this.#headerNames = { flowSchema: header('flowschema'), priorityLevel: header('prioritylevel') };
  }

  get counts(): readonly Counts[] {
    return [...this.#counts.values()];
  }

  get levels(): readonly Level[] {
    return [...this.#levels.values()];
  }

  /** Brings everything to the present; cheap when nothing has changed. */
  refresh(now: number): void {
    const flows = this.#options.changes(FLOW_SCHEMAS);
    const levels = this.#options.changes(PRIORITY_LEVELS);
    if (flows !== this.#seen.flows || levels !== this.#seen.levels) {
      this.#seen = { flows, levels };
      this.#digest(now);
    }
    this.#lend(now);
  }

  /** The first flow that matches. Whoever is neither known nor a stranger goes with the rest. */
  flowOf(user: User, attributes: AccessAttributes): Flow {
    const found = this.#flowsOf(user).find(({ test }) => test(attributes));
    const flow = found?.flow ?? this.#flows.find(isCatchAll);
    invariant(flow !== undefined, 'there is always a flow for the rest');
    return flow;
  }

  /** Most flows are not for most users: those that are get looked up once for each. */
  #flowsOf(user: User): readonly FlowOfUser[] {
    const key = user.groups === undefined ? user.user : `${user.user}\0${user.groups.join('\0')}`;
    const known = this.#byUser.get(key);
    if (known !== undefined) return known;
    const found: FlowOfUser[] = [];
    for (const flow of this.#flows) {
      const test = flow.testFor(user);
      if (test !== undefined) found.push({ flow, test });
    }
    if (this.#byUser.size >= MOST_USERS) this.#byUser.clear();
    this.#byUser.set(key, found);
    return found;
  }

  /** A request waits: it must not miss seats that are lent meanwhile. */
  keepLending(now: number): void {
    if (this.#lending !== undefined) return;
    const { clock } = this.#options;
    const dueMs = Math.max(0, this.#sharedOutMs + LENDING_PERIOD_MS - now);
    const run = () => {
      this.#lending = undefined;
      this.refresh(clock.now());
      if (this.levels.some(({ queues }) => queues.waiting > 0)) this.keepLending(clock.now());
    };
    this.#lending = clock.after(dueMs, run, { background: true });
  }

  /** A request of the level is over. */
  released(level: Level): void {
    // The seats of a level whose object is gone go to the others.
    if (level.isLeaving && level.queues.isIdle) this.#seen = { flows: -1, levels: -1 };
  }

  #digest(now: number): void {
    const { objects, clock } = this.#options;
    const levels = new Map<string, Level>();
    const add = (source: LevelSource) => {
      const { name } = source.metadata;
      const level = this.#levels.get(name) ?? new Level(name, clock, now);
      level.describe(source);
      levels.set(name, level);
    };
    for (const object of objects.list(PRIORITY_LEVELS)) add(object as unknown as LevelSource);
    // Flows are judged by what exists: they are not sent to a level that is only there for those who are on it already.
    const sources = this.#usableFlows(levels);
    for (const level of this.#levels.values()) {
      if (levels.has(level.name)) continue;
      if (mandatoryLevel(level.name) === undefined) {
        if (level.queues.isIdle) continue;
        level.isLeaving = true;
      }
      levels.set(level.name, level);
    }
    for (const name of [EXEMPT, CATCH_ALL]) {
      const spec = mandatoryLevel(name);
      if (spec !== undefined && !levels.has(name)) add({ metadata: { name, uid: '' }, spec });
    }
    this.#levels = levels;
    if (this.#counts.size > MOST_COUNTS) this.#forgetCounts();
    this.#flows = sources.map((source) => this.#flowFrom(source));
    this.#byUser.clear();
    const sumOfShares = this.levels.reduce((sum, { shares }) => sum + shares.nominalConcurrencyShares, 0);
    for (const level of this.levels) level.setBounds(this.#totalSeats, sumOfShares);
    for (const level of this.levels) level.demand.endPeriod(now);
    this.#shareOut(now);
  }

  /** Those whose level exists, in order; the two that must be there are imagined where they are not. */
  #usableFlows(levels: ReadonlyMap<string, Level>): FlowSource[] {
    const objects = this.#options.objects.list(FLOW_SCHEMAS) as unknown as readonly FlowSource[];
    const usable = objects.filter(({ spec }) => levels.has(spec.priorityLevelConfiguration.name)).sort(byPrecedence);
    const imagine = (name: string): FlowSource[] => {
      const spec = mandatoryFlow(name);
      const isThere = usable.some(({ metadata }) => metadata.name === name);
      return spec === undefined || isThere ? [] : [{ metadata: { name, uid: '' }, spec }];
    };
    return [...imagine(EXEMPT), ...usable, ...imagine(CATCH_ALL)];
  }

  #flowFrom(source: FlowSource): Flow {
    const compiled = compileFlow(source);
    const place = this.#levels.get(compiled.level);
    invariant(place !== undefined, 'a flow that is used has a level');
    const { flowSchema, priorityLevel } = this.#headerNames;
    const headers = Object.freeze({ [flowSchema]: compiled.uid, [priorityLevel]: place.uid });
    return { ...compiled, place, counts: this.#countsOf(place.name, compiled.name), headers };
  }

  #countsOf(level: string, flow: string): Counts {
    const key = `${level}\0${flow}`;
    let counts = this.#counts.get(key);
    if (counts === undefined) {
      counts = new Counts(level, flow);
      this.#counts.set(key, counts);
    }
    return counts;
  }

  /** Of flows that nobody is in; those that are still in use begin again at zero. */
  #forgetCounts(): void {
    for (const [key, { inQueue, executingSeats }] of this.#counts) {
      if (inQueue === 0 && executingSeats === 0) this.#counts.delete(key);
    }
  }

  /**
   * Ends the periods that have passed. In those in which nobody came nothing has changed either, so that it is the same
   * to look at them all when somebody does.
   */
  #lend(now: number): void {
    if (now < this.#sharedOutMs) this.#sharedOutMs = now;
    const periods = Math.floor((now - this.#sharedOutMs) / LENDING_PERIOD_MS);
    if (periods === 0) return;
    for (let period = Math.max(1, periods - REMEMBERED_PERIODS); period <= periods; period++) {
      const end = this.#sharedOutMs + period * LENDING_PERIOD_MS;
      for (const { demand } of this.#levels.values()) demand.endPeriod(end);
    }
    this.#sharedOutMs += periods * LENDING_PERIOD_MS;
    this.#shareOut(now);
  }

  #shareOut(now: number): void {
    const { levels } = this;
    const seats = shareOut(levels.map(({ claim }) => claim));
    for (const [index, level] of levels.entries()) level.setCurrent(seats[index] ?? 0, now);
  }
}

function isCatchAll({ name }: CompiledFlow): boolean {
  return name === CATCH_ALL;
}

/** `x-kubernetes-…` as servers spell it. */
function headerCase(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
