/**
 * Which chains of plugins make it necessary to look at a draft once more: what our own plugins do to one is known.
 */
import type { AdmissionPlugin } from '../admission/types.js';
import type { ServerContext } from './context.js';

/** By chain: those whose changes are looked at, at all times or at some. */
const changing = new WeakMap<readonly AdmissionPlugin[], readonly AdmissionPlugin[]>();

/** Whether a plugin may change the draft that it is shown in ways that nobody here knows. */
export function needsSecondLook({ awake, view }: Pick<ServerContext, 'awake' | 'view'>): boolean {
  const admission = awake();
  let plugins = changing.get(admission);
  if (plugins === undefined) {
    plugins = admission.filter(
      ({ mutate, changesNothing, isBuiltIn }) => mutate !== undefined && changesNothing !== true && isBuiltIn !== true,
    );
    changing.set(admission, plugins);
  }
  for (const { changesNothing } of plugins) {
    if (typeof changesNothing !== 'function' || !changesNothing(view)) return true;
  }
  return false;
}
