/** Which names of an expression are variables of comprehensions around it, and where their values are kept. */

import type { Result } from '../failure.js';
import type { Frame } from './frame.js';

export type Local = (frame: Frame) => Result;

export class Scope {
  readonly #outer: Scope | undefined;
  readonly #locals: ReadonlyMap<string, Local>;

  constructor(locals: ReadonlyMap<string, Local> = new Map(), outer?: Scope) {
    this.#locals = locals;
    this.#outer = outer;
  }

  find(name: string): Local | undefined {
    return this.#locals.get(name) ?? this.#outer?.find(name);
  }

  with(locals: ReadonlyMap<string, Local>): Scope {
    return new Scope(locals, this);
  }
}
