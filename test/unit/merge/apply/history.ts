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
  /** `claim`: somebody writes the set of an applier into managedFields. */
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

/** Every object has a kind, which nobody owns: pruning never leaves nothing at all. */
const document = (text: string): unknown => deepFreeze({ kind: 'K', ...JSON.parse(text) });

class Played {
  readonly #versions: Versions;
  readonly #schema: ObjectNode;
  #live = document('{}');
  #managers: ReadonlyMap<string, Manager> = new Map();

  constructor({ schema, reset }: History) {
    this.#schema = schema;
    const untouchable = reset === undefined ? EMPTY_SET : readFieldsV1(JSON.parse(reset));
    this.#versions = {
      filter: (fields) => recursiveDifference(fields, untouchable),
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

/** Plays a history and compares each step; what is refused leaves everything as it was. */
export function playAll(history: History): void {
  const played = new Played(history);
  for (const step of history.steps) {
    const was = played.state;
    if (step.error !== undefined) {
      expect(() => played.play(step)).toThrow(expect.objectContaining({ message: step.error }));
      expect(played.state).toEqual(was);
      continue;
    }
    played.play(step);
    expect(played.state).toEqual({ object: document(step.object ?? ''), managers: step.managers });
  }
}
