/**
 * Managers by colour: the same name has the same colour everywhere in the page.
 */
const COLOURS = 8;
/** Given out in order of appearance, so that the first few never look alike. */
const given = new Map<string, number>();

/** A number for the variables `--m0` … of the style. */
export function managerColour(name: string): number {
  const known = given.get(name);
  if (known !== undefined) return known;
  const colour = given.size % COLOURS;
  given.set(name, colour);
  return colour;
}

export function ManagerChip({ name, detail }: { readonly name: string; readonly detail?: string }) {
  return (
    <span class="chip manager" style={{ '--m': `var(--m${managerColour(name)})` }} title={detail}>
      {name}
    </span>
  );
}
