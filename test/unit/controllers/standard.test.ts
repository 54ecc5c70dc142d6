/** The set of all controllers, and the option that excludes some. */
import { type StandardController, standardControllers } from 'orchplane/controllers';
import { describe, expect, test } from 'vitest';

const namesWithout = (...without: StandardController[]) => standardControllers({ without }).map(({ name }) => name);

describe('standardControllers', () => {
  test('excludes controllers by their names', () => {
    const names = namesWithout() as StandardController[];
    expect(names).toHaveLength(40);
    for (const name of names) expect(namesWithout(name)).toEqual(names.filter((other) => other !== name));
    expect(namesWithout(...names)).toEqual([]);
  });

  test('rejects an unknown controller name and lists the known ones', () => {
    const unknown = ['endpoint-controller'] as unknown as StandardController[];
    expect(() => standardControllers({ without: unknown })).toThrow(
      /^orchplane: no controller is named endpoint-controller; there are endpoints-controller, endpointslice-controller, /,
    );
    const inherited = ['toString'] as unknown as StandardController[];
    expect(() => standardControllers({ without: inherited })).toThrow('no controller is named toString');
  });
});
