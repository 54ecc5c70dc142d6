/** A history of writes to one object, for tables: the managers after each step. */
import { expect } from 'vitest';
import { EMPTY_SET, recursiveDifference } from '../../../../src/merge/apply/field-set.js';
import { type Manager, type ManagerIdentity, managerKey, readFieldsV1 } from '../../../../src/merge/apply/managers.js';
import {
  applyIntent,
  managersAfterUpdate,
  reconcileFieldSets,
  type Versioned,
  type Versions,
} from '../../../../src/merge/apply/ownership.js';
import type { ObjectNode } from '../../../../src/schema/schema-node.js';
import { deepFreeze } from '../../../../src/util/json.js';

interface Step {
  /** `claim` writes the field set of an applier directly into managedFields. */
  readonly verb: 'apply' | 'force' | 'update' | 'claim';
  readonly by: string;
  readonly version?: string;
  readonly document: string;
  readonly error?: string;
  readonly object?: string;
  readonly managers?: Readonly<Record<string, string>>;
}

export interface History {
  readonly name: string;
  readonly schema: ObjectNode;
  readonly reset?: string;
  readonly steps: readonly Step[];
}

/** Adds a kind without an owner, so that pruning never leaves an empty object. */
const document = (text: string): unknown => deepFreeze({ kind: 'K', ...JSON.parse(text) });

class Replay {
  readonly #versions: Versions;
  readonly #schema: ObjectNode;
  #live = document('{}');
  #managers: ReadonlyMap<string, Manager> = new Map();

  constructor({ schema, reset }: History) {
    this.#schema = schema;
    const resetFields = reset === undefined ? EMPTY_SET : readFieldsV1(JSON.parse(reset));
    this.#versions = {
      filter: (fields) => recursiveDifference(fields, resetFields),
      convert: (object, apiVersion) => ({ ...object, apiVersion }),
    };
  }

  play(step: Step): void {
    const apiVersion = step.version ?? 'v1';
    const before: Versioned = { apiVersion, schema: this.#schema, value: this.#live };
    const operation = step.verb === 'update' ? 'Update' : 'Apply';
    const by: ManagerIdentity = { manager: step.by, operation, apiVersion, subresource: '' };
    const managers = reconcileFieldSets(this.#managers, before, this.#versions);
    if (step.verb === 'claim') {
      const fields = readFieldsV1(JSON.parse(step.document));
      this.#managers = new Map(this.#managers).set(managerKey(by), { ...by, fields });
    } else if (step.verb === 'update') {
      const after = { ...before, value: document(step.document) };
      this.#managers = managersAfterUpdate({ before, after, managers, by, now: '' }, this.#versions);
      this.#live = after.value;
    } else {
      const intent = document(step.document);
      const force = step.verb === 'force';
      const applied = applyIntent({ live: before, intent, managers, by, force, now: '' }, this.#versions);
      this.#managers = applied.managers;
      if (applied.object !== undefined) this.#live = deepFreeze(applied.object);
    }
  }

  get state(): Pick<Step, 'managers'> & { readonly object: unknown } {
    const managers: Record<string, string> = {};
    for (const { operation, manager, fields } of this.#managers.values()) {
      managers[`${operation} ${manager}`] = JSON.stringify(fields);
    }
    return { object: this.#live, managers };
  }
}

/** Replays a history and checks the state after each step; a rejected step must not change it. */
export function replayHistory(history: History): void {
  const replay = new Replay(history);
  for (const step of history.steps) {
    const before = replay.state;
    if (step.error !== undefined) {
      expect(() => replay.play(step)).toThrow(expect.objectContaining({ message: step.error }));
      expect(replay.state).toEqual(before);
      continue;
    }
    replay.play(step);
    expect(replay.state).toEqual({ object: document(step.object ?? ''), managers: step.managers });
  }
}
