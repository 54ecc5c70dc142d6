/**
 * Which chains of plugins make it necessary to look at a draft once more: what our own plugins do to one is known.
 */
import type { AdmissionPlugin } from '../admission/types.js';
import type { ServerContext } from './context.js';

/** By chain: those whose changes are looked at, at all times or at some. */
const changing = new WeakMap<readonly AdmissionPlugin[], readonly AdmissionPlugin[]>();

/** Whether a plugin may change the draft that it is shown in ways that nobody here knows. */
export function needsRedecoding({ admission, view }: Pick<ServerContext, 'admission' | 'view'>): boolean {
  const awake = admission.awake();
  let plugins = changing.get(awake);
  if (plugins === undefined) {
    plugins = awake.filter(
      ({ mutate, changesNothing, isBuiltIn }) => mutate !== undefined && changesNothing !== true && isBuiltIn !== true,
    );
    changing.set(awake, plugins);
  }
  for (const { changesNothing } of plugins) {
    if (typeof changesNothing !== 'function' || !changesNothing(view)) return true;
  }
  return false;
}
