import assert from 'node:assert/strict';
import { defineKind, toCRD } from 'orchplane';
import * as z from 'zod';

const Range = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Range',
  scope: 'Cluster',
  body: {
    spec: z.object({
      even: z.int().refine((number) => number % 2 === 0),
      twice: z.string().regex(/^(.)\1$/),
      value: z.union([z.string(), z.boolean()]),
    }),
  },
});
const lost: string[] = [];
toCRD(Range, { onLoss: ({ path, what }) => lost.push(`${path}: ${what}`) });
assert.deepEqual(lost, [
  'spec.even: a refinement',
  'spec.twice: the pattern /^(.)\\1$/ (refers back to a group)',
  'spec.value: which of string, boolean it is',
]);

// What a server would refuse is refused here, in its words.
const Odd = defineKind({
  apiVersion: 'example/v1',
  kind: 'Odd',
  scope: 'Cluster',
  body: { spec: z.object({ name: z.string().min(3).default('x') }) },
});
assert.throws(() => toCRD(Odd), /spec\.group: Invalid value: "example": should be a domain with at least one dot/);
assert.throws(() => toCRD(Odd), /properties\[name\]\.default: Invalid value: "x"/);
export {};
