/** The planned form of a node. Consumers distinguish constants, attributes and other steps. */

import { CelOptional, type CelValue } from '../values.js';
import { type Attribute, ValueAttribute } from './attribute.js';
import { COST_OF_VARIABLE } from './call-cost.js';
import type { Step } from './frame.js';

export type Planned =
  | { readonly kind: 'constant'; readonly value: CelValue }
  | {
      readonly kind: 'attribute';
      readonly attribute: Attribute;
      /** Whether this is a `has()` test. */
      readonly presence: boolean;
    }
  | { readonly kind: 'step'; readonly step: Step };

export function constant(value: CelValue): Planned {
  return { kind: 'constant', value };
}

export function step(run: Step): Planned {
  return { kind: 'step', step: run };
}

export function attribute(of: Attribute, presence = false): Planned {
  return { kind: 'attribute', attribute: of, presence };
}

/** Returns an attribute to which qualifiers can be added. */
export function attributeOf(planned: Planned): Attribute {
  return planned.kind === 'attribute' ? planned.attribute : new ValueAttribute(stepOf(planned));
}

/** Returns a closure that evaluates the node and charges its cost. */
export function stepOf(planned: Planned): Step {
  switch (planned.kind) {
    case 'constant': {
      const { value } = planned;
      return () => value;
    }
    case 'step':
      return planned.step;
    case 'attribute':
      return attributeStep(planned.attribute, planned.presence);
  }
}

function attributeStep(of: Attribute, presence: boolean): Step {
  const resolve = of.resolve();
  // Presence tests cost only their qualifiers.
  const cost = (of.free ? 0 : COST_OF_VARIABLE) - (presence ? COST_OF_VARIABLE : 0);
  if (presence) {
    return (frame) => {
      const result = resolve(frame);
      frame.charge(cost);
      return result instanceof CelOptional ? result.value !== undefined : result;
    };
  }
  if (cost === 0) return resolve;
  return (frame) => {
    const result = resolve(frame);
    frame.charge(cost);
    return result;
  };
}
