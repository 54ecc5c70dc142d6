/**
 * Notes on each FlowSchema whether there is the level that it names. The reference server does so in a loop of its own, a
 * moment after the write; here it is done before the writer is answered, who sees the object without it all the same.
 */
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { Attendant, AttendedServer } from '../../../attendant.js';
import { CONSUMER, danglingCondition } from '../bootstrap.js';
import { FLOW_SCHEMAS, PRIORITY_LEVELS } from '../resources.js';
import type { FlowSchema } from './flow-schema.js';
import type { FlowSchemaCondition } from './schema.js';

export function attendFlowSchemas(server: AttendedServer): Attendant {
  let schemasSeen = -1;
  let levelsSeen = -1;
  return {
    settle() {
      if (server.changes(FLOW_SCHEMAS) === schemasSeen && server.changes(PRIORITY_LEVELS) === levelsSeen) return;
      for (const object of server.objects.list(FLOW_SCHEMAS)) attend(object, server);
      // What was written just now needs no second look.
      schemasSeen = server.changes(FLOW_SCHEMAS);
      levelsSeen = server.changes(PRIORITY_LEVELS);
    },
  };
}

function attend(object: ApiObject, server: AttendedServer): void {
  const { spec, status } = object as unknown as FlowSchema;
  const { name } = spec.priorityLevelConfiguration;
  const exists = server.objects.get({ ...PRIORITY_LEVELS, namespace: '', name }) !== undefined;
  const condition = danglingCondition(name, exists, server.now());
  const present = status.conditions?.find(({ type }) => type === condition.type);
  if (present !== undefined && isSame(present, condition)) return;
  server.writeStatus(object, (draft) => note(draft, condition), CONSUMER);
}

/** Whatever the time of it. */
function isSame(left: FlowSchemaCondition, right: FlowSchemaCondition): boolean {
  return left.status === right.status && left.reason === right.reason && left.message === right.message;
}

/** The only one of its type; others stay as they are. */
function note(draft: DraftObject, condition: FlowSchemaCondition): void {
  const { conditions = [] } = (draft['status'] ?? {}) as { conditions?: readonly FlowSchemaCondition[] };
  draft['status'] = { conditions: [...conditions.filter(({ type }) => type !== condition.type), condition] };
}
