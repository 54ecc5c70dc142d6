/** The set of all controllers, and how some are left out. */
import { type StandardController, standardControllers } from 'orchplane/controllers';
import { describe, expect, test } from 'vitest';

const namesWithout = (...without: StandardController[]) => standardControllers({ without }).map(({ name }) => name);

describe('the standard controllers', () => {
  test('are left out by the very names that they give themselves', () => {
    const names = namesWithout() as StandardController[];
    expect(names).toHaveLength(35);
    for (const name of names) expect(namesWithout(name)).toEqual(names.filter((other) => other !== name));
    expect(namesWithout(...names)).toEqual([]);
  });

  test('refuse a name that none of them has, and say which there are', () => {
    const unknown = ['endpoint-controller'] as unknown as StandardController[];
    expect(() => standardControllers({ without: unknown })).toThrow(
      /^orchplane: no controller is named endpoint-controller; there are endpoints-controller, endpointslice-controller, /,
    );
    const inherited = ['toString'] as unknown as StandardController[];
    expect(() => standardControllers({ without: inherited })).toThrow('no controller is named toString');
  });
});
