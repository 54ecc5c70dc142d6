/**
 * One walk of the validator over a value: where it stands, and what it has found. Places are named only when something
 * is wrong there, which is seldom.
 */
import type { Finding } from './finding.js';
import type { Twin } from './twin.js';

/**
 * Judges a value. Findings go to the run; the result says how many rules the value kept, which decides whose findings
 * are shown when none of several schemas fits. `twin` is there while unchanged parts of an update are let through.
 */
export type Check = (value: unknown, run: Run, twin: Twin | undefined) => number;

export class Run {
  readonly findings: Finding[] = [];
  readonly #path: (string | number)[] = [];

  /** Goes to a field that the schema names, or to an item. */
  enter(step: string | number): void {
    this.#path.push(step);
  }

  /** Goes to a field that only a schema of further fields speaks of; at the top its name keeps a dot in front. */
  enterAdditional(key: string): void {
    this.#path.push(this.#path.length === 0 ? `.${key}` : key);
  }

  leave(): void {
    this.#path.pop();
  }

  /** `spec.list[0].name`; empty at the top. */
  get name(): string {
    let name = '';
    for (const step of this.#path) {
      if (typeof step === 'number') name += `[${step}]`;
      else name = name === '' ? step : `${name}.${step}`;
    }
    return name;
  }

  get isAtTop(): boolean {
    return this.#path.length === 0;
  }

  /** The text of a rule that is broken here. */
  worded(text: string, name = this.name): string {
    return `${name} in body ${text}`;
  }

  add(finding: Finding): void {
    this.findings.push(finding);
  }

  /** `about`: what the text speaks of, where that is not the place itself. */
  refuse(value: unknown, text: string, about = this.name): void {
    this.add({ rule: 'other', name: this.name, value, text: this.worded(text, about) });
  }

  /** Takes back what was found since there were `count` findings. */
  takeSince(count: number): Finding[] {
    return this.findings.splice(count);
  }
}

/** Judges a part of a value, and forgets what is wrong with it when it was so before. */
export function checkTwin(check: Check, value: unknown, run: Run, twin: Twin | undefined): number {
  const before = run.findings.length;
  const kept = check(value, run, twin);
  if (twin !== undefined && run.findings.length > before && twin.isUnchanged) run.takeSince(before);
  return kept;
}
