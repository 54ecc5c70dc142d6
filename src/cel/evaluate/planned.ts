/** A planned part of an expression, as far as those who use it have to tell parts apart. */

import { CelOptional, type CelValue } from '../values.js';
import { type Attribute, ValueAttribute } from './attribute.js';
import { COST_OF_VARIABLE } from './call-cost.js';
import type { Step } from './frame.js';

export type Planned =
  | { readonly kind: 'constant'; readonly value: CelValue }
  | {
      readonly kind: 'attribute';
      readonly attribute: Attribute /** What `has()` stands for. */;
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

/** The attribute that steps can be added to. */
export function attributeOf(planned: Planned): Attribute {
  return planned.kind === 'attribute' ? planned.attribute : new ValueAttribute(stepOf(planned));
}

/** Runs the part and charges what it costs. */
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
  // Presence tests are free, but for their steps.
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
