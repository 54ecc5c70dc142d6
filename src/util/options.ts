/**
 * Options that nobody knows are mistakes of their caller: a misspelt one would be ignored, and what it was to forbid
 * allowed. TypeScript tells; a program in JavaScript learns it here.
 */

/** Throws TypeError for a name that is not known. `where` is what the options were given to: `serve`. */
export function refuseUnknownOptions(where: string, options: object, known: readonly string[]): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    throw new TypeError(`orchplane: ${where} has no option "${name}"; it has ${known.join(', ')}`);
  }
}
