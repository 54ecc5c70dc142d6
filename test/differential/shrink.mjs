/** Makes a scenario smaller while its difference stays in the same class. */

const MAX_RUNS = 120;

/** `classAfter(scenario)` runs a scenario and resolves to the class of its first difference, or undefined. */
export async function shrink(scenario, index, wanted, classAfter) {
  let runs = 0;
  let best = { ...scenario, steps: scenario.steps.slice(0, index + 1) };
  const attempt = async (candidate) => {
    if (runs >= MAX_RUNS) return false;
    runs++;
    if ((await classAfter(candidate)) !== wanted) return false;
    best = candidate;
    return true;
  };
  for (let at = best.steps.length - 2; at >= 0; at--) {
    await attempt({ ...best, steps: best.steps.filter((_, other) => other !== at) });
  }
  for (let at = 0; at < best.steps.length; at++) {
    const tried = new Set();
    for (;;) {
      const step = best.steps[at];
      const smaller = smallerSteps(step).find(({ id }) => !tried.has(id));
      if (smaller === undefined || runs >= MAX_RUNS) break;
      tried.add(smaller.id);
      await attempt({ ...best, steps: best.steps.map((each, other) => (other === at ? smaller.step : each)) });
    }
  }
  return best;
}

/** The step without one query parameter, or without one key or item of its body; large parts first. */
function smallerSteps(step) {
  const queries = Object.keys(step.query ?? {}).map((name) => {
    const { [name]: _, ...query } = step.query;
    return { id: `?${name}`, step: { ...step, query } };
  });
  const bodies = removals(step.body, '').sort((left, right) => right.size - left.size);
  return [...queries, ...bodies.map(({ id, body }) => ({ id, step: { ...step, body } }))];
}

const KEPT = ['.apiVersion', '.kind', '.metadata', '.metadata.name'];

function removals(value, path) {
  if (value === null || typeof value !== 'object') return [];
  const rebuild = Array.isArray(value) ? (entries) => entries.map(([, inner]) => inner) : Object.fromEntries;
  const entries = Object.entries(value);
  return entries.flatMap(([key, inner]) => {
    const id = `${path}.${key}`;
    const whole = {
      id: `${id}=${JSON.stringify(inner)}`,
      size: JSON.stringify(inner)?.length ?? 0,
      body: rebuild(entries.filter(([other]) => other !== key)),
    };
    const nested = removals(inner, id).map((each) => ({
      ...each,
      body: rebuild(entries.map(([other, kept]) => [other, other === key ? each.body : kept])),
    }));
    return KEPT.includes(id) ? nested : [whole, ...nested];
  });
}
