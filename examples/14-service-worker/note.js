/** The kind that page and worker share. It uses `orchplane/core`, so neither bundle contains the built-in kinds. */
import { defineKind } from 'orchplane/core';
import * as z from 'zod';

export const Note = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Note',
  scope: 'Namespaced',
  body: { spec: z.object({ text: z.string().min(1).max(200), done: z.boolean().default(false) }) },
});
