import { type Client, defineAdmission } from 'orchplane';
import { Pod } from 'orchplane/kinds';
import { defaultAdmission as a } from 'orchplane/admission';
import { defaultAdmission as b } from 'orchplane';
export const same: readonly [typeof a, typeof b, Client | undefined] = [a, b, undefined];
export const owners = defineAdmission({
  name: 'Owners', on: ['CREATE', 'DELETE'], kind: Pod,
  mutate: (draft, request) => { draft.metadata.annotations = { ...draft.metadata.annotations, o: request.user.user }; },
  validate: (request) => (request.operation === 'DELETE' && request.oldObject.metadata.labels?.['keep'] ? 'kept' : undefined),
});
