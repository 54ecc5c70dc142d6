/** A Preview is one version of a site that is online for a limited time under its own host name. */
import { defineKind, type ObjectOf, status } from 'orchplane';
import * as z from 'zod';

export const Preview = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Preview',
  scope: 'Namespaced',
  names: { shortNames: ['pv'] },
  body: {
    spec: z.object({
      image: z.string().min(1),
      replicas: z.number().int().min(1).max(10).default(1),
      /** How long it stays online. */
      minutes: z.number().int().min(1).default(60),
    }),
    status: z
      .object({
        phase: z.enum(['Starting', 'Online']),
        host: z.string().optional(),
        readyReplicas: z.number().int(),
        expiresAt: z.string(),
      })
      .optional(),
  },
  subresources: { status },
});

export type Preview = ObjectOf<typeof Preview>;
