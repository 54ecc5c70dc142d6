/**
 * Read, change, write: the loop that everybody writes around optimistic concurrency, with the change as a recipe on an
 * immer draft.
 */
import { Immer } from 'immer';
import { StatusError } from '../meta/errors.js';
import { isRecord } from '../util/json.js';

/** Changes the draft in place. Must be synchronous; what it returns is ignored. Runs again after a lost race. */
export type Recipe<Object> = (draft: Object) => void;

/** The two requests of an edit. `write` must fail with Conflict when the object has changed since `read`. */
export interface EditSteps<Stored> {
  read(): Promise<Stored>;
  write(next: Stored): Promise<Stored>;
}

export const EDIT_ATTEMPTS = 10;

// Of our own, so that an application's settings of immer do not reach in here. Nothing is frozen: the result goes into
// a request and is dropped.
const immer = new Immer({ autoFreeze: false });

/**
 * Applies the recipe to the live object until a write succeeds, at most `attempts` times; then the last Conflict is
 * thrown. A recipe that changes nothing writes nothing and gives the live object.
 */
export async function edit<Stored, Object>(
  steps: EditSteps<Stored>,
  recipe: Recipe<Object>,
  attempts: number = EDIT_ATTEMPTS,
): Promise<Stored> {
  for (let attempt = 1; ; attempt++) {
    const live = await steps.read();
    let returned: unknown;
    const next = immer.produce(live, (draft) => {
      returned = recipe(draft as Object);
      if (returned instanceof Promise) throw new TypeError('orchplane: the recipe of an edit must be synchronous');
    });
    if (next === live) {
      // An assignment as the body of an arrow function returns its value; a whole object with an untouched draft is a
      // misunderstanding.
      if (isRecord(returned))
        throw new TypeError('orchplane: the recipe of an edit changes its draft; it returned an object instead');
      return live;
    }
    try {
      return await steps.write(next);
    } catch (error) {
      if (attempt >= attempts || !StatusError.is(error, 'Conflict')) throw error;
    }
  }
}
